-- Checks of values against their declaration: the range of a number, the entries of a list.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local ranges = {}
local fail = core.fail

-- Upper bounds of parameters without a `max`: what the engine can count, and what its clock can show.
local most_counted = 2147483647
local most_by_unit = { s = native.latest_s, ms = 1e3 * native.latest_s, ["requests/s"] = 1e12, ["sessions/s"] = 1e12 }

local function most_of(declared)
  return declared.integer and most_counted or most_by_unit[declared.unit]
end

--- A number lies in the range of its declaration, or an error.
function ranges.check(where, declared, value)
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
function ranges.check_list(where, value)
  if type(value) ~= "table" then fail("%s: expected a list, found %s", where, core.describe(value)) end
  local list = core.plain(value)
  for _, key in ipairs(core.sorted_keys(list)) do
    if type(key) ~= "number" or key < 1 or key > #list or key % 1 ~= 0 then
      fail("%s: expected a list, found the key %s", where, core.describe(key))
    end
  end
end

return ranges
