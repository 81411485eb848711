-- Tables and charts of a page, as the document that the program draws (engine/measure/html/sections.h).
local json = require "rooflua.json"
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
  if not texts.is_duration(metric) then return { label = metric, unit = "" }, 1 end
  if largest < 1e-3 then return { label = metric, unit = "us" }, 1e6 end
  if largest < 10 then return { label = metric, unit = "ms" }, 1e3 end
  return { label = metric, unit = "s" }, 1
end

local function is_wide(low, high) return low > 0 and high > 10 * low end

--- A chart of series {name, points = {{x, y, note}}} of a metric against `label`; nil without points.
function parts.chart_of(title, label, metric, series, kind)
  local largest, low, high, count = 0, math.huge, -math.huge, 0
  for _, each in ipairs(series) do
    for _, point in ipairs(each.points) do
      largest, count = math.max(largest, math.abs(point.y)), count + 1
      low, high = math.min(low, point.x), math.max(high, point.x)
    end
  end
  if count == 0 then return nil end
  local y, per_unit = metric_axis(metric, largest)
  for _, each in ipairs(series) do
    json.array(each.points)
    for _, point in ipairs(each.points) do point.y = point.y * per_unit end
  end
  return { title = title, kind = kind, x = { label = label, unit = "", log = is_wide(low, high) }, y = y,
    series = json.array(series) }
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
