-- Workloads: a parameter that is none, and lengths that no distribution has, are errors with the key.
local test = dofile "tests/scripts/harness.lua"
local random = require "rooflua.random"

local function workload(name) return require("workloads." .. name) end

test("a mistake names its key", function()
  local Poisson, rng = workload "poisson", random.streams(1)
  test.raises("poisson.rate_per_s", function() Poisson { rate_per_s = -1 } end)
  test.raises("poisson.rate_per_s", function() Poisson { rate_per_s = 0 / 0 } end)
  test.raises("poisson.num_requests", function() Poisson { num_requests = 1.5 } end)
  test.raises("rate_per_s", function() Poisson { rate_per_sec = 1 } end)
  test.raises("vllm_bench.request_rate", function() workload "vllm_bench" { request_rate = -8 } end)
  test.raises("ramp.form", function() workload "ramp" { form = "square" } end)
  test.raises("closed_loop.clients", function() workload "closed_loop" { clients = 0 } end)
  local function lengths(key, spec)
    return function() Poisson { [key] = spec }:requests(rng) end
  end
  local function prompts(spec) return lengths("prompt_tokens", spec) end
  test.raises("workload.prompt_tokens: min 9 is above max 2", prompts { distribution = "uniform", min = 9, max = 2 })
  test.raises("workload.output_tokens: unknown distribution 'lognormel'",
    lengths("output_tokens", { distribution = "lognormel", mean = 3 }))
  test.raises("workload.prompt_tokens: lognormal needs sigma", prompts { distribution = "lognormal", mean = 3 })
  test.raises("workload.prompt_tokens.deviation", prompts { distribution = "normal", mean = 3, deviation = -1 })
  test.raises("workload.prompt_tokens.mean", prompts { distribution = "lognormal", mean = 0 / 0, sigma = 1 })
  test.raises("workload.prompt_tokens", lengths("prompt_tokens", 0.5))
  test.raises("workload.prompt_tokens", lengths("prompt_tokens", "many"))
  test.raises("meen", lengths("prompt_tokens", { distribution = "normal", mean = 3, deviation = 1, meen = 4 }))
end)

test("what a function of gaps gives is checked, and its line is named", function()
  local arrivals = require "rooflua.arrivals"
  for found, value in pairs { ["nil"] = false, ["text \"x\""] = "x", ["nan"] = 0 / 0, ["number -1"] = -1 } do
    local function gap() return value or nil end
    local source = arrivals.open_loop(workload "poisson" {}, random.streams(1), gap)
    test.raises(("workload_mistakes_test.lua:%d: gap(state): expected seconds from 0 on, found %s"):format(
      debug.getinfo(gap, "S").linedefined, found), function() source.next(source) end)
  end
end)

test("lognormal and pareto lengths that have no mean or no minimum are refused", function()
  local rng = random.streams(1)
  local function first(spec)
    local source = workload "poisson" { prompt_tokens = spec }:requests(rng)
    return source.next(source)
  end
  test.raises("workload.prompt_tokens", function() first { distribution = "lognormal", mean = 0, sigma = 1 } end)
  test.raises("workload.prompt_tokens", function() first { distribution = "pareto", shape = 0, min = 1 } end)
  test.raises("workload.prompt_tokens.min", function()
    first { distribution = "zipf", exponent = 1, min = 1.5, max = 3 }
  end)
  test.raises("workload.prompt_tokens", function() first { distribution = "empirical", values = { 4, -1 } } end)
  test.raises("workload.prompt_tokens", function() first { distribution = "empirical", values = { 4, "x" } } end)
end)

test("a policy that is no workload is told where a workload is made of it", function()
  local given = workload "with_pictures" { of = require "schedulers.vllm_v1" {} }
  test.raises("workload.of: expected a workload such as", function() given:requests(random.streams(1)) end)
end)

test.finish()
