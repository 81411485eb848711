-- vLLM's OffloadingConnector: which chunks are loaded, when answers are stored, and what its writes hold up.
local run = dofile "tests/reference/engines/run.lua"
local test = dofile "tests/scripts/harness.lua"

local token_bytes = 131072 -- of llama-3.1-8b

--- The connector with more of its extra configuration, as JSON.
local function offload(more)
  return { kv_transfer_config = ([[{"kv_connector": "OffloadingConnector", "kv_role": "kv_both",
    "kv_connector_extra_config": {"cpu_bytes_to_use": 10000000000%s}}]]):format(more and ", " .. more or "") }
end

local set = { name = "vllm", deployment = { kv_blocks = 20, block_size = 4 } }

--- A row of tests/reference/engines holds at a release.
local function expect(release, row)
  local found = run.differences(set, row, release)
  test.check(#found == 0, "%s: %s", release, table.concat(found, "; "))
end

local function text(...) return { content = { ... } } end

--- A prompt that takes all blocks.
local function flush(at) return { at, 80, 1 } end

local chunks = offload [["block_size": 12, "offload_prompt_only": true]]

test("whole chunks of a prompt are loaded, that of its last token too, and that token is computed again", function()
  for _, case in ipairs { { 12, "6: C+1", 11, 12 }, { 24, "6: C+1", 23, 24 }, { 25, "6: C+1", 24, 24 },
    { 23, "6: C+11", 12, 12 }, { 11, "6: C+11", 0, 0 } } do
    local tokens, step, cached, loaded = case[1], case[2], case[3], case[4]
    expect("0.24.0", { engine = chunks, requests = { { 0, tokens, 1, text { 1, tokens } }, flush(3),
      { 6, tokens, 1, text { 1, tokens } } }, steps = step, cached = { C = cached },
      tier = { loaded_bytes = loaded * token_bytes } })
  end
end)

test("what is left of a prompt is loaded from a chunk on", function()
  -- The GPU has 4 tokens of the first prompt, so that 8 or 20 of those in the store are left.
  for _, case in ipairs { { 12, "9: D+9", 0 }, { 24, "9: D+1", 20 } } do
    local tokens, step, loaded = case[1], case[2], case[3]
    expect("0.24.0", { engine = chunks, requests = { { 0, tokens, 1, text { 1, tokens } }, flush(3),
      { 6, 5, 1, text({ 1, 4 }, { 2, 1 }) }, { 9, tokens + 1, 1, text({ 1, tokens }, { 0, 1 }) } }, steps = step,
      tier = { loaded_bytes = loaded * token_bytes } })
  end
end)

test("chunks of an answer are stored as they are filled", function()
  local both = offload [["block_size": 12, "offload_prompt_only": false]]
  for _, depth in ipairs { 1, 2 } do
    expect("0.24.0", { depth = depth, engine = both, requests = { { 0, 20, 30, text { 1, 20 } } },
      tier = { stored_bytes = 48 * token_bytes, stores = 4 } })
  end
  expect("0.24.0", { engine = both, requests = { { 0, 20, 30, text { 1, 20 } } }, abort = { A = 10.5 },
    tier = { stored_bytes = 24 * token_bytes }, outcome = { A = "cancelled" } })
end)

test("a preempted request finds the chunks of its answer", function()
  local both = offload [["block_size": 12, "offload_prompt_only": false]]
  local requests = { { 0, 8, 40, text { 9, 8 } }, { 0.5, 24, 17, text { 1, 24 } } }
  -- 16 tokens are in the GPU, 20 more in the store; of the prompt's chunks 8, which is less than a chunk.
  expect("0.24.0", { engine = both, deployment = { kv_blocks = 16 }, requests = requests, steps = "40: B+4",
    preemptions = { A = 0, B = 1 } })
  expect("0.24.0", { engine = chunks, deployment = { kv_blocks = 16 }, requests = requests, steps = "40: B+24" })
end)

test("answers are stored by default before offload_prompt_only, but where planning ahead loses them", function()
  local function stored(release, tokens, depth)
    expect(release, { depth = depth, engine = { kv_transfer_config = [[{"kv_connector": "OffloadingConnector",
      "kv_role": "kv_both", "kv_connector_extra_config": {"cpu_bytes_to_use": 1e10, "num_cpu_blocks": 1000,
      "block_size": 12}}]] }, requests = { { 0, 24, 13, text { 1, 24 } } },
      tier = { stored_bytes = tokens * token_bytes } })
  end
  stored("0.12.0", 36)
  stored("0.14.0", 36)
  stored("0.14.0", 24, 2)
  stored("0.17.0", 24, 2)
  stored("0.18.0", 36, 2)
  stored("0.22.0", 36, 2)
  stored("0.23.0", 24)
  stored("0.24.0", 24, 2)
end)

test("blocks of a preempted request are free while they are written, and the step waits for that", function()
  for _, size in ipairs { 0, 10 } do
    expect("0.24.0", { engine = { kv_offloading_size = size > 0 and size or nil },
      deployment = { kv_blocks = 9, block_size = 16 }, requests = { { 0, 128, 4 }, { 0, 16, 4 } },
      steps = "0: A+128 B+16\n1: A B!", preemptions = { A = 0, B = 1 } })
  end
  -- A bus of 64 tokens per second: B's 16 tokens take 0.25 s. A's own writes hold up nothing.
  expect("0.24.0", { tiers = { policy = require "tiers.vllm_cpu" {}, stores = { { name = "cpu", capacity_bytes = 1e12,
      chunk_tokens = 16 } } }, links = { pcie = { bytes_per_s = token_bytes * 64, per = "replica" } },
    deployment = { kv_blocks = 9, block_size = 16 }, requests = { { 0, 128, 4 }, { 0, 16, 4 } },
    steps = "0: A+128 B+16\n1: A B!", preemptions = { A = 0, B = 1 }, starts = { A = 0 }, ends_at = { A = 4.25 } })
end)

test("a request waits for a chunk that another one loads, and finds it in the GPU", function()
  local function pool(params)
    return { policy = require "tiers.vllm_cpu" (params), stores = { { name = "pool", per = "cluster",
      capacity_bytes = 1e12, chunk_tokens = 12, read = { "nic" } } } }
  end
  local row = { replicas = { { count = 2 } }, router = require "routers.round_robin" {},
    links = { nic = { bytes_per_s = 12 * token_bytes, per = "replica" } },
    requests = { { 0, 12, 1, text { 1, 12 } }, { 5, 16, 1, text({ 1, 12 }, { 2, 4 }) }, { 5, 3, 1 },
      { 5.5, 16, 1, text({ 1, 12 }, { 3, 4 }) } } }
  row.tiers, row.steps, row.tier = pool {}, "6@1: B+4 D+4", { loads = 1 }
  expect("0.24.0", row)
  row.tiers, row.steps, row.tier = pool { waits_for_pending = false }, nil, { loads = 2 }
  expect("0.24.0", row)
end)

test("a drafter that loses the last block of a hit loses the last chunk of a load since 0.28", function()
  local row = { engine = offload [["block_size": 4]], speculation = { drafts = 1, head = true },
    requests = { { 0, 12, 1, text { 1, 12 } }, { 3, 79, 1 }, { 6, 13, 1, text({ 1, 12 }, { 2, 1 }) } } }
  for _, case in ipairs { { "0.24.0", true, 12 }, { "0.28.0", true, 8 }, { "0.28.0", false, 12 } } do
    row.speculation.head, row.tier = case[2], { loaded_bytes = case[3] * token_bytes }
    expect(case[1], row)
  end
end)

test.finish()
