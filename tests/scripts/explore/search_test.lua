-- Searches and sensitivities against step models whose answers are known.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy, sweep, json = rooflua.policy, rooflua.sweep, rooflua.json

--- A step takes `load` ms (and `base_s`); with `hole`, loads from 5 to 6 take 50 ms.
local Loaded = policy.define { name = "loaded", doc = "A step whose time is a parameter.",
  params = { load = { default = 1.0, doc = "ms" }, base_s = { default = 0.0, unit = "s", doc = "more" },
    hole = { default = false, doc = "not monotone" }, seats = { default = 4, integer = true, min = 1, doc = "ms / 4" },
    unused = { default = 3.0, doc = "changes nothing" }, nothing = { default = 0.0, doc = "is 0" },
    mode = { default = "a", values = { "a", "b" }, doc = "a choice" } } }
function Loaded:time(_)
  if self.hole and self.load >= 5 and self.load <= 6 then return 50e-3 end
  return self.load * 1e-3 * (self.seats / 4) + self.base_s
end

local function scenario(parameters, more)
  return scene({ hardware = "h200", seed = 1, async_depth = 1, steps = Loaded(parameters),
    workload = require "workloads.constant" { rate_per_s = 0.5, num_requests = 4, prompt_tokens = 16,
      output_tokens = 10 } }, more)
end

local function rate(options)
  options[1] = options[1] or scenario()
  options.parameter, options.slo = "steps.load", options.slo or { tpot_s_mean = 8e-3 }
  options.min, options.max = options.min or 1, options.max or 100
  return sweep.search(options)
end

