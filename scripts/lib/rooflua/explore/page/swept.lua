-- A sweep on a page: metrics against what was varied.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"
local parts = require "rooflua.explore.page.parts"
local texts = require "rooflua.explore.text"

local swept = {}
local array = json.array

local swept_metrics = { "output_tokens_per_s", "goodput_per_s", "ttft_s_p50", "ttft_s_p99", "tpot_s_p99" }
local drawn_metrics = { "output_tokens_per_s", "ttft_s_p99", "tpot_s_p99" }
local most_parameters, most_series, most_rows = 6, 8, 500

--- Key paths whose values differ between runs, without the seed: those of numbers, and the others.
local function varied(results)
  local seen, numbers, others = {}, {}, {}
  for _, result in ipairs(results) do
    for path, value in pairs(result.parameters or {}) do
      local entry = seen[path] or { values = {}, count = 0, plain = true }
      seen[path] = entry
      entry.plain = entry.plain and type(value) == "number"
      if not entry.values[tostring(value)] then
        entry.values[tostring(value)], entry.count = true, entry.count + 1
      end
    end
  end
  for path, entry in core.sorted_pairs(seen) do
    if path ~= "seed" and entry.count > 1 then
      local list = entry.plain and numbers or others
      list[#list + 1] = path
    end
  end
  return numbers, others
end

local function name_of(value) return type(value) == "number" and ("%.6g"):format(value) or tostring(value) end

local function others_of(result, others)
  local words = {}
  for i, path in ipairs(others) do words[i] = path:match "[^.]+$" .. "=" .. name_of(result.parameters[path]) end
  return table.concat(words, ", ")
end

local function swept_table(results, numbers, others)
  local header, columns = {}, {}
  for _, path in ipairs(numbers) do header[#header + 1] = path end
  for _, path in ipairs(others) do header[#header + 1] = path end
  if results[1].parameters.seed ~= nil then header[#header + 1] = "seed" end
  local parameters = #header
  for _, metric in ipairs(swept_metrics) do
    if metrics.value(results[1], metric) then
      header[#header + 1], columns[#columns + 1] = metric, metric
    end
  end
  local rows = { header }
  for i = 1, math.min(#results, most_rows) do
    local row = {}
    for j = 1, parameters do row[j] = name_of(results[i].parameters[header[j]]) end
    for _, metric in ipairs(columns) do row[#row + 1] = texts.shown(metric, metrics.value(results[i], metric)) end
    rows[#rows + 1] = row
  end
  return parts.table_of(rows)
end

local function swept_charts(results, numbers, others)
  local charts, names, count = array {}, {}, 0
  for _, result in ipairs(results) do
    local name = others_of(result, others)
    if not names[name] then names[name], count = true, count + 1 end
  end
  for i = 1, math.min(#numbers, most_parameters) do
    for _, metric in ipairs(drawn_metrics) do
      local series = {}
      for _, result in ipairs(results) do
        local x, y = result.parameters[numbers[i]], metrics.value(result, metric)
        if x and y then
          parts.add_point(series, count <= most_series and others_of(result, others) or "",
            { x = x, y = y, note = result.name })
        end
      end
      charts[#charts + 1] = parts.chart_of(metric .. " against " .. numbers[i], numbers[i], metric, series)
    end
  end
  return charts
end

--- The section of a sweep; nil where one number varies, because the page draws that without it.
function swept.section(results)
  local numbers, others = varied(results)
  local seeds = results[1].parameters and results[1].parameters.seed ~= nil
  if #numbers == 0 or #numbers + #others < 2 and not seeds then return nil end
  local note = "Every run is a point; what else varies moves it as well."
  if #numbers > most_parameters then
    note = note .. (" Only the first %d of %d numbers are drawn."):format(most_parameters, #numbers)
  end
  local listed = ("%d runs"):format(#results)
  if #results > most_rows then listed = ("the first %d of %d runs"):format(most_rows, #results) end
  return { heading = "Against what was varied", note = note, folded = listed,
    tables = array { swept_table(results, numbers, others) }, charts = swept_charts(results, numbers, others) }
end

return swept
