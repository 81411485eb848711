--- Replacements for Lua functions whose results depend on hashes and addresses, which differ from process to
--- process: pairs, next, tostring, print, string.format, table.foreach. Sandboxed scripts get these.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local next, type, rawget, select, tostring, pcall = next, type, rawget, select, tostring, pcall
local format, gsub, find = string.format, string.gsub, string.find
local fail, sorted_keys, before = core.fail, core.sorted_keys, core.before

local words = {}

-- Order ------------------------------------------------------------------------------------------------

local ordered = { number = true, string = true, boolean = true }

local function refuse(key)
  fail("keys that are %s have no order that is the same in every run; keep them in a list, or use ids as keys",
    type(key) == "cdata" and "objects" or type(key) .. "s")
end

function words.pairs(t) return core.sorted_pairs(t, refuse) end

local walks = setmetatable({}, { __mode = "k" }) -- table -> { keys at the start of the walk, position of next }

--- The least key, without sorting.
local function first_of(t, least)
  for key in next, t do
    if not ordered[type(key)] then refuse(key) end
    if before(key, least) then least = key end
  end
  return least, rawget(t, least)
end

--- Position of the first key after `key`.
local function position_after(keys, key)
  local low, high = 1, #keys + 1
  while low < high do
    local middle = (low + high - (low + high) % 2) / 2
    if before(key, keys[middle]) then high = middle else low = middle + 1 end
  end
  return low
end

--- The least key after `key`, in the order of pairs.
function words.next(t, key)
  if type(t) ~= "table" then fail("next: expected a table, found %s", core.describe(t)) end
  t = core.contents[t] or t
  if key == nil then
    local any = next(t)
    if any == nil then return nil end
    walks[t] = nil
    return first_of(t, any)
  end
  if not ordered[type(key)] then refuse(key) end
  local walk = walks[t]
  if not walk then
    walk = { keys = sorted_keys(t, refuse), at = 0 }
    walks[t] = walk
  end
  local keys, i = walk.keys, walk.at
  if keys[i] == key then i = i + 1 else i = position_after(keys, key) end
  while keys[i] ~= nil do
    local value = rawget(t, keys[i])
    if value ~= nil then
      walk.at = i
      return keys[i], value
    end
    i = i + 1
  end
  walks[t] = nil
  return nil
end

function words.foreach(t, call)
  for key, value in words.pairs(t) do
    local result = call(key, value)
    if result ~= nil then return result end
  end
end

-- Text ---------------------------------------------------------------------------------------------------

local plain = { number = true, string = true, boolean = true, ["nil"] = true }
local metatable_of = debug.getmetatable

--- "table", not "table: 0x7f2a...".
function words.tostring(...)
  local value = ...
  local kind = type(value)
  if plain[kind] then
    if select("#", ...) == 0 then fail "tostring: expected a value" end
    return tostring(value)
  end
  local meta = kind ~= "cdata" and metatable_of(value)
  if type(meta) == "table" and rawget(meta, "__tostring") ~= nil then return tostring(value) end
  return (gsub(tostring(value), ": 0x%x+$", ""))
end
local text_of = words.tostring

function words.print(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = text_of((select(i, ...))) end
  native.print_line(core.join(parts, "\t"))
end

local function checked_format(pattern, ...)
  local ok, text = pcall(format, pattern, ...)
  if not ok then fail("%s", (gsub(text, "'%?'", "'format'", 1))) end
  return text
end

--- Turns arguments that would show an address into text first.
local function plain_format(pattern, ...)
  local count, values = select("#", ...), { ... }
  for i = 1, count do
    if not plain[type(values[i])] then values[i] = text_of(values[i]) end
  end
  return checked_format(pattern, core.unpack(values, 1, count))
end

function words.format(pattern, ...)
  if type(pattern) == "string" and find(pattern, "p", 1, true) and
    find(gsub(pattern, "%%%%", ""), "%%[%-+ #%d.]*p") then
    fail "string.format: %p shows an address, which is another one in every run"
  end
  for i = 1, select("#", ...) do
    if not plain[type((select(i, ...)))] then return plain_format(pattern, ...) end
  end
  return checked_format(pattern, ...)
end

return words
