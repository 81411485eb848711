-- The engine's tables of figures (engine/spec/figures) as declarations of a scenario's keys: name, type, unit, bounds,
-- default and sentence of a key are those of its row. keys.lua says what only a scenario knows.
local native = require "rooflua.native"

local figures = {}

local tables = native.figures()
local kinds = { string = "text" }

--- The row of that name.
function figures.row(of, name)
  for _, row in ipairs(tables[of]) do
    if row.name == name then return row end
  end
  error(("the figures of %s have no %s"):format(of, name), 0)
end

--- The rows of a table that scripts see.
function figures.shown(of)
  local out = {}
  for _, row in ipairs(tables[of]) do out[#out + 1] = row.shown and row or nil end
  return out
end

--- What a sweep may do with a number. Only a share has an upper bound that means something; others keep products of
--- figures within what can be computed.
local function range_of(row, default)
  return { min = row.least, max = row.most <= 1 and row.most or nil, integer = row.type == "integer" or nil,
    default = default }
end

--- A value for a number without default.
local function example_of(row)
  return row.unit and native.number_text(row.default or math.max(1, row.least)) or nil
end

local function entry_of(of, row, own)
  local entry = { name = row.name, type = row.values and "choice" or kinds[row.type] or row.type, values = row.values,
    unit = row.unit, default = row.default, doc = row.doc, figure_of = row.unit and of or nil }
  if own.otherwise then entry.default, entry.doc = nil, row.doc .. "; default " .. own.otherwise end
  if row.unit then entry.range = range_of(row, entry.default) end
  if entry.default == nil then entry.example = example_of(row) end
  for key, value in pairs(own) do entry[key] = value end
  if own.range == false then entry.range = nil end
  return entry
end

--- The list with the rows of tables in place of its entries {figures, only, [name] = attributes}: `figures` names the
--- table, `only` lists rows (default all that are shown), and a row's attributes are what a scenario says of it
--- besides: those of keys.lua, range = false where nothing varies it, and `otherwise`, what holds in a scenario without
--- the key where that is not the default of the row.
function figures.expand(list)
  local out = {}
  for _, each in ipairs(list) do
    local of = each.figures
    local rows = of and not each.only and figures.shown(of) or {}
    for i, name in ipairs(of and each.only or {}) do rows[i] = figures.row(of, name) end
    for _, row in ipairs(rows) do out[#out + 1] = entry_of(of, row, each[row.name] or {}) end
    if not of then out[#out + 1] = each end
  end
  return out
end

return figures
