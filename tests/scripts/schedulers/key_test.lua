-- What key(request) reads: the tokens of the request that its replica has when the request is queued.
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local VllmV1 = require "schedulers.vllm_v1"

local LongestPrefix = policy.define { name = "longest_prefix", doc = "Cached prompts first.", extends = VllmV1 }
local keys
function LongestPrefix:key(request) -- luacheck: ignore self
  test.equal(request.pending_tokens, request.prompt_tokens - request.cached_tokens)
  keys[request.cached_tokens] = (keys[request.cached_tokens] or 0) + 1
  return -request.cached_tokens
end

local function run(scheduler, deployment)
  keys = {}
  return serve.run { model = "llama-3.1-8b", hardware = "h200-sxm", scheduler = scheduler, deployment = deployment,
    workload = require "workloads.poisson" { rate_per_s = 100, num_requests = 200, prompt_tokens = 500,
      output_tokens = 50, prefix_tokens = 640, prefix_groups = 5 } }.summary
end

test("a key by cached tokens is another order than first come first served", function()
  local ordered = run(LongestPrefix { max_num_seqs = 8 })
  test.at_least(keys[640] or 0, 100)
  test.at_least(keys[0] or 0, 5)
  test.check(ordered.ttft_s.p99 ~= run(VllmV1 { max_num_seqs = 8 }).ttft_s.p99)
end)

test("without prefix caching nothing is cached", function()
  run(LongestPrefix { max_num_seqs = 8 }, { prefix_caching = false })
  test.equal(keys[0], 200)
end)

test("requests that wait while the scheduler is swapped get their keys from the cache, too", function()
  local live = serve.open { model = "llama-3.1-8b", hardware = "h200-sxm", scheduler = VllmV1 { max_num_seqs = 2 },
    workload = require "workloads.poisson" { rate_per_s = 1000, num_requests = 50, prompt_tokens = 500,
      output_tokens = 50, prefix_tokens = 640, prefix_groups = 2 } }
  live:run_until(0.2)
  keys = {}
  live:set { scheduler = LongestPrefix { max_num_seqs = 2 } }
  test.at_least(keys[640] or 0, 10)
end)

test.finish()
