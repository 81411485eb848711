-- What each replica did, and when it was busy.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local live = require "rooflua.serving.live"
local metrics = require "rooflua.measure.metrics"
local opening = require "rooflua.runs.opening"
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

local most_rows, bins = 64, 120
local shares = { "to 25 % busy", "to 50 %", "to 75 %", "busy" }

--- How busy each replica was over the run: a row each, of equal stretches of time.
local function gantt_of(opened, duration_s)
  local simulation = live.open((opening.variant(opened, 1)))
  simulation:run()
  local busy, order, width, all = {}, {}, duration_s / bins, 0
  for _, step in ipairs(simulation:steps()) do
    local own = busy[step.replica]
    if own == nil then
      all, own = all + 1, #order < most_rows and {}
      busy[step.replica] = own
      if own then order[#order + 1] = step.replica end
    end
    local first = own and math.floor(step.start_s / width) or 0
    for bin = first, own and math.min(math.floor(step.end_s / width), bins - 1) or -1 do
      local inside = math.min(step.end_s, (bin + 1) * width) - math.max(step.start_s, bin * width)
      own[bin] = (own[bin] or 0) + math.max(inside, 0)
    end
  end
  simulation:close()
  table.sort(order)
  local rows = json.array {}
  for i, number in ipairs(order) do
    local spans = json.array {}
    for bin = 0, bins - 1 do
      local share = (busy[number][bin] or 0) / width
      local part, last = math.min(math.floor(4 * share), 3), spans[#spans]
      if share > 0 and last and last.part == part and last.bin == bin - 1 then
        last.to, last.bin = (bin + 1) * width, bin
      elseif share > 0 then
        spans[#spans + 1] = { from = bin * width, to = (bin + 1) * width, part = part, bin = bin }
      end
    end
    for _, each in ipairs(spans) do each.bin = nil end
    rows[i] = { label = "replica " .. number, note = "replica " .. number, spans = spans }
  end
  local title = all > #order and ("How busy %d of %d replicas were: those that worked first"):format(#order, all)
    or "How busy each replica was"
  return { kind = "gantt", title = title, x = { label = "time", unit = "s" },
    segments = json.array(core.copy(shares)), rows = rows }
end

function replicas.described(opened, documents)
  local list, charts = documents[1].summary.replicas or {}, json.array {}
  local tables = { json.array { "replica" } }
  local duration_s = documents[1].summary.duration_s
  if type(duration_s) == "number" and duration_s > 0 then charts[1] = gantt_of(opened, duration_s) end
  for i, each in ipairs(list) do tables[i + 1] = json.array { tostring(each.name) } end
  for _, metric in ipairs(metrics.declared.replicas) do
    charts[#charts + 1] = #list > 1 and bars_of(list, metric) or nil
    tables[1][#tables[1] + 1] = metric.name
    for i, each in ipairs(list) do
      local value = each[metric.name]
      local unit = metric.unit == "1" and "share" or metric.unit
      local cell = type(value) == "number" and units.text(value, unit) or core.describe(value)
      table.insert(tables[i + 1], cell)
    end
  end
  return { { heading = ("%d replica%s"):format(#list, #list == 1 and "" or "s"), charts = charts,
    tables = json.array { json.array(tables) } } }
end

return replicas
