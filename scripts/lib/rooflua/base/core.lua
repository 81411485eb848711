-- Functions that every module of the library uses: errors with the user's line, checks, read-only tables,
-- pairs in a fixed order. Lua's own functions are taken here before any script can replace them.
local native = require "rooflua.native"

local core = {}

local type, pairs, next, rawget, setmetatable, getmetatable = type, pairs, next, rawget, setmetatable, getmetatable
local tostring, select, unpack, sort, concat = tostring, select, unpack, table.sort, table.concat
local format, floor = string.format, math.floor

--- Raises `message`, with the line of the user's script in front.
---@param message string
function core.fail(message, ...)
  if select("#", ...) > 0 then message = format(message, ...) end
  return native.fail(message)
end
local fail = core.fail

--- What a value is, for messages: "nil", "number -1", "text \"x\"", "a table".
function core.describe(value)
  local kind = type(value)
  if kind == "nil" or kind == "boolean" then return tostring(value) end
  if kind == "number" then
    if value ~= value then return "nan" end
    return "number " .. format("%.14g", value)
  end
  if kind == "string" then
    return format("text \"%s\"", native.printable(#value > 60 and value:sub(1, 60) .. "..." or value)
      :gsub("[\n\t\"]", { ["\n"] = "\\n", ["\t"] = "\\t", ['"'] = '\\"' }))
  end
  if kind == "userdata" then
    local class = core.class_name(value)
    return class and "a " .. class or "a foreign object"
  end
  if kind == "cdata" then return "an object" end
  if kind == "thread" then return "a coroutine" end
  return "a " .. kind
end
local describe = core.describe

--- "unknown parameter 'x'; did you mean 'y'? (known: ...)"; for a value that is no name "expected a parameter (known:
--- ...), found a table".
function core.unknown_name(kind, found, known)
  if type(found) == "string" or type(found) == "number" then
    return native.unknown_name(kind, tostring(found), known)
  end
  return format("expected %s %s (known: %s), found %s", kind:find "^[aeiou]" and "an" or "a", kind, concat(known, ", "),
    describe(found))
end

--- Order of keys: booleans, numbers, text.
local function before(a, b)
  local kind_a, kind_b = type(a), type(b)
  if kind_a == kind_b then
    if kind_a == "number" or kind_a == "string" then return a < b end
    if kind_a == "boolean" then return not a and b end
    return false
  end
  return kind_a < kind_b
end

core.before = before

--- Sorted keys of a table. Keys without an order (tables, functions) come last, as `next` gives them; with
--- `refuse` they are passed to refuse(key).
function core.sorted_keys(t, refuse)
  local keys, others, count, other_count = {}, {}, 0, 0
  local first, is_mixed
  for key in next, t do
    local kind = type(key)
    if kind == "number" or kind == "string" or kind == "boolean" then
      count = count + 1
      keys[count] = key
      first = first or kind
      is_mixed = is_mixed or kind ~= first
    else
      if refuse then refuse(key) end
      other_count = other_count + 1
      others[other_count] = key
    end
  end
  if is_mixed or first == "boolean" then
    sort(keys, before)
  elseif count > 1 then
    sort(keys) -- the same order, without a call of Lua for each comparison
  end
  for i = 1, other_count do keys[count + i] = others[i] end
  return keys
end
local sorted_keys = core.sorted_keys

--- Like pairs, in an order that does not depend on hashes.
function core.sorted_pairs(t, refuse)
  local meta = debug.getmetatable(t)
  if type(meta) == "table" and meta.__pairs then return meta.__pairs(t) end
  local fields = core.fields_of and core.fields_of(t)
  if fields then t = fields end
  if type(t) ~= "table" then fail("pairs: expected a table, found %s", describe(t)) end
  local keys, i = sorted_keys(t, refuse), 0
  return function()
    local key, value
    repeat
      i = i + 1
      key = keys[i]
      if key == nil then return nil end
      value = rawget(t, key)
    until value ~= nil
    return key, value
  end
end

--- pairs for trusted scripts. Views, engine objects and tables with __pairs are walked as in other scripts; all
--- other tables as in plain Lua.
function core.pairs(t)
  local meta = debug.getmetatable(t)
  if type(t) == "userdata" or type(meta) == "table" and (rawget(meta, "__pairs") or core.contents[t]) then
    return core.sorted_pairs(t)
  end
  return pairs(t)
end

-- Read-only tables: an empty table in front of the real one. `contents` finds the real one again.
local contents = setmetatable({}, { __mode = "k" })
core.contents = contents

