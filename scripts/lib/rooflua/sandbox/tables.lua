--- Functions of `table` that Ctrl-C and the bound on instructions reach. LuaJIT's own run from end to end in C, or in
--- code without lines, so that one call with a bad argument would run for a long time and could not be stopped.
local core = require "rooflua.base.core"

local stock_sort, stock_insert, info = table.sort, table.insert, debug.getinfo
local type, select = type, select

local tables = {}

-- sort: without an order, or with an order written in C, no Lua runs, and a bad order makes the sort quadratic. Long
-- lists are therefore compared by Lua functions: the same answers, so the same order.

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
--- Compiled-code idiom: docs/LUA_API.md, "Hot paths".
local function called(in_c)
  return function(a, b) return in_c(a, b) end
end

local function stoppable(list, order)
  if order == nil and comparable(list) then return less end
  if type(order) == "function" and info(order, "S").what == "C" then return called(order) end
  return order
end

function tables.sort(list, order)
  if type(list) == "table" and #list > short then order = stoppable(list, order) end
  return stock_sort(list, order)
end

--- insert: a position below 1 moves every element between it and the end, present or not.
function tables.insert(list, ...)
  if select("#", ...) == 2 then
    local position = ...
    if type(position) == "number" and position < 1 then
      core.fail("table.insert: expected a position of at least 1, found %s", core.describe(position))
    end
  end
  return stock_insert(list, ...)
end

--- move(from, first, last, at, to): to[at] = from[first], ..., as LuaJIT has it.
function tables.move(from, first, last, at, to)
  core.table(from, "table.move")
  core.number(first, "table.move: first")
  core.number(last, "table.move: last")
  core.number(at, "table.move: at")
  if to ~= nil then core.table(to, "table.move") end
  local shift = at - first
  if at > last or at <= first or to ~= nil then
    to = to or from
    for i = first, last do to[i + shift] = from[i] end
    return to
  end
  for i = last, first, -1 do from[i + shift] = from[i] end
  return from
end

return tables
