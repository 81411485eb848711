-- A step model that settles costs what it cost before, to the last bit, and compiled code finds all of its fields. A
-- class that inherits from kernels does not settle, because its methods could set fields.
local test = dofile "tests/scripts/harness.lua"
local aborts = dofile "tests/scripts/aborts.lua"
local policy = require "rooflua.policy"
local pricing = require "rooflua.border.pricing"
local serve = require "rooflua.serve"
local settled = require "rooflua.border.settled"
local json = require "rooflua.json"
local Kernels = require "steps.kernels"

local Unsettled = policy.define { name = "kernels", doc = "Kernels that do not settle.", extends = Kernels }
Unsettled.run = Kernels.run

-- More than 32,768 prices of steps with prompts.
local function workload(requests)
  return require "workloads.closed_loop" { clients = 2, num_requests = requests,
    prompt_tokens = { distribution = "lognormal", mean = 600, sigma = 0.9, max = 9000 },
    output_tokens = { distribution = "uniform", min = 1, max = 2 } }
end

local function live_of(given, steps, parameters)
  local scenario = { rooflua = 1, seed = 7, steps = steps(parameters or {}), workload = workload(45000) }
  for key, value in pairs(given) do scenario[key] = value end
  return serve.open(scenario, { remember = false })
end

local function told(live)
  live:run()
  return json.encode(live:result().summary)
end

local settlings = 0
local settle = pricing.settle
function pricing.settle(bound)
  local did = settle(bound)
  settlings = settlings + (did and 1 or 0)
  return did
end

local cases = {
  ["full attention"] = { { model = "llama-3.1-8b", hardware = "h200-sxm" } },
  ["without graphs"] = { { model = "llama-3.1-8b", hardware = "h200-sxm" }, { largest_graph = 0, overlap = 0.3 } },
  ["modelled kernels"] = { { model = "qwen3-8b", hardware = "mi300x" } },
  ["latent attention"] = { { model = "deepseek-v3", hardware = "h200-sxm", deployment = { tp = 8, weights = "fp8" } } },
  ["sparse latent attention"] = { { model = "deepseek-v3.2", hardware = "b200-sxm", deployment = { tp = 8 } } },
  ["windows"] = { { model = "gpt-oss-120b", hardware = "h100-sxm", deployment = { tp = 2 } } },
  ["recurrent layers"] = { { model = "qwen3-next-80b-a3b", hardware = "h200-sxm", deployment = { tp = 4 } } },
  ["ranks of one engine"] = { { model = "mixtral-8x7b", hardware = "h200-sxm", deployment = { dp = 4, ep = 4 },
    router = "round_robin" } },
  ["drafts"] = { { model = "llama-3.1-8b", hardware = "h200-sxm",
    speculation = { speculator = require "speculators.fixed" { draft_tokens = 2 },
      acceptance = require "acceptance.constant" { rate = 0.7 }, drafter = require "drafters.free" {} } } },
}

local names = {}
for name in pairs(cases) do names[#names + 1] = name end
table.sort(names)

for _, name in ipairs(names) do
  test("a settled model prices as before: " .. name, function()
    local given, parameters = cases[name][1], cases[name][2]
    local before = settlings
    local with = told(live_of(given, Kernels, parameters))
    test.check(settlings > before, "it did not settle")
    before = settlings
    local without = told(live_of(given, Unsettled, parameters))
    test.equal(settlings, before, "a class that inherits settled")
    test.equal(with, without)
    test.equal(table.concat(settled.missing(), ", "), "", "fields that a settled object does not have")
  end)
end

test("a model settles once its grids are filled, and is read-only then", function()
  local bound
  local counted = pricing.settle
  function pricing.settle(given)
    bound = given
    return counted(given)
  end
  live_of(cases["full attention"][1], Kernels):run()
  pricing.settle = counted
  test.equal(type(bound.settled), "cdata")
  test.equal(bound.settled.host_step_s, bound.steps.host_step_s)
  test.equal(bound.settled.name, "kernels")
  test.raises("read-only", function() bound.settled.host_step_s = 1 end)
  local fresh = policy.fresh(Kernels {})
  test.equal(settled.of(fresh, {}), nil) -- it is not bound: nothing is known of its attention
end)

test("what settles() returns is checked", function()
  local answer
  local Wrong = policy.define { name = "wrong", doc = "Says what it is told.", params = {} }
  function Wrong:bind() self.part = {} end
  function Wrong:settles() return answer end
  function Wrong:time(batch) return 1e-3 * batch.requests end
  for found, message in pairs { ["wrong: settles() must return a list of names, or nil; found true"] = true,
    ["names 'other', which must be false or an object with a method settles; found nil"] = { "other" },
    ["names 'part', which must be false or an object with a method settles; found"] = { "part" } } do
    answer = message
    test.raises(found, function() live_of(cases["full attention"][1], Wrong):run() end)
    test.raises("settled_test.lua", function() live_of(cases["full attention"][1], Wrong):run() end)
  end
end)

test("a model that sets a field after it settled is told so", function()
  local Counts = policy.define { name = "counts", doc = "Counts its prices.", params = {} }
  function Counts:settles() return {} end
  function Counts:time(batch)
    self.count = (self.count or 0) + 1
    return 1e-3 * batch.requests
  end
  test.raises("read-only", function() live_of(cases["full attention"][1], Counts):run() end)
  test.raises("'count'", function() live_of(cases["full attention"][1], Counts):run() end)
end)

test("steps of a settled model stay in compiled code", function()
  local live, before = live_of(cases["full attention"][1], Kernels), settlings
  for _ = 1, 1000 do -- 45,000 requests of two clients take 1,500 s at most
    if settlings == before then live:run_until(live.now_s + 10) end
  end
  test.check(settlings > before, "it did not settle")
  local settled_at_s = live.now_s
  for _, line in ipairs(aborts.of(live.run_until, live, live.now_s + 50).lines) do -- is compiled now
    test.check(not line:find "bytecode" and not line:find "blacklisted", line)
  end
  local found = aborts.of(live.run, live)
  test.check(live.now_s > settled_at_s + 50, "too short to say anything")
  test.equal(found.aborts, 0, table.concat(found.lines, "; "))
end)

test("more models than are kept at the same time settle one after the other", function()
  for i = 1, 20 do
    local before = settlings
    local with = told(live_of(cases["full attention"][1], Kernels, { host_step_s = i * 1e-4 }))
    if settlings == before then collectgarbage() end -- the first ones price no longer
    if i == 1 or i == 20 then
      test.equal(with, told(live_of(cases["full attention"][1], Unsettled, { host_step_s = i * 1e-4 })))
    end
  end
  collectgarbage()
  collectgarbage()
  local before = settlings
  local with = told(live_of(cases["full attention"][1], Kernels, { host_step_s = 1e-2 }))
  test.check(settlings > before, "nothing was taken back")
  test.equal(with, told(live_of(cases["full attention"][1], Unsettled, { host_step_s = 1e-2 })))
end)

test.finish()
