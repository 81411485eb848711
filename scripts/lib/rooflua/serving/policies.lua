-- The policies of a scenario as plain data, for files of other programs: {model, engine, block_size, has_roles, router,
-- admission, pools, classes}; `engine` where it is stated. A policy is {name, parameters}; `own` where its file is none
-- of the shipped ones.
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local pools = require "rooflua.serving.pools"

local policies = {}

local function is_finite(value) return type(value) ~= "number" or value == value and math.abs(value) < math.huge end

--- A value without functions and policies; nil where nothing is left.
local function plain(value)
  if policy.is_instance(value) or policy.is_class(value) then return nil end
  if type(value) == "function" or type(value) == "userdata" or not is_finite(value) then return nil end
  if type(value) ~= "table" then return value end
  local out = {}
  for key, each in pairs(core.plain(value)) do out[key] = plain(each) end
  return next(out) and out or nil
end

local function is_shipped(folder, instance)
  local name = policy.definition(instance).name
  return native.file_exists(("%s/scripts/%s/%s.lua"):format(native.home, folder, name))
    and policy.class_of(instance) == chunks.shipped(folder .. "." .. name)
end

--- @param folder string of its kind: "routers"
--- @param instance table? nil: the scenario has none
function policies.told(folder, instance)
  if not policy.is_instance(instance) then return nil end
  local parameters = {}
  for key, value in pairs(policy.parameters(instance)) do parameters[key] = plain(value) end
  return { name = policy.definition(instance).name, parameters = parameters, own = not is_shipped(folder, instance) }
end

--- Pools with an autoscaler.
local function pools_of(given)
  local out = {}
  if type(given.replicas) ~= "table" then return out end
  for _, own in ipairs(core.plain(given.replicas)) do
    own = core.plain(own)
    if pools.is_pool(own) and own.autoscaler then
      out[#out + 1] = { autoscaler = policies.told("autoscalers", own.autoscaler), min = own.min or 1, max = own.max,
        role = own.role }
    end
  end
  return out
end

--- Classes with a priority: parts of workloads.mix.
local function classes_of(workload)
  local out = {}
  if not policy.is_instance(workload) or not policy.is_a(workload, "mix") then return out end
  for _, part in ipairs(core.plain(policy.parameters(workload).parts)) do
    out[#out + 1] = { name = part.name, priority = part.priority }
  end
  return out
end

local function states_engine(given)
  local replicas = type(given.replicas) == "table" and core.plain(given.replicas) or {}
  for _, own in ipairs(replicas) do
    if core.plain(own).engine ~= nil then return true end
  end
  return given.engine ~= nil
end

--- @param given table a scenario
--- @param first table its first replica (serving/replicas.lua)
function policies.of(given, first)
  local engine, role = first.prepared.engine, first.config.role
  return { model = first.prepared.model.name, engine = engine and states_engine(given) and engine.engine.name or nil,
    block_size = first.config.block_size, has_roles = role ~= nil and role ~= "both",
    router = policies.told("routers", given.router), admission = policies.told("admission", given.admission),
    pools = pools_of(given), classes = classes_of(given.workload) }
end

return policies
