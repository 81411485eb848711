-- Counts of a summary are the sums of its requests, in random runs with small caches, seats and clients that leave.
local test = dofile "tests/scripts/harness.lua"
local random = require "rooflua.random"
local serve = require "rooflua.serve"

local function of_lengths(roll, i)
  return require "workloads.poisson" { rate_per_s = 20, num_requests = 20, prompt_tokens = 13 * i + roll:integer(1, 30),
    output_tokens = 2 ^ i + roll:integer(0, 3) }
end

local function scenario(seed)
  local roll, parts = random.streams(seed):stream "sums", {}
  for i = 1, roll:integer(2, 6) do parts[i] = { name = "p" .. i, workload = of_lengths(roll, i) } end
  local engines = { "vllm 0.24", "vllm 0.10", "sglang 0.5.9", "trtllm" }
  local out = { rooflua = 1, seed = seed, model = "llama-3.1-8b", hardware = "h100-sxm",
    engine = engines[roll:integer(1, #engines)], replicas = roll:integer(1, 2),
    async_depth = roll:integer(1, 2), deployment = { kv_blocks = roll:integer(20, 60) },
    workload = require "workloads.mix" { parts = parts } }
  if roll:uniform() < 0.3 then out.client = require "clients.impatient" { first_token_s = 0.5, total_s = 1 } end
  return out
end

local tokens = { "prompt_tokens", "output_tokens", "cached_tokens" }

test("preemptions, tokens and outcomes of a summary are the sums of its requests", function()
  local preempted, runs = 0, 0
  for seed = 1, 120 do
    local live = serve.open(scenario(seed))
    live:run()
    local summary = live:result().summary
    local sums = { preemptions = 0, completed = 0, requests = 0 }
    for _, key in ipairs(tokens) do sums[key] = 0 end
    for _, each in ipairs(live:ended()) do
      local completed = each.outcome == "completed"
      sums.requests, sums.preemptions = sums.requests + 1, sums.preemptions + each.preemptions
      if completed then
        sums.completed = sums.completed + 1
        for _, key in ipairs(tokens) do sums[key] = sums[key] + each[key] end
      end
    end
    for key, value in pairs(sums) do test.equal(summary[key], value, ("seed %d: %s"):format(seed, key)) end
    preempted, runs = preempted + sums.preemptions, runs + 1
    live:close()
  end
  test.at_least(preempted, 300)
end)

test.finish()