test("the bisection ends within its tolerance of the planted limit", function()
  for _, tolerance in ipairs { 0.1, 0.01, 0.001 } do
    local result = rate { tolerance = tolerance }
    test.check(result.value <= 8 and result.value >= 8 / (1 + tolerance), "%g for %g", result.value, tolerance)
    test.check(result.missed_at > 8 and result.missed_at / result.value <= 1 + tolerance)
    test.equal(result.monotone, true)
    test.equal(#result.runs, #result.tried, "one run per load, with one seed")
  end
end)

test("several loads in a round end at the same limit in fewer rounds", function()
  local given = scenario({ load = 4 }) -- a step takes `seats` ms
  for points = 1, 9 do
    local result = rate { tolerance = 0.01, points_per_round = points, checks = 0 }
    test.check(result.value <= 8 and result.value >= 8 / 1.01, "%g of %d points", result.value, points)
    test.check(result.missed_at > 8 and result.missed_at / result.value <= 1.01)
    local rounds = math.ceil(math.log(math.log(100) / math.log(1.01)) / math.log(points + 1))
    test.check(#result.tried - 2 <= points * rounds, "%d loads, %d points", #result.tried, points)
    for limit = 1, 5 do
      local whole = sweep.search { given, parameter = "steps.seats", min = 1, max = 6, checks = 0,
        points_per_round = points, slo = { tpot_s_mean = (limit + 0.5) * 1e-3 } }
      test.equal(whole.value .. " " .. whole.missed_at, limit .. " " .. limit + 1, points .. " points")
    end
  end
  test.raises("points_per_round", function() rate { points_per_round = 0 } end)
end)

test("an SLO that no load meets, and one that all meet, are said to be so", function()
  local none = rate { slo = { tpot_s_mean = 1e-4 } }
  test.equal(none.value, nil)
  test.check(none.note:find "missed at the lowest load")
  local all = rate { slo = { tpot_s_mean = 1 } }
  test.equal(all.value, 100)
  test.check(all.note:find "raise max")
  test.equal(all.reached_max, true)
  local text = sweep.report(all)
  test.check(text:find("steps.load: the SLO is met up to max, 100; the highest that meets it is not known", 1, true),
    text)
  test.check(not text:find("highest steps.load", 1, true), text)
  local found = rate {}
  test.equal(found.reached_max, nil)
  test.check(sweep.report(found):find("highest steps.load that meets the SLO: ", 1, true), "no highest")
  test.check(sweep.report(none):find "no load meets the SLO")
end)

test("a load below the answer that misses the SLO is found and told", function()
  local result = rate { scenario { hole = true }, min = 1, max = 40, checks = 12 }
  test.equal(result.monotone, false)
  test.check(result.note:find "not monotone")
end)

test("a whole-number load is searched in whole numbers", function()
  local given = scenario({ load = 4 })
  local result = sweep.search { given, parameter = "steps.seats", min = 1, max = 50, slo = { tpot_s_mean = 8.5e-3 } }
  test.equal(result.value, 8)
  test.equal(result.missed_at, 9)
end)

test("a whole-number search ends at the limit wherever it lies", function()
  local given = scenario({ load = 4 }) -- a step takes `seats` ms
  for _, limit in ipairs { 1, 2, 3, 4, 5 } do
    local result = sweep.search { given, parameter = "steps.seats", min = 1, max = 6, checks = 0,
      slo = { tpot_s_mean = (limit + 0.5) * 1e-3 } }
    test.equal(result.value, limit)
    test.equal(result.missed_at, limit + 1)
  end
end)

test("least bounds, attainment and several bounds hold together", function()
  local given = scenario(nil, { slo = { tpot_s = 8e-3 } })
  local result = rate { given, slo = { slo_attainment_frac = 1, output_tokens_per_s = { min = 0.1 } } }
  test.check(result.value <= 8 and result.value > 7.9, "%g", result.value)
end)

test("requests that are not completed miss every SLO", function()
  local given = scenario(nil, { deployment = { kv_blocks = 1 } }) -- no request fits with 16 + 10 tokens
  local result = rate { given, slo = { tpot_s_mean = 1 } }
  test.equal(result.value, nil)
  test.check(result.tried[1].problem:find "4 of 4 requests were not completed: 4 exceeds_kv_cache")
end)

test("a search says the same for any number of jobs", function()
  local function text(jobs) return json.encode(rate { jobs = jobs, seeds = 3 }) end
  local one = text(1)
  test.equal(text(2), one)
  test.equal(text(5), one)
end)

local deployments = {
  { name = "fast", cost_per_hour = 9, set = { ["steps.load"] = 2 } },
  { name = "slow", cost_per_hour = 1, set = { ["steps.load"] = 20 } },
  { name = "middle", cost_per_hour = 4, set = { ["steps.load"] = 7 } },
  { name = "huge model", cost_per_hour = 2, set = { model = "llama-3.1-70b" } },
}

test("the cheapest deployment that meets the SLO is found; what cannot run is told", function()
  local result = sweep.search { scenario(), goal = "cheapest", slo = { tpot_s_mean = 8e-3 }, deployments = deployments }
  test.equal(result.value, "middle")
  test.equal(result.cost_per_hour, 4)
  test.equal(result.tried[1].name, "slow")
  test.check(result.tried[2].problem:find "does not fit")
  local tokens_per_s = result.tried[3].metrics.output_tokens_per_s
  test.near(result.tried[3].cost_per_million_output_tokens, 4 / 3600 / tokens_per_s * 1e6, 1e-12)
  local none = sweep.search { scenario(), goal = "cheapest", slo = { tpot_s_mean = 1e-6 }, deployments = deployments }
  test.equal(none.value, nil)
end)

test("the Pareto front is what brute force says", function()
  local result = sweep.search { scenario(), goal = "pareto", objectives = { "tpot_s_mean", "e2e_s_p99" },
    vary = { ["steps.load"] = { 2, 3, 5, 8 }, ["steps.base_s"] = { 0, 1e-3, 2e-3 } }, jobs = 2 }
  test.equal(#result.tried, 12)
  test.equal(#result.front, 1, "one step time decides both")
  test.equal(result.front[1].parameters["steps.load"], 2)
  local real = sweep.search { { model = "llama-3.1-8b", hardware = "h200", seed = 1, steps = require "steps.kernels" {},
      workload = require "workloads.poisson" { num_requests = 40, prompt_tokens = 500, output_tokens = 30 } },
    goal = "pareto", jobs = 2, vary = { ["deployment.tp"] = { 1, 2 }, ["workload.rate_per_s"] = { 10, 40, 80 } } }
  local function at_least_as_good(a, b)
    return a.metrics.output_tokens_per_s_per_gpu >= b.metrics.output_tokens_per_s_per_gpu and
      a.metrics.tpot_s_p50 <= b.metrics.tpot_s_p50
  end
  for _, entry in ipairs(real.tried) do
    local beaten = false
    for _, other in ipairs(real.tried) do
      beaten = beaten or other ~= entry and at_least_as_good(other, entry) and not at_least_as_good(entry, other)
    end
    test.equal(entry.on_front, not beaten, entry.name)
  end
end)

local function by_path(rows)
  local out = {}
  for _, row in ipairs(rows) do out[row.path] = row end
  return out
end

test("sensitivities of a sum are its shares", function()
  local given = scenario({ load = 6, base_s = 2e-3, unused = 3 }) -- 6 ms of 8, 2 ms of 8
  local result = sweep.sensitivity { given, metrics = { "tpot_s_mean" } }
  local rows = by_path(result.rows)
  test.near(rows["steps.load"].percent.tpot_s_mean, 0.75, 1e-3)
  test.near(rows["steps.base_s"].percent.tpot_s_mean, 0.25, 1e-3)
  test.near(rows["steps.load"].change.tpot_s_mean, 0.06e-3, 1e-3)
  test.equal(rows["steps.unused"].percent.tpot_s_mean, 0)
  test.equal(rows["steps.seats"].how, "±1")
  test.near(rows["steps.seats"].percent.tpot_s_mean, 0.75, 1e-3, "6 ms * seats / 4, moved by a whole seat")
  test.equal(result.rows[1].percent.tpot_s_mean >= result.rows[2].percent.tpot_s_mean, true, "sorted")
end)

test("every declared parameter is varied or said to be fixed, and why", function()
  local given = scenario(nil, { corrections = { require "corrections.step_overhead" {} } })
  local result = sweep.sensitivity { given, metrics = { "tpot_s_mean" }, jobs = 2 }
  local seen = {}
  for _, row in ipairs(result.rows) do seen[row.path] = "varied" end
  for _, each in ipairs(result.fixed) do seen[each.path] = each.why end
  for prefix, instance in pairs { steps = given.steps, workload = given.workload,
    ["corrections.step_overhead"] = given.corrections[1], scheduler = require "schedulers.vllm_v1" {} } do
    for name in pairs(policy.describe(instance).params) do
      test.check(seen[prefix .. "." .. name], "%s.%s is not there", prefix, name)
    end
  end
  test.equal(seen["steps.mode"], "a choice")
  test.equal(seen["steps.hole"], "true or false")
  test.check(seen["steps.nothing"]:find "is 0")
  test.equal(seen["corrections.step_overhead.overhead_s"], "varied")
  test.check(sweep.report(result):find "steps.mode: a choice")
end)

test("mistakes are found before anything is run", function()
  local function raises(part, options)
    options[1] = options[1] or scenario()
    test.raises(part, function() sweep.search(options) end)
  end
  local slo = { ttft_s_p99 = 1 }
  raises("did you mean 'pareto'", { goal = "pareta", slo = slo })
  raises("unknown metric 'ttft_p99'", { slo = { ttft_p99 = 1 }, min = 1, max = 2 })
  raises("expected a table", { min = 1, max = 2 })
  raises("is above max", { slo = slo, min = 3, max = 2 })
  raises("above 0", { slo = slo, parameter = "steps.load", min = 0, max = 2 })
  raises("did you mean 'steps.load'", { slo = slo, parameter = "steps.lod", min = 1, max = 2 })
  raises("unknown key 'deployments'", { goal = "rate", slo = slo, deployments = {} })
  raises("cost_per_hour", { goal = "cheapest", slo = slo, deployments = { { name = "a", set = {} } } })
  raises("is there twice", { goal = "cheapest", slo = slo, deployments = {
    { name = "a", cost_per_hour = 1, set = {} }, { name = "a", cost_per_hour = 1, set = {} } } })
  raises("did you mean 'hardware'", { goal = "cheapest", slo = slo, deployments = {
    { name = "a", cost_per_hour = 1, set = { hardwear = "h100" } } } })
  raises("of what?", { goal = "pareto" })
  test.raises("unknown metric", function() sweep.sensitivity { scenario(), metrics = { "ttfs_s_p99" } } end)
  test.raises("'steps.load'?", function() sweep.sensitivity { scenario(), params = { "steps.lode" } } end)
end)

test.finish()
