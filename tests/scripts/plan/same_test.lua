-- Candidates whose seats and budgets no step reaches are one run: what is taken over is what a run of their own gives.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local policy = require "rooflua.policy"
local random = require "rooflua.random"

--- The same step model without a signature: every candidate is run.
local function silent(class)
  local own = policy.define { name = class.name, doc = class.doc, monotone = class.monotone, extends = class }
  own.signature = false
  return own
end

--- Every result of candidates as a text, and how many ended "the same".
local function results_of(searched)
  local out, same, count = {}, 0, 0
  for _, each in ipairs(searched.found.left) do
    local result = each.result
    if result then
      local best = result.deployment or result.best
      local values = {}
      for name, value in core.sorted_pairs(best.metrics) do values[#values + 1] = ("%s=%.17g"):format(name, value) end
      out[#out + 1] = ("%s: %s replicas, score %s, %d requests, %s, margin %.17g, %s"):format(each.name,
        tostring(result.replicas), tostring(result.score), result.requests, tostring(result.problem), result.margin,
        table.concat(values, " "))
      count = count + 1
    end
    if each.ended == "the same" then same = same + 1 end
  end
  table.sort(out)
  return table.concat(out, "\n"), same, count
end

local function ladder(tp, seats, budgets)
  return require "candidates.ladder" { tp = tp, max_num_seqs = seats, max_num_batched_tokens = budgets }
end

test("256, 300 and 512 seats are one run of steps.kernels; 65 and 264 are two, because their graphs differ", function()
  local seats = { 65, 256, 264, 300, 512 }
  local top = { steps = require "steps.kernels" {}, workload = require "workloads.poisson" { prompt_tokens = 600,
    output_tokens = 40 } }
  local asked = { load = { rate_per_s = 15 }, gpus = { { "h100-sxm", most = 2, price_per_hour = 3 } }, requests = 200,
    candidates = ladder({ 1 }, seats, { 4096 }) }
  local searched = setup.searched(asked, top)
  local ended = {}
  for _, each in ipairs(searched.found.candidates) do ended[each.max_num_seqs] = each end
  test.equal(ended[65].ended, "in full")
  test.equal(ended[256].ended, "in full")
  for _, count in ipairs { 264, 300, 512 } do
    test.equal(ended[count].ended, "the same", count .. " seats")
    test.check(ended[count].problem:find "runs as candidate 2: no step", "%s", ended[count].problem)
  end
  test.equal(searched.found.rungs[1].candidates, 5)
  top.steps = silent(require "steps.kernels") {}
  local runs, same = results_of(setup.searched(asked, top))
  test.equal(same, 0)
  test.equal((results_of(searched)), runs)
end)

test("results that are taken over are those of runs, in 40 random spaces of three engines", function()
  local stream, taken, total = random.streams(31):stream "spaces", 0, 0
  local function pick(list) return list[stream:integer(1, #list)] end
  for i = 1, 40 do
    local asked = { load = { rate_per_s = pick { 5, 20, 60, 150 } }, requests = pick { 40, 150 },
      gpus = { { "h100-sxm", most = pick { 2, 5 }, price_per_hour = 3 }, { "l40s", most = 4, price_per_hour = 1 } },
      slo = { ttft_s_p99 = pick { 0.05, 0.1, 0.4 }, tpot_s_p99 = pick { 0.006, 0.008, 0.012, 0.03 } },
      survive = pick { 0, 0, 1 },
      strategy = pick { require "strategies.exhaustive" {}, require "strategies.bounded" { batch = 3 } },
      candidates = require "candidates.ladder" { engines = { pick { "vllm", "sglang", "trtllm" } }, tp = { 1, 2 },
        max_num_seqs = { 8, 32, 33, 200 }, max_num_batched_tokens = { 300, 4000, 9000 } } }
    local found, same = results_of(setup.searched(asked))
    local runs, none, count = results_of(setup.searched(asked, { steps = silent(setup.Constants) {} }))
    test.equal(none, 0)
    test.equal(found, runs, "space " .. i)
    taken, total = taken + same, total + count
  end
  test.at_least(taken, 130)
  test.at_least(total - taken, 200)
end)

test("where seats or the budget decide something every candidate is run", function()
  local _, same = results_of(setup.searched { load = { rate_per_s = 400 }, requests = 300,
    gpus = { { "h100-sxm", most = 1, price_per_hour = 3 } }, slo = { ttft_s_p99 = 100, tpot_s_p99 = 1 },
    candidates = ladder({ 1 }, { 4, 8, 12 }, { 512 }) })
  test.equal(same, 0)
end)

test("a scheduler that does not say how it reads its seats is never taken over", function()
  local asked = { load = { rate_per_s = 5 }, requests = 60, candidates = ladder({ 1 }, { 100, 200 }, { 8192 }) }
  local _, same = results_of(setup.searched(asked))
  test.equal(same, 2) -- on each of two GPUs
  local own = deploy.scheduler_class
  deploy.scheduler_class = function() return require "schedulers.vllm_v0" end
  _, same = results_of(setup.searched(asked))
  deploy.scheduler_class = own
  test.equal(same, 0)
end)

test("blocks that something else reads must be equal", function()
  local workload = require "workloads.poisson" { prompt_tokens = 300, output_tokens = 20 }
  local function same_of(more, top)
    local asked = { load = { rate_per_s = 5 }, requests = 60, candidates = ladder({ 1 }, { 100, 2000 }, { 8192 }) }
    for key, value in pairs(more) do asked[key] = value end
    top.workload = workload
    return select(2, results_of(setup.searched(asked, top)))
  end
  test.equal(same_of({}, {}), 2)
  test.equal(same_of({ slo = { ttft_s_p99 = 0.4, kv_used_frac_max = 0.9 } }, {}), 0)
  test.equal(same_of({}, { router = require "routers.least_kv" {} }), 0)
  test.equal(same_of({}, { router = require "routers.least_outstanding" {} }), 2)
end)

test.finish()