--- A read-only view of `t`. `what` names it in messages; unknown keys are errors if `strict`.
function core.readonly(t, what, strict)
  local view = {}
  contents[view] = t
  local index = t
  if strict then
    index = function(_, key)
      local value = t[key]
      if value ~= nil then return value end
      local known = {}
      for _, name in ipairs(sorted_keys(t)) do known[#known + 1] = tostring(name) end
      return fail("%s", what .. ": " .. core.unknown_name("field", key, known))
    end
  end
  local own = getmetatable(t)
  return setmetatable(view, {
    __index = index,
    __call = type(own) == "table" and own.__call or nil,
    __newindex = function(_, key) fail("%s is read-only (assigning '%s')", what, tostring(key)) end,
    __metatable = false,
  })
end

--- The table that a read-only view shows, or the table itself.
function core.plain(t) return contents[t] or t end

--- A new table with the entries of these tables: of two entries with one key the later one. nil has none.
function core.copy(...)
  local out = {}
  for i = 1, select("#", ...) do
    local t = select(i, ...)
    for key, value in pairs(contents[t] or t or {}) do out[key] = value end
  end
  return out
end

--- A table in which each value of a list is a key with the value true.
function core.set(list)
  local out = {}
  for i = 1, #list do out[list[i]] = true end
  return out
end

--- The values of a list from a place on, as a new list.
function core.rest(list, first)
  local out = {}
  for i = first, #list do out[#out + 1] = list[i] end
  return out
end

--- Whether a value is one of a list.
function core.is_among(value, list)
  for i = 1, #list do
    if list[i] == value then return true end
  end
  return false
end

-- Objects of the engine: the fields of a userdata, kept once they were read.
local fields = setmetatable({}, { __mode = "k" })
core.object_fields = fields
function core.fields_of(object)
  if type(object) == "userdata" then return fields[object] end
  return contents[object]
end

local class_names = setmetatable({}, { __mode = "k" }) -- metatable -> name
local metatable_of = debug.getmetatable

function core.class_name(object)
  local meta = metatable_of(object)
  return meta and class_names[meta]
end

--- Gives the metatable of an engine class its Lua functions.
---@param sample userdata any object of the class
---@param name string
---@param index function
---@param text function tostring
function core.define_class(sample, name, index, text)
  local meta = metatable_of(sample)
  if class_names[meta] then return meta end
  class_names[meta] = name
  meta.__index = index
  meta.__newindex = function(_, key)
    fail("%s is read-only (assigning '%s')", name, tostring(key))
  end
  meta.__tostring = text
  meta.__metatable = false
  return meta
end

--- True if `object` is a userdata of that class.
function core.is_class(object, name)
  return type(object) == "userdata" and class_names[metatable_of(object)] == name
end

-- Checks. Each returns the value that it checked.

function core.number(value, what)
  if type(value) ~= "number" or value ~= value then
    fail("%s: expected a number, found %s", what, describe(value))
  end
  return value
end

function core.positive(value, what)
  if type(value) ~= "number" or not (value > 0 and value < math.huge) then
    fail("%s: expected a positive number, found %s", what, describe(value))
  end
  return value
end

function core.not_negative(value, what)
  if type(value) ~= "number" or not (value >= 0 and value < math.huge) then
    fail("%s: expected a number >= 0, found %s", what, describe(value))
  end
  return value
end

--- The range of a whole number in an error about `value`: ">= 1", "below 2^31", "from 1 to 100".
function core.range_text(value, smallest, largest)
  if largest < 2147483647 then return ("from %d to %d"):format(smallest, largest) end
  return type(value) == "number" and value > largest and "below 2^31" or ">= " .. smallest
end

function core.whole(value, what, smallest, largest)
  smallest, largest = smallest or 0, largest or 2147483647
  if type(value) ~= "number" or not (value >= smallest and value <= largest) or floor(value) ~= value then
    fail("%s: expected a whole number %s, found %s", what, core.range_text(value, smallest, largest), describe(value))
  end
  return value
end

function core.text(value, what)
  if type(value) ~= "string" then fail("%s: expected text, found %s", what, describe(value)) end
  return value
end

--- Text that stands in reports, documents and messages: a name, a title.
function core.plain_text(value, what)
  core.text(value, what)
  if not native.is_plain(value) then
    fail("%s: expected UTF-8 without control characters, found %s", what, describe(value))
  end
  return value
end

function core.table(value, what)
  if type(value) ~= "table" then fail("%s: expected a table, found %s", what, describe(value)) end
  return value
end

--- "unknown key 'a'; did you mean 'b'? (known: ...); also unknown: 'c', 'd'"
function core.unknown_names(kind, unknown, known)
  local text = native.unknown_name(kind, unknown[1], known)
  for i = 2, #unknown do text = text .. (i == 2 and "; also unknown: '" or "', '") .. native.printable(unknown[i]) end
  return #unknown > 1 and text .. "'" or text
end

--- Every key of `given` is one of `known` (a list), or an error with suggestions.
function core.check_keys(given, known, what, kind)
  local allowed = core.set(known)
  local all_known = true
  for key in next, given do all_known = all_known and allowed[key] end
  if all_known then return end -- batches are checked by the thousand, and sorting costs more than the check
  local unknown = {}
  for _, key in ipairs(sorted_keys(given)) do
    if type(key) ~= "string" then
      fail("%s: expected named keys, found key %s", what, describe(key))
    elseif not allowed[key] then
      unknown[#unknown + 1] = key
    end
  end
  if #unknown > 0 then fail("%s: %s", what, core.unknown_names(kind or "key", unknown, known)) end
end

core.join = concat
core.unpack = unpack
return core
