-- Decodes whose prompts begin alike read that part from the GPU's cache.
local test = dofile "tests/scripts/harness.lua"
local SharedPrefix = require "corrections.shared_prefix"
local serve = require "rooflua.serve"

--- The mean time of a token of 32 clients on one H100, with these corrections.
local function tpot_s(corrections)
  return serve.run { model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.19", corrections = corrections,
    workload = require "workloads.closed_loop" { clients = 32, num_requests = 32, prompt_tokens = 8000,
      output_tokens = 600 } }.summary.tpot_s.mean
end

--- The factor of a correction on attention, without a run.
local function factor(decodes, given)
  local correction = SharedPrefix(given)
  correction:bind { model = { kv_heads = 8 }, hardware = { sms = 132 },
    deployment = { tp = 2, kv_bytes_per_block = 1, block_size = 1 } }
  return correction:factor(decodes)
end

test("of requests that run at the same time the first of each group reads memory", function()
  local given = { prefix_tokens = 600, context_tokens = 1000, groups = 1, l2_part = 0.5 }
  test.near(factor(1, given), 1, 1e-12, "one request")
  test.near(factor(2, given), 1 - 0.5 * 0.6 / 2, 1e-12, "the second")
  -- 132 multiprocessors and 4 heads at a rank: 33 requests at the same time
  test.near(factor(33, given), 1 - 0.5 * 0.6 * 32 / 33, 1e-12)
  test.near(factor(330, given), factor(33, given), 1e-12, "later waves do the same")
  given.groups = 2
  test.near(factor(2, given), 1 - 0.5 * 0.6 * (1 - 1.5 / 2), 1e-12, "half of the pairs are of one group")
  given.groups = 1e6
  test.near(factor(33, given), 1, 1e-4)
  given.groups, given.l2_part = 1, 1
  test.near(factor(33, given), 1, 1e-12)
end)

test("a run with a common prefix has faster decodes; without one nothing changes", function()
  local plain = tpot_s(nil)
  test.near(tpot_s { SharedPrefix {} }, plain, 1e-9)
  local shared = tpot_s { SharedPrefix { prefix_tokens = 6000, context_tokens = 8000, groups = 1 } }
  test.check(shared < 0.95 * plain, "%g against %g", shared, plain)
end)

test.finish()
