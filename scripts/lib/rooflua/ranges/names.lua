-- Which quantity of an engine a series is, by the names in scripts/engines/*/metrics.lua. Quantities:
-- engine/emulate/metrics.h.
local catalogue = require "rooflua.engines.catalogue"

local names = {}

local known -- name -> {quantity, type, engine}

local function all()
  if known then return known end
  known = {}
  for _, engine in ipairs(catalogue.saying "metrics") do
    for _, row in ipairs(catalogue.said(engine, "metrics")) do
      known[row.name] = { quantity = row.quantity, type = row.type, engine = engine }
    end
  end
  return known
end

local parts = { "bucket", "sum", "count" }

--- {quantity, type, engine, part = "bucket", "sum" or "count" of a histogram}; nil where no engine has such a series.
--- Recorders put their own words in front of names, and AIPerf leaves `_total` out.
---@param name string
function names.find(name)
  local rows = all()
  local own = name:match "([%a]+:[%w_]+)$" or name
  local row = rows[own] or rows[own .. "_total"]
  if row then return { quantity = row.quantity, type = row.type, engine = row.engine } end
  for _, part in ipairs(parts) do
    local base = own:match("^(.*)_" .. part .. "$")
    row = base and rows[base]
    if row and row.type == "histogram" then
      return { quantity = row.quantity, type = "histogram", engine = row.engine, part = part }
    end
  end
end

--- Whether a text holds a name of such a series, or its beginning.
function names.stand_in(text)
  for _, engine in ipairs(catalogue.saying "metrics") do
    for _, row in ipairs(catalogue.said(engine, "metrics")) do
      local prefix = row.name:match "^%l+[:_]"
      if prefix and text:find(prefix, 1, true) then return true end
    end
  end
  return false
end

return names
