-- Whether a table has the shape of a scenario: its keys, and the types of those that every kind reads.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local shape = {}

local newest = 1

--- Types that are checked here, whatever reads the key. A table is checked where it is read: it may be an object.
local is_plain = { text = true, boolean = true, choice = true, ["function"] = true }

local function check_version(reader, version)
  if version == nil or type(version) == "number" and version <= newest then return end
  if type(version) ~= "number" then reader:fail("rooflua", "expected %d, found %s", newest, core.describe(version)) end
  reader:fail("rooflua", "this scenario is of schema %s, this program reads up to %d; install a newer rooflua, or say "
    .. "rooflua = %d and see what `rooflua check` finds", tostring(version), newest, newest)
end

local function check_kind(reader, given, kind)
  schema.check(reader, "kind", kind)
  for _, key in ipairs { "model", "hardware" } do
    local is_chosen = key == "hardware" and kind == "plan"
    if given[key] == nil and given.replicas == nil and not is_chosen then reader:fail(key, "is missing") end
  end
  -- With a kind said, the key of another kind may wait for `--set kind=`.
  for _, key in ipairs(schema.of_one_kind()) do
    if given[key] ~= nil and given.kind == nil then
      reader:fail(key, "only kind \"%s\" reads it: say kind = \"%s\", or leave it out", key, key)
    end
  end
  if kind == "price" and (type(given.price) ~= "table" or #core.plain(given.price) == 0) then
    reader:fail("price", "expected a list of batches")
  end
  if kind == "search" and type(given.search) ~= "table" then
    reader:fail("search",
      "expected a table, as in { goal = \"rate\", slo = { ttft_s_p99 = 0.5 }, min = 1, max = 100 }")
  end
end

local function check_plan(reader, given, kind)
  if kind == "plan" and type(given.plan) ~= "table" then
    reader:fail("plan", "expected a table, as in { load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 1 }, "
      .. "gpus = { \"h100-sxm\" } }")
  end
end

local function check_seed(reader, seed)
  if seed ~= nil and (type(seed) ~= "number" or seed % 1 ~= 0 or seed < 0 or seed > 2147483647) then
    reader:fail("seed", "expected a whole number from 0 to 2147483647, found %s", core.describe(seed))
  end
end

--- What stands for keys of other programs, which no place here has.
local elsewhere = { prefill_replicas = 'say role = "prefill" in an entry of `replicas`',
  decode_replicas = 'say role = "decode" in an entry of `replicas`' }

--- Where an unknown key of the top belongs: "; tp is a key of deployment"; "" where nothing has it.
local function hint(key)
  if elsewhere[key] then return "; " .. elsewhere[key] end
  for _, entry in ipairs(schema.all()) do
    local group = entry.group
    if group and entry.name == key and not entry.same_as then
      return ("; %s is a key of %s%s"):format(key, group.path, group.type:find "list" and "'s entries" or "")
    end
  end
  return ""
end

--- A message about an unknown key that also says where the key belongs.
function shape.with_hint(message, key)
  local text = hint(key)
  local at = message:find(" (known:", 1, true)
  return at and message:sub(1, at - 1) .. text .. message:sub(at) or message .. text
end

--- Every key is one of a scenario's.
function shape.check_keys(reader, given)
  local ok, problem = pcall(core.check_keys, given, schema.keys, reader.file)
  if ok then return end
  for _, key in ipairs(core.sorted_keys(given)) do
    if type(key) == "string" and not schema.entry(key) then problem = shape.with_hint(tostring(problem), key) end
  end
  local before = reader.file .. ": "
  local _, last = tostring(problem):find(before, 1, true)
  if last and native.file_exists(reader.file) then
    reader:fail("", "%s", problem:sub(last + 1)) -- with the line of the key
  end
  reader:at("", error, problem, 0)
end

--- Refuses fields of a group that are not of their declared type. Searches and plans read some of them for each
--- deployment that they try, where a wrong one would look like a deployment that does not fit.
local function check_fields(reader, entry, group, kind)
  if type(group) ~= "table" or policy.is_instance(group) or policy.is_class(group) then return end
  local inner, plain = reader:child(entry.name), core.plain(group)
  if entry.name == "disaggregation" then -- every unknown key, in front of wrong values
    reader:at(entry.name, core.check_keys, plain, schema.names(entry.path), entry.path)
  end
  for _, field in ipairs(entry.fields) do
    local is_number = field.type == "number" or field.type == "integer"
    if field.type == "boolean" or field.type == "choice" or field.figure_of then
      schema.check(inner, field.path, plain[field.name])
    elseif is_number and (kind == "search" or kind == "plan") then
      schema.check_number(inner, field.path, plain[field.name])
    elseif field.fields and field.type == "list" then
      schema.check_list(inner, field.path, plain[field.name])
    end
  end
end

--- The kind of a scenario's table; what is no scenario is an error.
function shape.check(reader, given)
  if type(given) ~= "table" then
    reader:fail("", "expected the file to return a table, found %s", core.describe(given))
  end
  shape.check_keys(reader, given)
  check_version(reader, given.rooflua)
  local kind = given.kind or schema.entry("kind").default
  check_kind(reader, given, kind)
  check_plan(reader, given, kind)
  for _, entry in ipairs(schema.fields()) do
    if is_plain[entry.type] then schema.check(reader, entry.path, given[entry.name]) end
    if entry.type == "policy" then schema.check_policy(reader, entry.path, given[entry.name], not entry.kinds[kind]) end
    if entry.named and entry.kinds[kind] then
      schema.check_named(reader, entry.path, given[entry.name])
    elseif entry.fields and entry.type == "table" and entry.kinds[kind] then
      check_fields(reader, entry, given[entry.name], kind)
    end
  end
  check_seed(reader, given.seed)
  return kind
end

--- Every unknown key, not only the first; the table without them.
---@param found function message -> nothing
function shape.known_keys(returned, found)
  local kept = {}
  for _, key in ipairs(core.sorted_keys(core.plain(returned))) do
    if type(key) ~= "string" then
      found("expected named keys, found key " .. core.describe(key))
    elseif schema.entry(key) and not key:find(".", 1, true) then
      kept[key] = core.plain(returned)[key]
    else
      found(shape.with_hint(native.unknown_name("key", key, schema.keys), key))
    end
  end
  return kept
end

return shape
