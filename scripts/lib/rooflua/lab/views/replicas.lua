-- What each replica did.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"
local units = require "rooflua.text.units"

local replicas = { title = "Replicas", kinds = { serve = true } }

function replicas.plan(opened) return #opened.all == 1 and { runs = true } or nil end

local function bars_of(list, metric)
  local bars, any = json.array {}, false
  for i, each in ipairs(list) do
    local value = each[metric.name]
    if type(value) ~= "number" then return nil end
    any = any or value ~= 0
    bars[i] = { name = "replica " .. each.name, values = json.array { value } }
  end
  return any and { kind = "bar", title = metric.help or metric.name, x = { label = metric.name, unit = metric.unit },
    segments = json.array { "" }, bars = bars } or nil
end

function replicas.described(_, documents)
  local list, charts = documents[1].summary.replicas or {}, json.array {}
  local tables = { json.array { "replica" } }
  for i, each in ipairs(list) do tables[i + 1] = json.array { tostring(each.name) } end
  for _, metric in ipairs(metrics.declared.replicas) do
    charts[#charts + 1] = #list > 1 and bars_of(list, metric) or nil
    tables[1][#tables[1] + 1] = metric.name
    for i, each in ipairs(list) do
      local value = each[metric.name]
      local cell = type(value) == "number" and units.text(value, metric.unit) or core.describe(value)
      table.insert(tables[i + 1], cell)
    end
  end
  return { { heading = ("%d replica%s"):format(#list, #list == 1 and "" or "s"), charts = charts,
    tables = json.array { json.array(tables) } } }
end

return replicas
