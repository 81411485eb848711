--- A table.sort that can be stopped. The original runs in C from start to end if its order is missing or written
--- in C. Then neither Ctrl-C nor a limit on instructions reaches it, and a bad order makes it quadratic. This one
--- compares long lists by a Lua function with the same answers, so the order is the same.
local stock_sort, info = table.sort, debug.getinfo
local type = type

local short = 1000 -- at most half a million comparisons, some hundredths of a second

local function less(a, b) return a < b end

--- Whether `a < b` raises no error for any pair of the list. Otherwise the original sorts, so that its error names
--- the user's line.
local function comparable(list)
  local kind = type(list[1])
  if kind ~= "number" and kind ~= "string" then return false end
  for i = 2, #list do
    if type(list[i]) ~= kind then return false end
  end
  return true
end

--- A Lua function that calls an order written in C. It is made here, apart from the caller.
--- Compiled-code idiom: docs/PERFORMANCE.md, "Lua that stays compiled".
local function called(in_c)
  return function(a, b) return in_c(a, b) end
end

local function stoppable(list, order)
  if order == nil and comparable(list) then return less end
  if type(order) == "function" and info(order, "S").what == "C" then return called(order) end
  return order
end

--- In place of table.sort.
return function(list, order)
  if type(list) == "table" and #list > short then order = stoppable(list, order) end
  return stock_sort(list, order)
end
