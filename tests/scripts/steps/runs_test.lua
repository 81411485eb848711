-- Steps that are priced in one call cost what they cost one by one, to the last bit. A class that inherits from kernels
-- is priced step by step, because it could change what a step costs.
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local runs = require "rooflua.border.runs"
local serve = require "rooflua.serve"
local json = require "rooflua.json"
local Kernels = require "steps.kernels"

local StepByStep = policy.define { name = "kernels", doc = "Kernels, step by step.", extends = Kernels }

local calls = 0
local Counted = policy.define { name = "kernels", doc = "Kernels that count their runs.", extends = Kernels }
function Counted:run(batch, run)
  calls = calls + 1
  Kernels.run(self, batch, run)
end

--- The summary and the requests of a run, exactly.
local function told(given, steps, parameters)
  local scenario = {}
  for key, value in pairs(given) do scenario[key] = value end
  scenario.rooflua, scenario.seed, scenario.steps = 1, 7, steps(parameters or {})
  local live = serve.open(scenario, { remember = false })
  live:run()
  return json.encode(live:result().summary)
end

local function load(rate_per_s, requests, prompt, output)
  return require "workloads.poisson" { rate_per_s = rate_per_s, num_requests = requests,
    prompt_tokens = { distribution = "lognormal", mean = prompt, sigma = 0.9, max = 20000 },
    output_tokens = { distribution = "lognormal", mean = output, sigma = 0.9, max = 4000 } }
end

local cases = {
  ["alone"] = { { model = "llama-3.1-8b", hardware = "h200-sxm", workload = load(0.5, 30, 300, 400) } },
  ["some at once"] = { { model = "llama-3.1-8b", hardware = "h200-sxm", workload = load(6, 200, 200, 300) } },
  ["few blocks"] = { { model = "llama-3.1-8b", hardware = "h200-sxm", deployment = { kv_blocks = 400 },
    workload = load(6, 100, 200, 300) } },
  ["planned when none runs"] = { { model = "llama-3.1-8b", hardware = "h200-sxm", async_depth = 1,
    workload = load(2, 60, 200, 300) } },
  ["a slow host"] = { { model = "llama-3.1-8b", hardware = "h200-sxm", workload = load(2, 60, 200, 300) },
    { host_step_s = 9e-3, sorted_logit_s = 1e-10 } },
  ["no graphs"] = { { model = "llama-3.1-8b", hardware = "h200-sxm", workload = load(2, 60, 200, 300) },
    { largest_graph = 0 } },
  ["latent attention"] = { { model = "deepseek-v3", hardware = "h200-sxm", deployment = { tp = 8, weights = "fp8" },
    replicas = 3, router = "round_robin", workload = load(2, 60, 200, 300) } },
  ["ranks of one engine"] = { { model = "mixtral-8x7b", hardware = "h200-sxm", deployment = { dp = 4, ep = 4 },
    router = "round_robin", workload = load(2, 60, 200, 300) } },
  ["datasheet only"] = { { model = "qwen3-8b", hardware = "mi300x", workload = load(2, 60, 200, 300) } },
}

for _, name in ipairs((function()
  local names = {}
  for key in pairs(cases) do names[#names + 1] = key end
  table.sort(names)
  return names
end)()) do
  test("runs have the same bits: " .. name, function()
    local given, parameters = cases[name][1], cases[name][2]
    calls = 0
    local counted = told(given, Counted, parameters)
    test.check(calls > 20, "only " .. calls .. " runs were priced")
    test.equal(counted, told(given, StepByStep, parameters))
    test.equal(told(given, Kernels, parameters), counted)
  end)
end

test("sliding windows are priced step by step", function()
  calls = 0
  local given = { model = "gpt-oss-20b", hardware = "h200-sxm", workload = load(2, 60, 200, 300) }
  test.equal(told(given, Counted), told(given, StepByStep))
  test.equal(calls, 0)
end)

test("the engine asks for runs only where the class itself prices them, and nothing corrects its times", function()
  local Told = policy.define { name = "told", doc = "It counts.", extends = Kernels }
  function Told:run() end
  function Told:summary() return {} end
  test.equal(runs.may_price(policy.fresh(Kernels {}), {}), true)
  test.equal(runs.may_price(policy.fresh(StepByStep {}), {}), false)
  test.equal(runs.may_price(policy.fresh(Told {}), {}), false)
  test.equal(runs.may_price(policy.fresh(Kernels {}), { require "corrections.step_overhead" {} }), false)
end)

--- A step model of one second per step whose run does something wrong.
local function wrong(run)
  local Wrong = policy.define { name = "wrong", doc = "One second.", params = {} }
  function Wrong:time() return 1 end
  function Wrong:run(batch, steps) run(batch, steps) end
  return Wrong
end

local slow = { model = "llama-3.1-8b", hardware = "h200-sxm", workload = require "workloads.poisson" {
  rate_per_s = 1, num_requests = 3, prompt_tokens = 32, output_tokens = 60 } }

test("a run that fails is forgotten, and its steps are priced one by one", function()
  local Second = policy.define { name = "wrong", doc = "One second.", params = {} }
  function Second:time() return 1 end
  local expected = told(slow, Second)
  local asked = 0
  for what, run in pairs {
    error = function() error "no" end,
    ["no such step"] = function(_, steps) steps:put(steps:steps() + 1, 5) end,
    ["no time"] = function(_, steps) steps:put(1, -1) end,
    ["no such evidence"] = function(_, steps) steps:add(1, 6, 1) end,
    ["contexts of single requests"] = function(batch, steps) steps:put(1, 5 + batch.decode_contexts[1]) end,
    ["the longest context"] = function(batch, steps) steps:put(1, 5 + batch.decode_context_max) end,
    ["a gap"] = function(_, steps) steps:put(2, 5) end,
    ["nothing"] = function() end,
  } do
    local counted = 0
    test.equal(told(slow, wrong(function(...) counted = counted + 1; run(...) end)), expected, what)
    test.check(counted > 0, what .. " was not asked")
    asked = asked + 1
  end
  test.equal(asked, 8)
end)

test("a run may stop early, and what it adds are the shares of the step's time", function()
  local Early = wrong(function(_, steps)
    for i = 1, math.min(3, steps:steps()) do
      steps:add(i, require("rooflua.cost").evidence_codes().modelled, 1)
      steps:put(i, 1)
    end
  end)
  local summary = json.decode(told(slow, Early))
  test.check(summary.evidence.modelled > 0.3 and summary.evidence.modelled < 1, "modelled share")
end)

test.finish()
