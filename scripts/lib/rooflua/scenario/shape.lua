-- Whether a table has the shape of a scenario: its keys, and the types of those that every kind reads.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local schema = require "rooflua.scenario.schema"

local shape = {}

local newest = 1

--- Types that are checked here, whatever reads the key. A table is checked where it is read: it may be an object.
local is_plain = { text = true, boolean = true, ["function"] = true }

local function check_version(reader, version)
  if version == nil or type(version) == "number" and version <= newest then return end
  reader:fail("rooflua", "this scenario is of schema %s, this program reads up to %d; install a newer rooflua, or say "
    .. "rooflua = %d and see what `rooflua check` finds", tostring(version), newest, newest)
end

local function check_kind(reader, given, kind)
  schema.check(reader, "kind", kind)
  for _, key in ipairs { "model", "hardware" } do
    if given[key] == nil and given.replicas == nil then reader:fail(key, "is missing") end
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

local function check_seed(reader, seed)
  if seed ~= nil and (type(seed) ~= "number" or seed % 1 ~= 0 or seed < 0 or seed > 2147483647) then
    reader:fail("seed", "expected a whole number from 0 to 2147483647, found %s", core.describe(seed))
  end
end

--- Every key is one of a scenario's.
function shape.check_keys(reader, given) reader:at("", core.check_keys, given, schema.keys, reader.file) end

--- The kind of a scenario's table; what is no scenario is an error.
function shape.check(reader, given)
  if type(given) ~= "table" then
    reader:fail("", "expected the file to return a table, found %s", core.describe(given))
  end
  shape.check_keys(reader, given)
  check_version(reader, given.rooflua)
  local kind = given.kind or schema.entry("kind").default
  check_kind(reader, given, kind)
  for _, entry in ipairs(schema.fields()) do
    if is_plain[entry.type] then schema.check(reader, entry.path, given[entry.name]) end
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
      found(native.unknown_name("key", key, schema.keys))
    end
  end
  return kept
end

return shape
