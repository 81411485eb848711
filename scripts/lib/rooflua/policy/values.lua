-- Values of declared parameters: their types, ranges and choices.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local in_words = require "rooflua.base.in_words"

local values = {}
local fail, type = core.fail, type

local function list_text(list)
  local parts = {}
  for i, value in ipairs(list) do parts[i] = tostring(value) end
  return core.join(parts, ", ")
end

--- The type of a parameter: the declared one, else that of its default; nil = any.
local function type_of(declared)
  if declared.type ~= nil then return declared.type ~= "any" and declared.type or nil end
  return declared.default ~= nil and type(declared.default) or nil
end

-- Upper bounds of parameters without a `max`: what the engine can count, and what its clock can show.
local most_counted = 2147483647
local most_by_unit = { s = native.latest_s, ms = 1e3 * native.latest_s, ["requests/s"] = 1e12, ["sessions/s"] = 1e12 }

local function most_of(declared)
  return declared.integer and most_counted or most_by_unit[declared.unit]
end

local function check_range(where, declared, value)
  if value ~= value then fail("%s: expected a number, found nan", where) end
  local min, max = declared.min, declared.max
  local unit = declared.unit and declared.unit ~= "1" and " " .. declared.unit or ""
  if min and (value < min or declared.exclusive_min and value == min) then
    fail("%s: expected %s %.14g%s, found %.14g", where, declared.exclusive_min and ">" or ">=", min,
      unit, value)
  end
  if max and (value > max or declared.exclusive_max and value == max) then
    fail("%s: expected %s %.14g%s, found %.14g", where, declared.exclusive_max and "<" or "<=", max,
      unit, value)
  end
  if value - value ~= 0 then
    if declared.infinite and value > 0 then return end
    fail("%s: expected a finite number%s, found %.14g", where, unit, value)
  end
  if declared.integer and value % 1 ~= 0 then
    fail("%s: expected a whole number%s, found %.14g", where, unit, value)
  end
  local most = not max and not declared.infinite and most_of(declared)
  if most and value > most then fail("%s: expected at most %.14g%s, found %.14g", where, most, unit, value) end
end

--- A table whose keys are 1, 2, ..., or an error.
local function check_list(where, value)
  if type(value) ~= "table" then fail("%s: expected a list, found %s", where, core.describe(value)) end
  local list = core.plain(value)
  for _, key in ipairs(core.sorted_keys(list)) do
    if type(key) ~= "number" or key < 1 or key > #list or key % 1 ~= 0 then
      fail("%s: expected a list, found the key %s", where, core.describe(key))
    end
  end
end

--- A value of a declared type, in its range, or one of its choices; else an error that says what would be right.
function values.check(where, declared, value)
  local expected = type_of(declared)
  if declared.values then
    if not core.is_among(value, declared.values) then
      local known = {}
      for _, each in ipairs(declared.values) do
        if each ~= "" then known[#known + 1] = tostring(each) end
      end
      if type(value) == "string" then
        fail("%s: %s", where, native.unknown_name("value", value, known))
      end
      fail("%s: expected one of %s, found %s", where, list_text(known), core.describe(value))
    end
    return value
  end
  if expected == "list" then
    check_list(where, value)
  elseif expected and type(value) ~= expected then
    local unit = declared.unit and declared.unit ~= "1" and " (" .. declared.unit .. ")" or ""
    fail("%s: expected a %s%s, found %s%s", where, expected, unit, core.describe(value),
      expected == "number" and in_words.hint(value, declared.unit) or "")
  end
  if type(value) == "number" then check_range(where, declared, value) end
  return value
end

return values
