-- Loads that vary by themselves (days, ramps, bursts): a plan's verdict on a replica is that of its limits alone, and a
-- "no" names what was missed. A queue that grows under an even load is still a miss.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local deploy = require "rooflua.plan.deploy"
local evaluate = require "rooflua.plan.evaluate"
local random = require "rooflua.random"
local serve = require "rooflua.serve"
local words = require "rooflua.plan.words"

local requests, sizes = 240, { prompt_tokens = 300, output_tokens = 20 }

local function with_sizes(of)
  for key, value in pairs(sizes) do of[key] = value end
  return of
end

--- A load whose busiest part comes late, with `rate` in the mean, and what a plan scales it to.
local function load_of(roll, rate)
  local kind, run_s = roll:integer(1, 3), requests / rate
  if kind == 1 then
    local period_s = run_s * (0.6 + 0.8 * roll:uniform())
    return "diurnal", { swing = 0.5 + 0.5 * roll:uniform(), period_s = period_s, peak_s = period_s * 0.8 }
  elseif kind == 2 then
    return "ramp", { end_rate_per_s = rate * (2 + 4 * roll:uniform()) }
  end
  return "burst", { burst_rate_per_s = rate * (2 + 3 * roll:uniform()), period_s = run_s, burst_s = run_s * 0.1 }
end

local function question_of(roll)
  local rate = 30 + 220 * roll:uniform()
  local kind, parameters = load_of(roll, rate)
  local limit_s = 10 ^ (-1.6 + 1.4 * roll:uniform())
  local asked = setup.searched({ load = { rate_per_s = rate }, slo = { ttft_s_p99 = limit_s }, requests = requests,
    gpus = { { "h100-sxm", most = 2, price_per_hour = 3 } }, strategy = require "strategies.exhaustive" {},
    candidates = require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 } } },
    { workload = require("workloads." .. kind)(with_sizes(parameters)) })
  return asked.question, asked.found.fit[1], limit_s, kind
end

--- Whether a run without any plan's verdict holds the limit.
local function holds(question, candidate, seed, limit_s)
  local summary = serve.run(deploy.scenario(question, candidate, 1, { requests = requests, seed = seed })).summary
  return summary.completed == requests and summary.ttft_s.p99 <= limit_s
end

test("the verdict on a load that varies is that of its limits, and a no names them", function()
  local roll, met, by_kind = random.streams(11):stream "loads", 0, {}
  for i = 1, 300 do
    local question, candidate, limit_s, kind = question_of(roll)
    for seed = 2 * i, 2 * i + 1 do
      local run = evaluate.run(question, candidate, 1,
        { requests = requests, seed = seed, steady = true, brief = true })
      test.equal(run.meets, holds(question, candidate, seed, limit_s),
        ("plan %d, %s, %s, limit %.3g s"):format(i, kind, tostring(run.problem), limit_s))
      test.equal(#run.missed > 0, not run.meets)
      met = met + (run.meets and 1 or 0)
    end
    by_kind[kind] = (by_kind[kind] or 0) + 1
  end
  test.check(met > 100 and met < 500, "%d of 600 runs meet: the questions are one-sided", met)
  for _, count in pairs(by_kind) do test.at_least(count, 60) end
end)

test("a queue that grows under an even load is a miss that says so, however loose the limit is", function()
  for seed = 1, 20 do
    local workload = require("workloads." .. (seed % 2 == 0 and "gamma" or "poisson"))(with_sizes {})
    local asked = setup.searched({ load = { rate_per_s = 600 }, slo = { ttft_s_p99 = 1e4 }, requests = 1000,
      gpus = { { "h100-sxm", most = 1, price_per_hour = 3 } }, strategy = require "strategies.exhaustive" {},
      candidates = require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 8 },
        max_num_batched_tokens = { 1024 } } }, { workload = workload })
    local run = evaluate.run(asked.question, asked.found.fit[1], 1, { requests = 1000, seed = seed, steady = true,
      brief = true })
    test.equal(run.meets, false)
    test.equal(run.missed[1], "steady")
  end
end)

test("the report says which limits replicates missed", function()
  test.equal(words.sure { met = 6, of = 10, p = 0.6, low = 0.35, high = 0.81, missed = { ttft_s_p99 = 3, steady = 1 } },
    "SLO met in 6 of 10 replicates: 60 % (35-81); missed: a queue that grows in 1, TTFT p99 in 3")
end)

test.finish()
