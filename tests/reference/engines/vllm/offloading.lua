-- vLLM V1: the offloading connector keeps chunks of blocks in the memory of the host.
local token_bytes = 131072 -- of llama-3.1-8b

--- Chunks of so many tokens; whether answers are stored, too.
local function offload(chunk_tokens, answers)
  return { kv_transfer_config = ([[{"kv_connector": "OffloadingConnector", "kv_role": "kv_both",
    "kv_connector_extra_config": {"cpu_bytes_to_use": 10000000000, "block_size": %d, "offload_prompt_only": %s}}]])
    :format(chunk_tokens, tostring(not answers)) }
end

local function with(engine, more)
  for key, value in pairs(engine) do more[key] = value end
  return more
end

--- A host that holds so many chunks.
local function small_offload(chunk_tokens, chunks)
  local engine = offload(chunk_tokens)
  engine.kv_transfer_config = engine.kv_transfer_config:gsub("10000000000",
    tostring(chunks * chunk_tokens * token_bytes))
  return engine
end

--- A store of all replicas behind a network of so many tokens per second.
local function pool(chunk_tokens)
  return { policy = require "tiers.vllm_cpu" {}, stores = { { name = "pool", per = "cluster", capacity_bytes = 1e12,
    chunk_tokens = chunk_tokens, read = { "nic" } } } }
end

local function text(...) return { content = { ... } } end

--- A prompt that takes all of the GPU's blocks at that time.
local function flush(at, tokens) return { at, tokens, 1 } end

local of_steps = "tests/v1/kv_connector/unit/offloading_connector/test_scheduler.py"
local of_steps_at = "0105e232b7fa4e1b59ec87531f167c0443a5095d"

