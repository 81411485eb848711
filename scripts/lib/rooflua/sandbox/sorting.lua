--- table.sort that can be stopped. It runs in C from end to end where nothing of Lua is called: without an
--- order, or with one written in C. Then neither Ctrl-C nor a bound on instructions reaches it, and a bad order
--- makes it quadratic. Long lists are therefore compared by Lua functions: the same answers, so the same order.
local stock_sort, info = table.sort, debug.getinfo
local type = type

local short = 1000 -- at most half a million comparisons, some hundredths of a second

local function less(a, b) return a < b end

--- What `a < b` never refuses: its errors should name the user's line, not ours.
local function comparable(list)
  local kind = type(list[1])
  if kind ~= "number" and kind ~= "string" then return false end
  for i = 2, #list do
    if type(list[i]) ~= kind then return false end
  end
  return true
end

--- An order written in C, as a function of Lua. By itself, because making functions is not compiled.
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
