-- A scenario with values replaced at key paths: "steps.prefill_divisor", "corrections.step_overhead.overhead_s".
local native = require "rooflua.native"
local application = require "rooflua.applied.application"
local core = require "rooflua.base.core"
local named_policies = require "rooflua.sandbox.named_policies"
local options = require "rooflua.applied.options"
local paths = require "rooflua.scenario.paths"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"
local shape = require "rooflua.scenario.shape"

local changes = {}

--- The declaration of a part: of a field, or of an entry of a list.
---@param above table? the declaration of what it is a part of; nil at the top
local function entry_of(above, part)
  if above == nil then return schema.entry(part) end
  if above.same_as then above = schema.entry(above.same_as) end
  if above.named then return { path = above.path .. ".*", name = part, type = "table" } end
  local field = schema.entry(above.path .. "." .. part)
  if field or above.folder then return field or above.type ~= "policy" and above or nil end -- each entry is a policy
  if above.type:find "list" and tonumber(part) then
    return { path = above.path .. "[]", name = above.name, type = "table" }
  end
end

--- A lookup in Lua by its name.
local function lookup_of(reader, name)
  return reader:at("mfu.lookup", named_policies.instance, "lookup", name)
    or reader:fail("mfu.lookup", "'%s' has no parameters: it is no policy of scripts/lookup nor of a folder `lookup` "
      .. "beside the scenario", name)
end

--- A value whose parts are replaced: the name of a policy or its class stands for an instance, no value for what the
--- key defaults to, and the name of a lookup for the table that has it.
local function with_parts(reader, entry, owner)
  if not entry then return owner end
  if entry.name == "mfu" and type(owner) == "string" then return { lookup = owner } end
  local is_named = type(owner) == "string" or policy.is_class(owner)
  if not entry.folder or not (is_named or owner == nil and entry.type == "policy") then return owner end
  if entry.name == "lookup" then
    return policy.is_class(owner) and reader:at("mfu.lookup", owner, {}) or lookup_of(reader, owner)
  end
  if owner == nil then owner = entry.default end
  if owner == nil then reader:fail(entry.path, "the scenario states none, so it has no parts to set") end
  return policies.of(reader, schema.folders[entry.path] and entry.path or entry.name, owner)
end

local set_at

local function set_in_list(reader, path, list, entry, parts, i, value)
  local position, out = tonumber(parts[i]), {}
  for j, each in ipairs(list) do
    out[j] = each
    local one = not position and with_parts(reader, entry, each) or each
    if policy.is_instance(one) and (one.name == parts[i] or each == parts[i]) then position, out[j] = j, one end
    if not position and paths.has_name(each, parts[i]) then position = j end
  end
  if not position or list[position] == nil then
    local names = {}
    for _, each in ipairs(list) do
      local one = with_parts(reader, entry, each)
      names[#names + 1] = type(one) == "table" and type(one.name) == "string" and one.name or nil
    end
    reader:fail(path, "the list has no '%s'%s", parts[i],
      #names > 0 and (" (it has: %s)"):format(core.join(names, ", ")) or "")
  end
  out[position] = set_at(reader, path, out[position], entry_of(entry, parts[i]), parts, i + 1, value)
  return out
end

--- The same for a parameter of a policy. A parameter that is a policy by its name becomes an instance.
local function set_in_policy(reader, path, owner, parts, i, value)
  if i < #parts then
    local inner, about = policy.parameters(owner)[parts[i]], policy.definition(owner).params[parts[i]]
    if about and about.policy and type(inner) == "string" then
      inner = reader:at(path, named_policies.instance, about.policy, inner) or inner
    end
    value = set_at(reader, path, inner, nil, parts, i + 1, value)
  end
  return reader:at(path, policy.with, owner, { [parts[i]] = value })
end

--- A model or a GPU that is named, in a table that begins with it, so that a key of it can be changed.
local function beginning_with(reader, path, parts, i, owner)
  local name = parts[i - 1]
  if type(owner) ~= "string" or name ~= "model" and name ~= "hardware" then return owner end
  if #parts > i then
    reader:fail(path, "'%s' is a table of the %s, which is replaced as a whole; say --set '%s.%s={...}'", parts[i],
      name, name, parts[i])
  end
  return { from = owner }
end

--- A copy of `owner` with the value at parts[i..] replaced; a policy becomes a new instance.
---@param entry table? the declaration of `owner`; nil for the scenario and for what nothing declares
function set_at(reader, path, owner, entry, parts, i, value)
  if i > #parts then return value end
  owner = beginning_with(reader, path, parts, i, with_parts(reader, entry, owner))
  if policy.is_instance(owner) then return set_in_policy(reader, path, owner, parts, i, value) end
  if owner == nil then owner = {} end
  if type(owner) ~= "table" then
    reader:fail(path, "'%s' is %s, it has no parts", parts[i - 1] or "", core.describe(owner))
  end
  owner = core.plain(owner)
  if #owner > 0 then return set_in_list(reader, path, owner, entry, parts, i, value) end
  local out = core.copy(owner)
  out[parts[i]] = set_at(reader, path, owner[parts[i]], entry_of(entry, parts[i]), parts, i + 1, value)
  return out
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
function changes.set(reader, given, path, value)
  local parts = paths.split(path)
  local first = parts[1]
  if not first then reader:fail(path, "an empty key path") end
  if not schema.entry(first) then
    reader:fail(path, "%s", shape.with_hint(native.unknown_name("key", first, schema.keys), first))
  end
  local option = #parts > 1 and options.stated_at(reader, given, path)
  if option then reader:fail(path, "the scenario says it as engine.%s; change engine.%s", option, option) end
  if first == "engine" and #parts > 1 then return with_option(reader, given, path:match "%.(.*)$", value) end
  if first == "corrections" and #parts > 1 then
    local list = given.corrections
    if list == nil or type(list) == "table" and not policy.is_instance(list) and #core.plain(list) == 0 then
      reader:fail(path, "the scenario has no corrections")
    end
  end
  if given[first] == nil and schema.default_policies[first] and #parts > 1 then -- what the engine names
    local copy = core.copy(given)
    copy[first] = policies.of(reader, first, application.policy(reader, given, first))
    given = copy
  end
  return set_at(reader, path, given, nil, parts, 1, value)
end

--- The same for a list of {path, value}.
function changes.apply(reader, given, list)
  for _, change in ipairs(list) do given = changes.set(reader, given, change.path, change.value) end
  return given
end

--- The same for a table of values by key path.
function changes.with(reader, given, values)
  for path, value in core.sorted_pairs(values) do given = changes.set(reader, given, path, value) end
  return given
end

return changes
