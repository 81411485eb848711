-- Many runs on a page: differences over seeds, metrics against what a sweep varied, searches. Sections of
-- tables and charts, as a document that the program draws (engine/measure/html/sections.h).
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"
local texts = require "rooflua.explore.text"

local page = {}

local function array(list) return json.array(list) end

--- Cells of rows as texts, whatever they were.
local function table_of(rows)
  local out, columns = array {}, 0
  for _, row in ipairs(rows) do columns = math.max(columns, #row) end
  for i, row in ipairs(rows) do
    out[i] = array {}
    for j = 1, columns do out[i][j] = tostring(row[j] == nil and "" or row[j]) end
  end
  return out
end

-- Axes -------------------------------------------------------------------------------------------------------

--- {label, unit} of a metric and how many units one of its values has.
local function metric_axis(metric, largest)
  if not texts.is_duration(metric) then return { label = metric, unit = "" }, 1 end
  if largest < 1e-3 then return { label = metric, unit = "us" }, 1e6 end
  if largest < 10 then return { label = metric, unit = "ms" }, 1e3 end
  return { label = metric, unit = "s" }, 1
end

local function is_wide(low, high) return low > 0 and high > 10 * low end

--- A chart of series {name, points = {{x, y, note}}} of a metric against `label`; nil without points.
local function chart_of(title, label, metric, series, kind)
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
    array(each.points)
    for _, point in ipairs(each.points) do point.y = point.y * per_unit end
  end
  return { title = title, kind = kind, x = { label = label, unit = "", log = is_wide(low, high) }, y = y,
    series = array(series) }
end

--- Points by the name of their series, in order of appearance.
local function add_point(series, name, point)
  for _, each in ipairs(series) do
    if each.name == name then
      each.points[#each.points + 1] = point
      return
    end
  end
  series[#series + 1] = { name = name, points = { point } }
end

-- Seeds ------------------------------------------------------------------------------------------------------

local function over_seeds(results)
  if #results < 4 or not results[1].parameters or results[1].parameters.seed == nil then return nil end
  local rows, baseline, seeds = texts.over_seeds_rows(results)
  if not rows then return nil end
  return { heading = "Differences over seeds", tables = array { table_of(rows) },
    note = ("Means over %d seeds of the differences from %s, seed by seed with the same random numbers, and their "
      .. "95 %% intervals (Student's t). \"not clear\": the interval holds 0. Intervals say how much seeds matter, "
      .. "not how right the model is."):format(seeds, baseline) }
end

-- Sweeps -----------------------------------------------------------------------------------------------------

local swept_metrics = { "output_tokens_per_s", "goodput_per_s", "ttft_s_p50", "ttft_s_p99", "tpot_s_p99" }
local drawn_metrics = { "output_tokens_per_s", "ttft_s_p99", "tpot_s_p99" }
local most_parameters, most_series, most_rows = 6, 8, 500

--- Paths that differ between runs: numbers, and others; seeds apart.
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
  local parts = {}
  for i, path in ipairs(others) do parts[i] = path:match "[^.]+$" .. "=" .. name_of(result.parameters[path]) end
  return table.concat(parts, ", ")
end

local function swept_table(results, numbers, others)
  local header, columns = {}, {}
  for _, path in ipairs(numbers) do header[#header + 1] = path end
  for _, path in ipairs(others) do header[#header + 1] = path end
  if results[1].parameters.seed ~= nil then header[#header + 1] = "seed" end
  local parameters = #header
  local wanted = core.sorted_keys(metrics.own_of { results[1] })
  for i = #swept_metrics, 1, -1 do table.insert(wanted, 1, swept_metrics[i]) end
  for _, metric in ipairs(wanted) do
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
  return table_of(rows)
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
          add_point(series, count <= most_series and others_of(result, others) or "",
            { x = x, y = y, note = result.name })
        end
      end
      charts[#charts + 1] = chart_of(metric .. " against " .. numbers[i], numbers[i], metric, series)
    end
  end
  return charts
end

--- Where more varies than one number, which the page draws anyway.
local function add_swept(sections, results)
  local numbers, others = varied(results)
  local seeds = results[1].parameters and results[1].parameters.seed ~= nil
  if #numbers == 0 or #numbers + #others < 2 and not seeds then return end
  local note = "Every run is a point; what else varies moves it as well."
  if #numbers > most_parameters then
    note = note .. (" Only the first %d of %d numbers are drawn."):format(most_parameters, #numbers)
  end
  local listed = ("%d runs"):format(#results)
  if #results > most_rows then listed = ("the first %d of %d runs"):format(most_rows, #results) end
  sections[#sections + 1] = { heading = "Against what was varied", note = note, folded = listed,
    tables = array { swept_table(results, numbers, others) }, charts = swept_charts(results, numbers, others) }
end

-- Searches ---------------------------------------------------------------------------------------------------

--- Rows without the reasons behind their last column, and those as a table of their own: on a narrow screen
--- a sentence beside ten numbers is a tower.
local function without_reasons(rows)
  local columns, plain, reasons = #rows[1], {}, { { rows[1][1], "why it has no figures" } }
  for i, row in ipairs(rows) do
    plain[i] = {}
    for j = 1, math.min(columns, #row) do plain[i][j] = row[j] end
    if #row > columns then reasons[#reasons + 1] = { row[1], row[#row] } end
  end
  return plain, #reasons > 1 and reasons or nil
end

local function search_section(result)
  local search = result.search
  local heading = result.name ~= "" and result.name or "Search"
  local line, rows = texts.search_rows(search)
  local parts = { (line:gsub("^%l", string.upper)) .. "." }
  if #search.slo > 0 then parts[#parts + 1] = "SLO: " .. texts.slo(search.slo) .. "." end
  parts[#parts + 1] = ("%d runs, seeds %s."):format(#search.runs, table.concat(search.seeds, " "))
  if search.note then parts[#parts + 1] = "Note: " .. search.note .. "." end
  local plain, reasons = without_reasons(rows)
  return { heading = heading, note = table.concat(parts, " "),
    tables = array { table_of(plain), reasons and table_of(reasons) or nil } }
end

-- Sensitivities -------------------------------------------------------------------------------------------

local most_bars = 15

--- What 1 % of each parameter does to a metric, the largest first.
local function sensitivity_chart(search, metric)
  local moved = {}
  for _, each in ipairs(search.rows) do
    local percent = each.percent[metric]
    if percent and math.abs(percent) >= 0.0005 then moved[#moved + 1] = { path = each.path, percent = percent } end
  end
  if #moved == 0 then return nil end
  table.sort(moved, function(a, b)
    local x, y = math.abs(a.percent), math.abs(b.percent)
    return x > y or x == y and a.path < b.path
  end)
  local bars = array {}
  for i = 1, math.min(#moved, most_bars) do
    local percent = moved[i].percent
    bars[i] = { name = moved[i].path, total = ("%+.3f %%"):format(percent),
      values = array { math.max(percent, 0), math.max(-percent, 0) } }
  end
  return { title = "1 % more of each: " .. metric, kind = "bar", x = { label = "change", unit = "%" },
    segments = array { metric .. " rises", "it falls" }, bars = bars }
end

local function sensitivity_sections(result, sections)
  local search, charts = result.search, array {}
  for _, metric in ipairs(search.metrics) do charts[#charts + 1] = sensitivity_chart(search, metric) end
  local note = texts.sensitivity_line(search) .. "."
  if #search.seeds > 1 then note = note .. " " .. texts.unclear .. "." end
  local name = result.name ~= "" and ", " .. result.name or ""
  if #charts > 0 then sections[#sections + 1] = { heading = "What 1 % does" .. name, charts = charts } end
  sections[#sections + 1] = { heading = "Sensitivity" .. name, note = (note:gsub("^%l", string.upper)),
    tables = array { table_of(texts.sensitivity_rows(search)) } }
  if #search.fixed == 0 then return end
  local rows = { { "parameter", "why" } }
  for i, each in ipairs(search.fixed) do rows[i + 1] = { each.path, each.why } end
  sections[#sections + 1] = { heading = "Not varied", folded = ("%d parameters"):format(#search.fixed),
    tables = array { table_of(rows) } }
end

-- Loads, fronts, costs ---------------------------------------------------------------------------------------

--- One chart per metric of the SLO, a line per variant, and the limit.
local function load_charts(results)
  local charts, first = array {}, results[1].search
  for _, bound in ipairs(first.slo) do
    local series, low, high = {}, math.huge, -math.huge
    for _, result in ipairs(results) do
      for _, entry in ipairs(result.search.tried) do
        local y = entry.metrics[bound.metric]
        low, high = math.min(low, entry.value), math.max(high, entry.value)
        if y then add_point(series, result.name ~= "" and result.name or "tried", { x = entry.value, y = y }) end
      end
    end
    for _, limit in ipairs { "max", "min" } do
      if bound[limit] then
        add_point(series, "SLO", { x = low, y = bound[limit] })
        add_point(series, "SLO", { x = high, y = bound[limit] })
      end
    end
    charts[#charts + 1] = chart_of(bound.metric .. " against " .. first.parameter, first.parameter, bound.metric,
      series, "line")
  end
  return charts
end

local function front_charts(results)
  local charts = array {}
  for _, result in ipairs(results) do
    local search, series = result.search, {}
    for _, front in ipairs { true, false } do
      for _, entry in ipairs(search.tried) do
        local x, y = entry.metrics[search.objectives[1]], entry.metrics[search.objectives[2] or search.objectives[1]]
        if x and y and (entry.on_front == true) == front then
          add_point(series, front and "on the front" or "beaten", { x = x, y = y, note = entry.name })
        end
      end
    end
    charts[#charts + 1] = chart_of("Pareto front", search.objectives[1], search.objectives[2] or search.objectives[1],
      series)
  end
  return charts
end

local function cost_charts(results)
  local charts, first = array {}, results[1].search
  for _, bound in ipairs(first.slo) do
    local series = {}
    for _, meets in ipairs { true, false } do
      for _, result in ipairs(results) do
        for _, entry in ipairs(result.search.tried) do
          local y = entry.metrics[bound.metric]
          if y and (entry.meets == true) == meets then
            add_point(series, meets and "meets the SLO" or "misses it",
              { x = entry.cost_per_hour, y = y, note = entry.name })
          end
        end
      end
    end
    charts[#charts + 1] = chart_of(("%s against cost (SLO: %s)"):format(bound.metric, texts.slo { bound }),
      "cost per hour", bound.metric, series)
  end
  return charts
end

local charts_of = { rate = load_charts, pareto = front_charts, cheapest = cost_charts }

local function searched(results)
  local sections = array {}
  if results[1].search.goal == "sensitivity" then
    for _, result in ipairs(results) do sensitivity_sections(result, sections) end
    return sections
  end
  for i, result in ipairs(results) do sections[i] = search_section(result) end
  local draw = charts_of[results[1].search.goal]
  local charts = draw and draw(results)
  if charts and #charts > 0 then table.insert(sections, 1, { heading = "What was tried", charts = charts }) end
  return sections
end

--- {sections, has_baseline} of the results of a scenario. `is_sample`: points of a `sweep`, none a baseline.
function page.of(results, kind, is_sample)
  local sections = array {}
  if #results == 0 or kind ~= "serve" and kind ~= "search" then return { sections = sections, has_baseline = true } end
  if kind == "search" then return { sections = searched(results), has_baseline = false } end
  if not is_sample then sections[1] = over_seeds(results) end
  local has_baseline = not is_sample and #sections == 0
  add_swept(sections, results)
  return { sections = sections, has_baseline = has_baseline }
end

return page
