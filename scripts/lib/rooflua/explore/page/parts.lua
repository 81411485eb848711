-- Tables and charts of a page, as the document that the program draws (engine/measure/html/sections.h).
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"

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

--- The unit that a metric is declared with; "" of what is no metric.
--- @param own table? the scenario's own metrics by name: {unit =}
function parts.unit_of(metric, own)
  local about = own and own[metric] or metrics.about(metric)
  return about and about.unit or ""
end

--- "TTFT p99": what a chart calls a metric.
function parts.label_of(metric, own) return metrics.label(metric, parts.unit_of(metric, own)) end

--- The axis {label, unit} of a metric, and the factor from its value to that unit. Ticks, label and limits of an axis
--- are in this one unit.
local function metric_axis(metric, largest, own)
  local unit, label = parts.unit_of(metric, own), parts.label_of(metric, own)
  if unit == "1" then return { label = label, unit = "%" }, 100 end
  if unit ~= "s" then return { label = label, unit = unit }, 1 end
  if largest < 1e-3 then return { label = label, unit = "us" }, 1e6 end
  if largest < 10 then return { label = label, unit = "ms" }, 1e3 end
  return { label = label, unit = "s" }, 1
end

local function is_wide(low, high, times) return low > 0 and high > times * low end

--- The limits of a metric in an SLO {ttft_s = 0.2, ...}, as lines of a chart: {{value, label}}. The chart adds the
--- value to the label, in the unit of its axis.
function parts.limits_of(metric, slo)
  local limit_s = (slo or {})[metric:match "^(.-_s)_[mp]" or metric]
  if type(limit_s) ~= "number" then return nil end
  return { { value = limit_s, label = "SLO" } }
end

--- A chart of series {name, points = {{x, y, note, variant}}}; nil without points. what = {title, kind,
--- x = a parameter or a metric, y = a metric, limits = {{value, label}} in the unit of the metric, own = the scenario's
--- own metrics}.
function parts.chart_of(what, series)
  local least, largest, low, high, count = math.huge, 0, math.huge, -math.huge, 0
  for _, each in ipairs(series) do
    for _, point in ipairs(each.points) do
      least, largest, count = math.min(least, point.y), math.max(largest, math.abs(point.y)), count + 1
      low, high = math.min(low, point.x), math.max(high, point.x)
    end
  end
  if count == 0 then return nil end
  local x, per_x = metric_axis(what.x, high, what.own)
  local y, per_unit = metric_axis(what.y, largest, what.own)
  for _, each in ipairs(series) do
    json.array(each.points)
    for _, point in ipairs(each.points) do point.x, point.y = point.x * per_x, point.y * per_unit end
  end
  for _, limit in ipairs(what.limits or {}) do limit.value = limit.value * per_unit end
  x.log, y.log = is_wide(low, high, 10), is_wide(least, largest, 100)
  return { title = what.title, kind = what.kind, x = x, y = y, series = json.array(series),
    limits = what.limits and json.array(what.limits) }
end

--- A value of a parameter as text.
function parts.value_name(value) return type(value) == "number" and ("%.6g"):format(value) or tostring(value) end

--- "tp=2, max_num_seqs=64": what a run has of these parameters.
function parts.values_of(run, paths)
  local words = {}
  for i, path in ipairs(paths) do words[i] = path:match "[^.]+$" .. "=" .. parts.value_name(run.parameters[path]) end
  return table.concat(words, ", ")
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