return {
  name = "vllm", file = "tests/v1/kv_connector/unit/test_offloading_connector.py",
  commit = "0274e03c85c7cc3ac3b2b22d3418bab7074dcef6", since = "0.12.0",
  engine = { max_num_seqs = 16, max_num_batched_tokens = 8192 },
  deployment = { kv_blocks = 20, block_size = 4 },
  rows = {
    { test = "test_offloading_connector", case = "a prompt of one chunk",
      says = "The whole of a prompt is loaded, and its last token computed again.", engine = offload(12),
      requests = { { 0, 12, 1, text { 1, 12 } }, flush(3, 80), { 6, 12, 1, text { 1, 12 } } },
      steps = "6: C+1", tier = { loaded_bytes = 12 * token_bytes } },
    { test = "test_offloading_connector", case = "the first of two chunks",
      says = "A chunk is loaded into three blocks, and what is behind it is computed.", engine = offload(12),
      requests = { { 0, 12, 1, text { 1, 12 } }, flush(3, 80), { 6, 24, 1, text({ 1, 12 }, { 2, 12 }) } },
      free = { [6.5] = 14 }, steps = "6: C+12", tier = { loads = 1, loaded_bytes = 12 * token_bytes } },
    { test = "test_offloading_connector", case = "a chunk in the middle",
      says = "Behind blocks of the GPU the next chunk is loaded.", engine = offload(12),
      requests = { { 0, 24, 1, text { 1, 24 } }, flush(3, 80), { 6, 12, 1, text({ 1, 11 }, { 2, 1 }) },
        { 9, 36, 1, text({ 1, 24 }, { 3, 12 }) } },
      steps = [[
        6: C+12
        9: D+12 ]], tier = { loads = 1 } },
    { test = "test_offloading_connector", case = "a part of a chunk in the GPU",
      says = "What is left of a prompt is shorter than a chunk, so nothing is loaded.", engine = offload(12),
      requests = { { 0, 12, 1, text { 1, 12 } }, flush(3, 80), { 6, 5, 1, text({ 1, 4 }, { 2, 1 }) },
        { 9, 13, 1, text({ 1, 12 }, { 0, 1 }) } },
      steps = "9: D+9", tier = { loads = 0 } },
    { test = "test_offloading_connector", case = "nothing stored twice",
      says = "A prompt that the store has is not stored again.", engine = offload(12),
      requests = { { 0, 24, 1, text { 1, 24 } }, flush(3, 72), { 6, 24, 1, text { 1, 24 } } },
      tier = { stored_bytes = 96 * token_bytes } },
    { test = "test_request_preemption", says = "A preempted request loads its chunks, those of its answer, too.",
      engine = offload(12, true), deployment = { kv_blocks = 16 },
      requests = { { 0, 8, 40, text { 9, 8 } }, { 0.5, 24, 17, text { 1, 24 } } },
      steps = "40: B+4", preemptions = { A = 0, B = 1 } },
    { test = "test_request_preemption", case = "blocks that are written",
      says = "A request that is preempted while its blocks are written gives them away in the same step.",
      since = "0.14.0", engine = { kv_offloading_size = 10 }, deployment = { kv_blocks = 9, block_size = 16 },
      requests = { { 0, 128, 4 }, { 0, 16, 4 } },
      steps = [[
        0: A+128 B+16
        1: A B! ]], preemptions = { A = 0 } },
    { test = "test_offloading_connector", case = "answers by default", before = "0.14.0",
      says = "Where nothing is said answers are stored, too.",
      engine = { kv_transfer_config = [[{"kv_connector": "OffloadingConnector", "kv_role": "kv_both",
        "kv_connector_extra_config": {"num_cpu_blocks": 100000, "block_size": 12}}]] },
      requests = { { 0, 24, 13, text { 1, 24 } } }, tier = { stored_bytes = 36 * token_bytes } },
    { test = "test_offload_prompt_only", file = of_steps, commit = of_steps_at,
      says = "Of a prompt of 24 tokens and an answer of 48 only the prompt is stored.", engine = offload(4),
      requests = { { 0, 24, 48, text { 1, 24 } } }, tier = { stores = 1, stored_bytes = 24 * token_bytes } },
    { test = "test_concurrent_lookups_of_the_same_prefix", file = of_steps, commit = of_steps_at, since = "0.14.0",
      says = "A second request for the same chunk waits for the load of the first one, and finds it in the GPU.",
      replicas = { { count = 2 } }, router = require "routers.round_robin" {}, tiers = pool(12),
      links = { nic = { bytes_per_s = 12 * token_bytes, per = "replica" } },
      requests = { { 0, 12, 1, text { 1, 12 } }, { 5, 16, 1, text({ 1, 12 }, { 2, 4 }) }, { 5, 3, 1 },
        { 5.5, 16, 1, text({ 1, 12 }, { 3, 4 }) } },
      steps = "6@1: B+4 D+4", tier = { loads = 1, loaded_bytes = 12 * token_bytes } },
    { test = "test_abort_loading_requests", file = of_steps, commit = of_steps_at,
      says = "A request that is aborted while its chunk is loaded gives its blocks back when the load is over.",
      replicas = { { count = 2 } }, router = require "routers.round_robin" {}, tiers = pool(12), looks_at = 2,
      links = { nic = { bytes_per_s = 4 * token_bytes, per = "replica" } },
      requests = { { 0, 12, 1, text { 1, 12 } }, { 5, 16, 1, text({ 1, 12 }, { 2, 4 }) } },
      abort = { B = 6 }, free = { [5.5] = 17, [6.5] = 17, [8.5] = 20 }, steps = "8@1: -",
        outcome = { B = "cancelled" } },
    { test = "TestMaximalPrefixLookup.test_hit_pending_defers", file = of_steps, commit = of_steps_at,
      says = "A request waits for a chunk that is just being stored, and loads it then.",
      replicas = { { count = 2 } }, router = require "routers.round_robin" {}, tiers = pool(12),
      links = { nic = { bytes_per_s = 4 * token_bytes, per = "replica" } },
      requests = { { 0, 12, 1, text { 1, 12 } }, { 1.5, 16, 1, text({ 1, 12 }, { 2, 4 }) } },
      steps = "7@1: B+4", tier = { loads = 1 } },
    { test = "TestMaximalPrefixLookup.test_partial_prefix", file = of_steps, commit = of_steps_at,
      says = "Of three chunks the first two are there, and they are loaded.", engine = offload(4),
      requests = { { 0, 8, 1, text { 1, 8 } }, flush(3, 80), { 6, 13, 1, text({ 1, 8 }, { 2, 5 }) } },
      steps = "6: C+5", tier = { loads = 1, loaded_bytes = 8 * token_bytes } },
    { test = "TestMaximalPrefixLookup.test_miss_then_hit", file = of_steps, commit = of_steps_at,
      says = "A chunk behind one that has left the store is no hit.", engine = small_offload(4, 3),
      requests = { { 0, 8, 1, text { 1, 8 } }, { 3, 8, 1, text { 2, 8 } }, flush(6, 3), flush(7, 79),
        { 9, 9, 1, text({ 1, 8 }, { 0, 1 }) } },
      steps = "9: E+9", tier = { loads = 0 } },
    { test = "test_final_sampled_token_does_not_complete_an_offloaded_block", file = of_steps, commit = of_steps_at,
      says = "The last token of an answer has no KV, so it fills no chunk.", engine = offload(4, true),
      requests = { { 0, 7, 1, text { 1, 7 } } }, tier = { stored_bytes = 4 * token_bytes } },
    { test = "test_offloading_connector", case = "a chunk without its last token",
      says = "A chunk that lacks a token is not stored.", engine = offload(12, true),
      requests = { { 0, 24, 12, text { 1, 24 } } }, tier = { stored_bytes = 24 * token_bytes } },
    { test = "test_offloading_connector", case = "one token more",
      says = "With this token it is stored, though it is of the answer.", engine = offload(12, true),
      requests = { { 0, 24, 13, text { 1, 24 } } }, tier = { stored_bytes = 36 * token_bytes } },
    { test = "test_abort_queued_request_does_not_build_store_job", file = of_steps, commit = of_steps_at,
      says = "Of a request that is aborted in the queue nothing is stored.",
      engine = with(offload(4), { max_num_seqs = 1 }), deployment = { kv_blocks = 8 },
      requests = { { 0, 16, 3, text { 1, 16 } }, { 0, 16, 3, text { 2, 16 } } }, abort = { B = 0.5 },
      tier = { stores = 1, stored_bytes = 16 * token_bytes }, outcome = { B = "cancelled" } },
    { test = "TestEagle.test_multichunk_store_no_interior_holes", file = of_steps, commit = of_steps_at,
      says = "A prompt of 1,024 tokens in steps of 1,000 is stored without a hole.",
      engine = with(offload(4), { max_num_batched_tokens = 1000 }), deployment = { kv_blocks = 300 },
      requests = { { 0, 1024, 2, text { 1, 1024 } } },
      steps = [[
        0: A+1000
        1: A+24 ]], tier = { stores = 2, stored_bytes = 1024 * token_bytes } },
    { test = "TestEagle.test_full_attn_lookup_pops_one_block", file = of_steps, commit = of_steps_at,
      since = "0.28.0", says = "A drafter that reads hidden states loses the last chunk of three that are there.",
      engine = offload(4), speculation = { drafts = 1, head = true },
      requests = { { 0, 12, 1, text { 1, 12 } }, flush(3, 79), { 6, 13, 1, text({ 1, 12 }, { 2, 1 }) } },
      steps = "6: C+5", tier = { loaded_bytes = 8 * token_bytes } },
    { test = "TestEagle.test_full_attn_lookup_single_block_returns_zero", file = of_steps, commit = of_steps_at,
      since = "0.28.0", says = "With one chunk nothing is left to load.",
      engine = offload(4), speculation = { drafts = 1, head = true },
      requests = { { 0, 4, 1, text { 1, 4 } }, flush(3, 79), { 6, 5, 1, text({ 1, 4 }, { 2, 1 }) } },
      steps = "6: C+5", tier = { loads = 0 } },
    { test = "test_request_finished_with_pending_stores_populates_fence", file = of_steps, commit = of_steps_at,
      since = "0.28.0", says = "When a request ends its blocks are free, though they are still being stored.",
      tiers = pool(4), links = { nic = { bytes_per_s = 2 * token_bytes, per = "replica" } },
      deployment = { kv_blocks = 3 }, requests = { { 0, 12, 1, text { 1, 12 } } }, free = { [1.5] = 3 },
      pending = "blocks that are written stay taken when their request has ended" },
  },
}
