-- The workload of `--bench` as a plan writes it down: its modules and the parameters that the command states.
local bench = require "rooflua.applied.bench"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"

local benched = {}

--- A policy as {module, params}; other values as they are.
local function node_of(value)
  if type(value) ~= "table" then return value end
  local is_policy, out = policy.is_instance(value), {}
  for name, each in pairs(is_policy and policy.parameters(value) or core.plain(value)) do
    if not is_policy or policy.is_given(value, name) then out[name] = node_of(each) end
  end
  return is_policy and { module = chunks.module_of_class(policy.class_of(value)), params = out } or out
end

local others = { "workload", "rate", "clients", "users" }

--- {workload, load, told} of a benchmark's command.
---@param given table the options of `rooflua plan`
function benched.of(given)
  for _, name in ipairs(others) do
    if given[name] ~= nil then core.fail("--bench and --%s: give one of them", name) end
  end
  local workload, told = bench.workload(given.bench)
  local load = bench.load(workload)
  if given.peak then load = core.copy(type(load) == "table" and load or {}, { peak = given.peak }) end
  return { workload = node_of(workload), load = load, told = told }
end

return benched
