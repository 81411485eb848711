-- The policies of a scenario: an instance, a class, or a name ("kernels", "kernels:preset") becomes an instance.
local core = require "rooflua.base.core"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local policies = {}

--- The policy instance at a key of a scenario; what the key defaults to where nothing is given.
function policies.of(reader, key, given)
  local folder = schema.folders[key]
  if given == nil then given = schema.default_policies[key] end
  if policy.is_instance(given) then return given end
  if policy.is_class(given) then return reader:at(key, function() return given {} end) end
  if type(given) ~= "string" then
    reader:fail(key, "expected a policy (require \"%s.NAME\" {}), found %s", folder, core.describe(given))
  end
  return reader:at(key, named_policies.instance, folder, given)
    or reader:fail(key, "%s", named_policies.unknown(folder, given))
end

--- The same, with the method that policies of its folder have.
function policies.with_method(reader, key, given, method)
  local instance = policies.of(reader, key, given)
  if type(instance[method]) ~= "function" then
    reader:fail(key, "%s has no %s method", tostring(instance.name), method)
  end
  return instance
end

--- The list at the key `corrections`, checked.
function policies.list(reader, given)
  if type(given) ~= "table" or policy.is_instance(given) or policy.is_class(given) then
    reader:fail("corrections", "expected a list of corrections, as in { require \"corrections.step_overhead\" {} }")
  end
  local list = core.plain(given)
  for _, key in ipairs(core.sorted_keys(list)) do
    if type(key) ~= "number" or key < 1 or key > #list or key % 1 ~= 0 then
      reader:fail("corrections", "expected a list of corrections, found the key %s", core.describe(key))
    end
  end
  return list
end

--- The corrections of a scenario as instances. `steps` is its step model, whose parameters they may not repeat.
function policies.corrections(reader, given, steps)
  local out = {}
  if given == nil then return out end
  for i, each in ipairs(policies.list(reader, given)) do
    local key = "corrections[" .. i .. "]"
    local one = policy.is_instance(each) and each or policies.of(reader, "corrections", each)
    if type(one.op) ~= "function" and type(one.step) ~= "function" then
      reader:fail(key, "'%s' has neither an op nor a step method", tostring(one.name))
    end
    if policy.describe(steps).params[one.name] ~= nil and policy.parameters(steps)[one.name] ~= nil then
      reader:fail(key, "'%s' is a parameter of the step model %s as well; use one of them", one.name, steps.name)
    end
    out[i] = one
  end
  return out
end

--- The step model of a scenario, with the bucketing that the scenario gives it.
function policies.steps(reader, given)
  local steps = policies.of(reader, "steps", given.steps)
  if given.bucketing == nil then return steps end
  local bucketing = policies.of(reader, "bucketing", given.bucketing)
  if not policy.describe(steps).params.bucketing then
    reader:fail("bucketing", "the step model %s takes none", steps.name)
  end
  if type(bucketing.groups) ~= "function" then
    reader:fail("bucketing", "%s has no groups method", bucketing.name)
  end
  return reader:at("bucketing", policy.with, steps, { bucketing = bucketing })
end

return policies
