-- The policies of a scenario: an instance, a class, or a name ("kernels", "kernels:preset") becomes an instance.
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"
local kinds = require "rooflua.policy.kinds"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local policies = {}

--- Whether two names differ in case, or in one letter: another one, one less, or exchanged with the next one.
local function is_near(a, b)
  if a:lower() == b:lower() then return true end
  if #a > #b then a, b = b, a end
  local same = 0
  while same < #a and a:byte(same + 1) == b:byte(same + 1) do same = same + 1 end
  if #b - #a == 1 then return a:sub(same + 1) == b:sub(same + 2) end
  if #b ~= #a then return false end
  local exchanged = a:sub(same + 2, same + 2) .. a:sub(same + 1, same + 1)
  return a:sub(same + 2) == b:sub(same + 2)
    or exchanged == b:sub(same + 1, same + 2) and a:sub(same + 3) == b:sub(same + 3)
end

local checked = setmetatable({}, { __mode = "k" }) -- class -> folders

--- Refuses a method whose name is nearly that of one that is called: nothing calls it, and the result is another one.
local function check_methods(key, folder, instance)
  local class = policy.class_of(instance)
  local seen = checked[class] or {}
  if seen[folder] then return end
  local own, called = {}, {}
  for name, method in pairs(class) do
    if type(method) == "function" then
      local list = policy.has_own(instance, name) and own or called
      list[#list + 1] = name
    end
  end
  for _, name in ipairs(kinds.optional(folder)) do called[#called + 1] = name end
  table.sort(own)
  for _, name in ipairs(own) do
    for _, other in ipairs(core.is_among(name, called) and {} or called) do
      if not core.is_among(other, own) and is_near(name, other) then
        answers.wrong(key, instance, name, "nothing calls '%s'; did you mean '%s'? Another method needs another name",
          name, other)
      end
    end
  end
  seen[folder], checked[class] = true, seen
end

--- The policy instance at a key of a scenario; what the key defaults to where nothing is given.
local function found(reader, key, given)
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

--- The same, with methods whose names are those that are called.
function policies.of(reader, key, given)
  local instance = found(reader, key, given)
  check_methods(key, schema.folders[key], instance)
  return instance
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
    local one = policies.of(reader, "corrections", each)
    if type(one.op) ~= "function" and type(one.step) ~= "function" then
      reader:fail(key, "'%s' has neither an op nor a step method", tostring(one.name))
    end
    if policy.definition(steps).params[one.name] ~= nil and policy.parameters(steps)[one.name] ~= nil then
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
  if not policy.definition(steps).params.bucketing then
    reader:fail("bucketing", "the step model %s takes none", steps.name)
  end
  if type(bucketing.groups) ~= "function" then
    reader:fail("bucketing", "%s has no groups method", bucketing.name)
  end
  return reader:at("bucketing", policy.with, steps, { bucketing = bucketing })
end

return policies
