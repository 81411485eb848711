-- vLLM V1: KV that comes from elsewhere (a connector), at once or while other requests run.
local token_bytes = 131072 -- of llama-3.1-8b

--- A store of all replicas, in chunks of so many tokens.
local function pool(chunk_tokens, params)
  return { policy = require "tiers.vllm_cpu" (params or {}), stores = { { name = "pool", per = "cluster",
    capacity_bytes = 1e12, chunk_tokens = chunk_tokens, read = { "nic" } } } }
end
local nic = { nic = { bytes_per_s = 1e15, per = "replica" } }

--- The memory of the host, behind a bus of so many tokens per second.
local function host(chunk_tokens, tokens_per_s, params)
  return { policy = require "tiers.vllm_cpu" (params or {}), stores = { { name = "cpu", capacity_bytes = 1e12,
    chunk_tokens = chunk_tokens } } }, { pcie = { bytes_per_s = token_bytes * tokens_per_s, per = "replica" } }
end

local function text(...) return { content = { ... } } end

local slow_host, slow_bus = host(16, 64)

return {
  name = "vllm", file = "tests/v1/core/test_scheduler.py", commit = "003df2961dd8830c317a61f9745ccd557da9fa06",
  since = "0.11.0",
  engine = { max_num_seqs = 16, max_num_batched_tokens = 8192 },
  deployment = { kv_blocks = 9999, block_size = 16 },
  rows = {
    { test = "test_kv_connector_basic", case = "external only",
      says = "Of 64 tokens the 32 that are elsewhere are not computed.",
      replicas = { { count = 2 } }, router = require "routers.round_robin" {}, tiers = pool(16), links = nic,
      requests = { { 0, 32, 1, text { 1, 32 } }, { 5, 64, 1, text({ 1, 32 }, { 2, 32 }) } },
      steps = [[
        0@0: A+32
        5@1: B+32 ]], free = { ["end"] = 9999 }, looks_at = 2 },
    { test = "test_kv_connector_basic", case = "local and external",
      says = "Of 128 tokens 64 are in the GPU and 32 elsewhere, so that 32 are computed.",
      replicas = { { count = 2 } }, router = require "routers.round_robin" {}, tiers = pool(16), links = nic,
      requests = { { 0, 64, 1, text { 1, 64 } }, { 5, 96, 1, text { 1, 96 } }, { 10, 128, 1, text { 1, 128 } } },
      steps = [[
        5@1: B+32
        10@0: C+32 ]], cached = { C = 96 }, tier = { hit_tokens = 96 }, free = { ["end"] = 9999 } },
    { test = "test_kv_connector_unable_to_allocate",
      says = "A request for whose blocks there is no room waits, though a part of it could be loaded.",
      deployment = { kv_blocks = 9, block_size = 4 }, tiers = pool(4), links = nic,
      requests = { { 0, 8, 1, text { 1, 8 } }, { 1, 8, 1, text { 2, 8 } }, { 3, 36, 1, text { 3, 36 } },
        { 5, 24, 2, text({ 1, 8 }, { 4, 16 }) }, { 5, 24, 2, text({ 2, 8 }, { 5, 16 }) } },
      steps = [[
        5: D+16
        6: D
        7: E+16
        8: E ]], waiting = { [5.5] = 1 }, free = { ["end"] = 9 } },
    { test = "test_kv_connector_handles_preemption",
      says = "A preempted request finds a part of its tokens in the GPU and the rest elsewhere, and computes one.",
      deployment = { kv_blocks = 6, block_size = 2 }, tiers = pool(2, { outputs = true }),
      links = nic,
      requests = { { 0, 5, 4, text { 1, 5 } }, { 0, 5, 4, text { 2, 5 } } },
      steps = [[
        0: A+5 B+5
        1: A B
        2: A B!
        3: A
        4: B+1 ]] },
    { test = "test_async_load_reservation_prevents_wedge_e2e",
      says = "A load begins only where the whole of its prompt has room, so that two loads do not block each other.",
      deployment = { kv_blocks = 9 }, tiers = slow_host, links = slow_bus,
      requests = { { 0, 64, 1, text { 1, 64 } }, { 3, 64, 1, text { 2, 64 } }, { 6, 144, 1, text { 3, 144 } },
        { 20, 128, 2, text({ 1, 64 }, { 4, 64 }) }, { 20, 80, 2, text({ 2, 64 }, { 5, 16 }) } },
      order = "A B C D E", preemptions = { D = 0, E = 0 }, cached = { D = 64, E = 64 } },
  },
}
