-- Key paths of a scenario: "steps.prefill_divisor", "deployment.tp", "corrections.step_overhead.overhead_s".
local native = require "rooflua.native"
local application = require "rooflua.engines.application"
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local paths = {}

function paths.split(path)
  local parts = {}
  for part in path:gmatch "[^.]+" do parts[#parts + 1] = part end
  return parts
end

--- The value at a key path; nil where there is none. Policies are read by their parameters' names.
function paths.value(given, path)
  local value = given
  for _, part in ipairs(paths.split(path)) do
    if type(value) ~= "table" then return nil end
    value = core.plain(value)[part]
  end
  return value
end

local set_at

local function set_in_list(reader, path, list, parts, i, value)
  local position = tonumber(parts[i])
  if not position then
    for j, each in ipairs(list) do
      if policy.is_instance(each) and each.name == parts[i] then position = j end
    end
  end
  if not position or list[position] == nil then
    reader:fail(path, "the list has no '%s'", parts[i])
  end
  local out = {}
  for j, each in ipairs(list) do out[j] = each end
  out[position] = set_at(reader, path, out[position], parts, i + 1, value)
  return out
end

--- A copy of `owner` with the value at parts[i..] replaced; a policy becomes a new instance.
function set_at(reader, path, owner, parts, i, value)
  if i > #parts then return value end
  if policy.is_instance(owner) then
    if i < #parts then
      local inner = set_at(reader, path, policy.parameters(owner)[parts[i]], parts, i + 1, value)
      return reader:at(path, policy.with, owner, { [parts[i]] = inner })
    end
    return reader:at(path, policy.with, owner, { [parts[i]] = value })
  end
  if owner == nil then owner = {} end
  if type(owner) ~= "table" then
    reader:fail(path, "'%s' is %s, it has no parts", parts[i - 1] or "", core.describe(owner))
  end
  owner = core.plain(owner)
  if #owner > 0 then return set_in_list(reader, path, owner, parts, i, value) end
  local out = {}
  for key, each in pairs(owner) do out[key] = each end
  out[parts[i]] = set_at(reader, path, owner[parts[i]], parts, i + 1, value)
  return out
end

--- The same for a policy inside of a group, as speculation.speculator.
function paths.with_inner(reader, given, parts)
  local inner, group = tostring(parts[1]) .. "." .. tostring(parts[2]), given[parts[1]]
  if not schema.inner_policies[inner] or #parts < 3 or type(group) ~= "table" then return given end
  local found = core.plain(group)[parts[2]]
  if found == nil or type(found) == "table" and policy.is_instance(found) then return given end
  local copy, own = {}, {}
  for key, each in pairs(given) do copy[key] = each end
  for key, each in pairs(core.plain(group)) do own[key] = each end
  own[parts[2]] = policies.of(reader, inner, found)
  copy[parts[1]] = own
  return copy
end

--- A copy of a scenario with an option of its engine replaced: engine.max_num_seqs.
local function with_option(reader, given, option, value)
  local copy, engine = {}, given.engine
  if engine == nil then reader:fail("engine." .. option, "the scenario states no engine; set engine first") end
  for key, each in pairs(given) do copy[key] = each end
  copy.engine = { engine }
  if type(engine) == "table" then
    for key, each in pairs(core.plain(engine)) do copy.engine[key] = each end
  end
  copy.engine[option] = value
  return copy
end

--- A copy of a scenario with the value at a key path replaced.
function paths.set(reader, given, path, value)
  local parts = paths.split(path)
  local first = parts[1]
  if not first then reader:fail(path, "an empty key path") end
  if not schema.entry(first) then reader:fail(path, "%s", native.unknown_name("key", first, schema.keys)) end
  if first == "engine" and #parts > 1 then return with_option(reader, given, path:match "%.(.*)$", value) end
  if first == "corrections" and #parts > 1 then
    local list = given.corrections
    if list == nil or type(list) == "table" and not policy.is_instance(list) and #core.plain(list) == 0 then
      reader:fail(path, "the scenario has no corrections")
    end
  end
  -- A policy that is absent or given by name becomes an instance, so that its parameters can be replaced.
  if schema.default_policies[first] and #parts > 1 and type(given[first]) ~= "table" then
    local copy = {}
    for key, each in pairs(given) do copy[key] = each end
    copy[first] = policies.of(reader, first, given[first] or application.policy(reader, given, first))
    given = copy
  end
  return set_at(reader, path, paths.with_inner(reader, given, parts), parts, 1, value)
end

--- The same for a list of {path, value}.
function paths.apply(reader, given, changes)
  for _, change in ipairs(changes) do given = paths.set(reader, given, change.path, change.value) end
  return given
end

--- The same for a table of values by key path.
function paths.with(reader, given, values)
  for path, value in core.sorted_pairs(values) do given = paths.set(reader, given, path, value) end
  return given
end

return paths
