-- Tables and charts of a page, as the document that the program draws (engine/measure/html/sections.h).
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"
local texts = require "rooflua.explore.text"

local parts = {}

--- Rows of cells as rows of texts, all of the same length.
function parts.table_of(rows)
  local out, columns = json.array {}, 0
  for _, row in ipairs(rows) do columns = math.max(columns, #row) end
  for i, row in ipairs(rows) do
    out[i] = json.array {}
    for j = 1, columns do out[i][j] = tostring(row[j] == nil and "" or row[j]) end
  end
  return out
end

--- The axis {label, unit} of a metric, and the factor from its value to that unit.
local function metric_axis(metric, largest)
  if not texts.is_duration(metric) then
    local about = metrics.about(metric)
    if about and about.unit == "1" then return { label = metric, unit = "%" }, 100 end
    return { label = metric, unit = about and about.unit or "" }, 1
  end
  if largest < 1e-3 then return { label = metric, unit = "us" }, 1e6 end
  if largest < 10 then return { label = metric, unit = "ms" }, 1e3 end
  return { label = metric, unit = "s" }, 1
end

local function is_wide(low, high, times) return low > 0 and high > times * low end

--- The limits of a metric in an SLO {ttft_s = 0.2, ...}, as lines of a chart: {{value, label}}.
function parts.limits_of(metric, slo)
  local limit_s = (slo or {})[metric:match "^(.-_s)_[mp]" or metric]
  if type(limit_s) ~= "number" then return nil end
  return { { value = limit_s, label = "SLO " .. texts.shown(metric, limit_s) } }
end

--- A chart of series {name, points = {{x, y, note}}} of a metric against `label`; nil without points.
--- @param limits table? {{value, label}} in the unit of the metric
function parts.chart_of(title, label, metric, series, kind, limits)
  local least, largest, low, high, count = math.huge, 0, math.huge, -math.huge, 0
  for _, each in ipairs(series) do
    for _, point in ipairs(each.points) do
      least, largest, count = math.min(least, point.y), math.max(largest, math.abs(point.y)), count + 1
      low, high = math.min(low, point.x), math.max(high, point.x)
    end
  end
  if count == 0 then return nil end
  local y, per_unit = metric_axis(metric, largest)
  for _, each in ipairs(series) do
    json.array(each.points)
    for _, point in ipairs(each.points) do point.y = point.y * per_unit end
  end
  for _, limit in ipairs(limits or {}) do limit.value = limit.value * per_unit end
  y.log = is_wide(least, largest, 100)
  return { title = title, kind = kind, x = { label = label, unit = "", log = is_wide(low, high, 10) }, y = y,
    series = json.array(series), limits = limits and json.array(limits) }
end

--- Points by the name of their series, in order of appearance.
function parts.add_point(series, name, point)
  for _, each in ipairs(series) do
    if each.name == name then
      each.points[#each.points + 1] = point
      return
    end
  end
  series[#series + 1] = { name = name, points = { point } }
end

return parts
