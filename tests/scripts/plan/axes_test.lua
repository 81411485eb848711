-- The axes of a plan: what their rows say holds in the scenario, in the ladder, at the command line and in candidates.
local axes = require "rooflua.plan.axes"
local chunks = require "rooflua.sandbox.chunks"
local plan = require "rooflua.plan"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"
local setup = dofile "tests/scripts/plan/setup.lua"
local test = dofile "tests/scripts/harness.lua"

test("an axis of the deployment is a key of a scenario, and names are unique", function()
  local seen = {}
  for _, axis in ipairs(axes.rows()) do
    test.check(not seen[axis.name], "%s stands twice", axis.name)
    seen[axis.name] = true
    if axis.of == "deployment" then test.check(schema.entry("deployment." .. axis.name), "%s is no key", axis.name) end
    if axis.pool_of then test.check(seen[axis.pool_of], "%s is of no axis", axis.name) end
    if axis.of == "scheduler" then test.check(axis.default, "%s has no default", axis.name) end
  end
end)

test("the ladder has the parameters of the rows and no others; an option sets one of them", function()
  local known, left = policy.describe(chunks.require "candidates.ladder").params, {}
  for name in pairs(known) do left[name] = true end
  for _, axis in ipairs(axes.rows()) do
    local name = axis.parameter or axis.name
    test.equal(known[name] ~= nil, axis.values ~= nil, name)
    test.check(not axis.option or known[name], "%s has an option and no parameter", name)
    left[name] = nil
  end
  test.equal(next(left), nil)
end)

test("scripts get the rows, which they cannot change", function()
  test.equal(plan.axes()[2].name, "tp")
  test.raises("read-only", function() plan.axes()[2].least = 7 end)
end)

test("a field of another type is an error that names it", function()
  for problem, more in pairs {
    ["candidate 1: memory_utilization: expected"] = { memory_utilization = "x" },
    ["candidate 1: prefix_caching: expected true or false, found number 1"] = { prefix_caching = 1 },
    ["candidate 1: label: expected"] = { label = {} },
    ["candidate 1: dcp: expected a whole number"] = { dcp = 0 },
    ["candidate 1: split.prefill_ep: expected a whole"] = { split = { prefill = 1, decode = 1, prefill_ep = 0 } },
    ["unknown key 'dpc'; did you mean"] = { dpc = 2 },
  } do
    test.raises(problem, function()
      setup.searched { candidates = require "candidates.listed" { list = { more } } }
    end)
  end
end)

test("a value that is none leaves the name of a candidate", function()
  local found = setup.searched({ candidates = require "candidates.listed" { list = {
    { tp = 2, cp = 1, dcp = 1, expert_gpus = 0, micro_batches = 1, host_memory_gb = 0, memory_utilization = 0.8 } } } })
  local one = found.found.candidates[1]
  test.equal(one.name, "H100, tp 2, vllm, 256 seats, budget 8192, memory 0.8")
  test.equal(one.cp, nil)
end)

test.finish()
