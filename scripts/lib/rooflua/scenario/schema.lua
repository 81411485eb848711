-- What keys.lua declares, by key path: names, kinds, ranges, and the check of a value's type.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local in_words = require "rooflua.base.in_words"
local declared = require "rooflua.scenario.keys"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"

local schema = {}

---@class rooflua.ScenarioKey
---@field path string "deployment.tp"; a field of a list's entries is "replicas[].role", of named ones "links.*.alpha_s"
---@field name string
---@field type string
---@field doc string
---@field kinds table<string, boolean> of scenario that read it

local by_path, top, all = {}, {}, {}

local sets = {} -- text of words -> the words as a set

local function words(text)
  if not sets[text] then
    sets[text] = {}
    for word in text:gmatch "%S+" do sets[text][word] = true end
  end
  return sets[text]
end

--- The declaration of a replica's own field: that of the top-level key, without what holds only there.
local function own_of_replica(given)
  local entry = core.copy(by_path[given.same_as])
  entry.same_as, entry.kinds, entry.default, entry.range, entry.fields = given.same_as, nil, nil, nil, nil
  return entry
end

--- Makes an entry of a declaration: its path, its group, and what it has from that.
local function add(given, group)
  local entry = given.same_as and own_of_replica(given) or given
  local list = group and (group.named and ".*" or group.type:find "list" and "[]") or ""
  entry.group, entry.path = group, group and group.path .. list .. "." .. given.name or given.name
  entry.kinds = type(entry.kinds) == "string" and words(entry.kinds) or group.kinds
  entry.goals = entry.goals and words(entry.goals)
  entry.read_by = entry.read_by or group and group.read_by
  by_path[entry.path], all[#all + 1] = entry, entry
  for i, field in ipairs(entry.fields or {}) do entry.fields[i] = add(field, entry) end
  return entry
end
for i, given in ipairs(declared) do top[i] = add(given) end

--- The entry at a key path; nil where nothing is declared.
function schema.entry(path) return by_path[path] end
--- Every entry: a group, then its fields.
function schema.all() return all end
--- Entries of a group's fields; of the scenario itself without a path.
function schema.fields(path) return path and by_path[path].fields or top end

--- Names of the fields for which `keep(entry)` holds (all without it), in declared order.
function schema.names(path, keep)
  local out = {}
  for _, entry in ipairs(schema.fields(path)) do
    if not keep or keep(entry) then out[#out + 1] = entry.name end
  end
  return out
end

--- The keys that a scenario may have, in declared order.
schema.keys = schema.names()

--- Keys that hold policies: key -> the folder where their names are looked for.
schema.folders = {}
--- Of them those that are one policy and have a default: key -> its name.
schema.default_policies = {}
for _, entry in ipairs(top) do
  schema.folders[entry.name] = entry.folder
  if entry.type == "policy" then schema.default_policies[entry.name] = entry.default end
end
--- Policies inside of a group, by key path: "speculation.drafter".
schema.inner_policies = {}
for _, entry in ipairs(all) do
  if entry.folder and entry.group and not entry.same_as then schema.folders[entry.path] = entry.folder end
  if entry.type == "policy" and entry.group and not entry.same_as then
    schema.inner_policies[entry.path], schema.folders[entry.name] = true, entry.folder
  end
end

local policy_folders -- once it was asked for

--- Key paths that take a policy -> the folder where its name is looked for; "metrics.*" are policies by names of the
--- user.
function schema.policy_folders()
  if policy_folders then return policy_folders end
  policy_folders = {}
  for _, entry in ipairs(all) do
    if entry.folder then policy_folders[entry.path .. (entry.type == "table" and ".*" or "")] = entry.folder end
    for _, inner in ipairs(entry.same_as and all or {}) do -- keys inside of a replica's own group
      if inner.folder and inner.path:sub(1, #entry.same_as + 1) == entry.same_as .. "." then
        policy_folders[entry.path .. inner.path:sub(#entry.same_as + 1)] = inner.folder
      end
    end
  end
  return policy_folders
end

--- Keys of a group that one module reads, as a set.
function schema.read_by(path, module)
  local out = {}
  for _, entry in ipairs(schema.fields(path)) do out[entry.name] = entry.read_by == module or nil end
  return out
end

--- Keys that only scenarios of one kind read, and that bear its name: "price", "static", "search".
function schema.of_one_kind()
  return schema.names(nil, function(entry)
    return entry.kinds[entry.name] and next(entry.kinds, next(entry.kinds)) == nil
  end)
end

--- Ranges of the numbers that no policy declares: key path -> {min, max, integer, default}.
function schema.ranges()
  local out = {}
  for _, entry in ipairs(all) do out[entry.path] = entry.range end
  return out
end

-- Checks ----------------------------------------------------------------------------------------------------

local function expected(lua_type, name)
  return function(reader, entry, value)
    if type(value) ~= lua_type then reader:fail(entry.name, "expected %s, found %s", name, core.describe(value)) end
  end
end

local function check_text(reader, entry, value)
  if type(value) ~= "string" then reader:fail(entry.name, "expected text, found %s", core.describe(value)) end
  if not native.is_plain(value) then
    reader:fail(entry.name, "expected UTF-8 without control characters, found %s", core.describe(value))
  end
end

local checks = { text = check_text, table = expected("table", "a table"),
  ["function"] = expected("function", "a function"), boolean = expected("boolean", "true or false") }

function checks.choice(reader, entry, value)
  for _, each in ipairs(entry.values) do
    if value == each then return end
  end
  reader:fail(entry.name, "%s", type(value) == "string" and native.unknown_name(entry.name, value, entry.values)
    or "expected text, found " .. core.describe(value))
end

--- Refuses a number out of the bounds of its figure.
local function check_figure(reader, entry, value)
  local problem = native.figure_problem(entry.figure_of, entry.name, value)
  if problem ~= "" then reader:fail(entry.name, "%s%s", problem, in_words.hint(value, entry.unit)) end
end

--- Refuses a value that is not of the declared type, with its key path.
---@param reader table a reader at the group of this key
---@param path string of the declaration
function schema.check(reader, path, value)
  local entry = by_path[path]
  local check = entry.figure_of and check_figure or checks[entry.type]
  if value ~= nil and entry.checked ~= false and check then check(reader, entry, value) end
  return value
end

--- A group, all of whose keys are known and have values as they are declared; empty where it is left out.
---@param reader table a reader at what holds the group
function schema.check_group(reader, path, group)
  if schema.check(reader, path, group) == nil then return {} end
  local plain, inside = core.plain(group), reader:child(path)
  reader:at(path, core.check_keys, plain, schema.names(path), path)
  for name, value in core.sorted_pairs(plain) do schema.check(inside, path .. "." .. name, value) end
  return plain
end

--- A table of groups by name, each of which check_group would take: a list of {name, group} by name.
function schema.check_named(reader, path, groups)
  local out, inside = {}, reader:child(path)
  for name, group in core.sorted_pairs(core.plain(schema.check(reader, path, groups) or {})) do
    if type(name) ~= "string" or not name:match "^[%a_][%w_]*$" then
      reader:fail(path, "expected names such as `nic`, found %s", core.describe(name))
    end
    if type(group) ~= "table" then inside:fail(name, "expected a table, found %s", core.describe(group)) end
    local plain, within = core.plain(group), inside:child(name)
    inside:at(name, core.check_keys, plain, schema.names(path), path .. "." .. name)
    for key, value in core.sorted_pairs(plain) do schema.check(within, path .. ".*." .. key, value) end
    out[#out + 1] = { name = name, group = plain }
  end
  return out
end

--- A list of groups: {name = ..}, {name = ..}. Returns the groups, plain.
function schema.check_list(reader, path, list)
  local name, out = by_path[path].name, {}
  if list == nil then return out end
  if type(list) ~= "table" or policy.is_instance(list) or policy.is_class(list) then
    reader:fail(name, "expected a list of tables, found %s", core.describe(list))
  end
  local plain = core.plain(list)
  for _, key in ipairs(core.sorted_keys(plain)) do
    if type(key) ~= "number" or key < 1 or key > #plain or key % 1 ~= 0 then
      reader:fail(name, "expected a list of tables, as in { { ... } }, found the key %s", core.describe(key))
    end
  end
  for i, group in ipairs(plain) do
    local where = ("%s[%d]"):format(name, i)
    if type(group) ~= "table" or policy.is_instance(group) or policy.is_class(group) then
      reader:fail(where, "expected a table, found %s", core.describe(group))
    end
    local inside = reader:child(where)
    out[i] = core.plain(group)
    reader:at(where, core.check_keys, out[i], schema.names(path), reader:key(where))
    for key, value in core.sorted_pairs(out[i]) do schema.check(inside, path .. "[]." .. key, value) end
  end
  return out
end

--- Refuses what is no number at a key that is one.
function schema.check_number(reader, path, value)
  if value ~= nil and (type(value) ~= "number" or value ~= value) then
    reader:fail(by_path[path].name, "expected a number, found %s", core.describe(value))
  end
end

--- Refuses what is no policy, and no name of one.
---@param is_unread boolean? nothing else looks for what a text names
function schema.check_policy(reader, path, value, is_unread)
  if value ~= nil and type(value) ~= "string" and not policy.is_instance(value) and not policy.is_class(value) then
    reader:fail(by_path[path].name, "expected a policy (require \"%s.NAME\" {}), found %s", by_path[path].folder,
      core.describe(value))
  end
  local folder = by_path[path].folder
  if is_unread and type(value) == "string" and not reader:at(path, named_policies.class, folder, value) then
    reader:fail(path, "%s", named_policies.unknown(folder, value))
  end
end

return schema
