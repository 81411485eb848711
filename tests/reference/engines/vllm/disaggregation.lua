-- vLLM V1: prompts that another server computes.
local token_bytes = 131072 -- of llama-3.1-8b
local apart = { { role = "prefill" }, { role = "decode" } }
local slow = { bytes_per_s = 20 * token_bytes, alpha_s = 0 }

local prefill = "tests/v1/kv_connector/unit/test_remote_prefill_lifecycle.py"
local decode = "tests/v1/kv_connector/unit/test_remote_decode_lifecycle.py"
local decode_at = "02564d4b4bcfe1127fd0cf5708f7a4f3b171163a"

return {
  name = "vllm", file = prefill, commit = "00a1bcb0b182449d102666f0ace6fda282d60df9", since = "0.11.0",
  engine = { max_num_seqs = 16, max_num_batched_tokens = 8192 },
  deployment = { kv_blocks = 100, block_size = 16 },
  rows = {
    { test = "test_basic_lifecycle",
      says = "A prompt holds its blocks while its KV comes, and then computes one token.",
      replicas = apart, network = slow, requests = { { 0, 40, 3 } }, looks_at = 2,
      steps = [[
        0@0: A+40
        3@1: A+1
        4@1: A
        5@1: A ]], free = { [0.5] = 100, [2] = 97, ["end"] = 100 } },
    { test = "test_full_block_prompt", says = "A prompt of whole blocks computes its last token again, in two blocks.",
      replicas = apart, network = { bytes_per_s = 32 * token_bytes, alpha_s = 0 }, requests = { { 0, 32, 1 } },
      looks_at = 2, steps = "2@1: A+1", free = { [1.5] = 98, [2.5] = 98 } },
    { test = "test_interleaved_lifecycle",
      says = "A prompt of the server's own decodes while the KV of another one comes, and joins it then.",
      replicas = apart, network = slow, disaggregation = { order = "decode_first",
        decider = require "deciders.uncached" { uncached_tokens = 20 } },
      requests = { { 0, 16, 9 }, { 0, 40, 3 } },
      steps = [[
        0@0: B+40
        0@1: A+16
        1@1: A
        2@1: A
        3@1: A B+1
        4@1: A B ]] },
    { test = "test_no_spurious_prefix_caching",
      says = "KV that is still on its way is no hit of another prompt.",
      replicas = apart, network = slow, disaggregation = { order = "decode_first",
        decider = require "deciders.uncached" { uncached_tokens = 40 } },
      requests = { { 0, 40, 3, { content = { { 1, 40 } } } }, { 1.5, 39, 2, { content = { { 1, 32 }, { 0, 7 } } } } },
      steps = [[
        0@0: A+40
        1.5@1: B+39 ]], cached = { B = 0 } },
    { test = "test_cannot_schedule_after_recv",
      says = "A prompt whose KV has come loses its blocks to an older request, and computes its sequence again.",
      replicas = apart, network = slow, deployment = { kv_blocks = 5, prefix_caching = false },
      disaggregation = { order = "decode_first", decider = require "deciders.uncached" { uncached_tokens = 32 } },
      requests = { { 0, 31, 7 }, { 0, 32, 4 } },
      steps = [[
        0@1: A+31
        1@1: A
        2@1: A ]], preemptions = { A = 0, B = 1 } },
    { test = "test_cannot_recv", says = "KV for which there is no room stays where it was computed.",
      replicas = apart, network = slow, deployment = { kv_blocks = 5, prefix_caching = false },
      disaggregation = { order = "decode_first", decider = require "deciders.uncached" { uncached_tokens = 40 } },
      requests = { { 0, 33, 6 }, { 0, 40, 2 } },
      steps = [[
        0@0: B+40
        0@1: A+33
        8@1: B+1 ]], preemptions = { A = 0, B = 0 } },
    { test = "test_basic_lifecycle", case = "of the sender", file = decode, commit = decode_at,
      says = "The server that computed a prompt keeps three blocks until they are sent.",
      replicas = apart, network = slow, requests = { { 0, 40, 3 } }, free = { [0.5] = 97, [2.9] = 97, [3.1] = 100 } },
    { test = "test_short_prompt_lifecycle", file = decode, commit = decode_at,
      says = "Of a prompt of half a block it keeps one.",
      replicas = apart, network = { bytes_per_s = 4 * token_bytes, alpha_s = 0 }, requests = { { 0, 8, 3 } },
      free = { [0.5] = 99, [2.9] = 99, [3.1] = 100 } },
    { test = "test_prefix_cache_lifecycle", file = decode, commit = decode_at,
      says = "A prompt that hits two of its blocks there keeps all three until they are sent.",
      replicas = apart, network = slow,
      requests = { { 0, 40, 1, { content = { { 1, 40 } } } }, { 10, 40, 3, { content = { { 1, 32 }, { 0, 8 } } } } },
      steps = "10@0: B+8", free = { [10.5] = 97, [11.3] = 97, [11.5] = 100 } },
    { test = "test_abort_during_kv_transfer", file = decode, commit = decode_at,
      says = "Blocks of a request that is aborted while its KV is sent are free when the transfer is over.",
      replicas = apart, network = slow, requests = { { 0, 40, 3 } }, abort = { A = 2 },
      free = { [2.5] = 97, [3.5] = 100 }, outcome = { A = "cancelled" } },
    { test = "test_throttle_prefills_excludes_fully_transferred_remote_kv", since = "0.24.0",
      file = "tests/v1/core/test_scheduler.py", commit = "003df2961dd8830c317a61f9745ccd557da9fa06",
      says = "Ranks that hold prompts back run one whose KV has come whole at once.",
      model = "qwen3-30b-a3b", deployment = { dp = 2, prefix_caching = false },
      engine = { prefill_schedule_interval = 4 }, replicas = apart, network = { bytes_per_s = 1e15, alpha_s = 0 },
      requests = { { 0, 40, 9 }, { 0, 40, 9 }, { 1.5, 40, 9 } },
      steps = [[
        1@2: A+1
        2@2: A
        3@2: A C+1 ]], pending = "such a prompt waits like others" },
  },
}
