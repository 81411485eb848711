-- Searches on a page: loads, Pareto fronts, costs.
local json = require "rooflua.json"
local parts = require "rooflua.explore.page.parts"
local sensitivities = require "rooflua.explore.page.sensitivities"
local texts = require "rooflua.explore.text"

local searched = {}
local array = json.array

--- Rows without the reason that may follow their last column, and the reasons as a table of their own. Beside ten
--- numbers, a sentence would be a very narrow column.
local function without_reasons(rows)
  local columns, plain, reasons = #rows[1], {}, { { rows[1][1], "why it has no figures" } }
  for i, row in ipairs(rows) do
    plain[i] = {}
    for j = 1, math.min(columns, #row) do plain[i][j] = row[j] end
    if #row > columns then reasons[#reasons + 1] = { row[1], row[#row] } end
  end
  return plain, #reasons > 1 and reasons or nil
end

local function section_of(result)
  local search = result.search
  local heading = result.name ~= "" and result.name or "Search"
  local line, rows = texts.search_rows(search)
  local words = { (line:gsub("^%l", string.upper)) .. "." }
  if #search.slo > 0 then words[#words + 1] = "SLO: " .. texts.slo(search.slo) .. "." end
  words[#words + 1] = ("%d runs, seeds %s."):format(#search.runs, table.concat(search.seeds, " "))
  if search.note then words[#words + 1] = "Note: " .. search.note .. "." end
  local plain, reasons = without_reasons(rows)
  return { heading = heading, note = table.concat(words, " "),
    tables = array { parts.table_of(plain), reasons and parts.table_of(reasons) or nil } }
end

--- One chart per metric of the SLO, a line per variant, and the limit.
local function load_charts(results)
  local charts, first = array {}, results[1].search
  for _, bound in ipairs(first.slo) do
    local series, limits = {}, {}
    for _, result in ipairs(results) do
      for _, entry in ipairs(result.search.tried) do
        local y = entry.metrics[bound.metric]
        if y then parts.add_point(series, result.name ~= "" and result.name or "tried", { x = entry.value, y = y }) end
      end
    end
    for _, limit in ipairs { "max", "min" } do
      if bound[limit] then
        limits[#limits + 1] = { value = bound[limit], label = "SLO" }
      end
    end
    charts[#charts + 1] = parts.chart_of({ title = parts.label_of(bound.metric) .. " against " .. first.parameter,
      x = first.parameter, y = bound.metric, kind = "line", limits = limits }, series)
  end
  return charts
end

local function front_charts(results)
  local charts = array {}
  for _, result in ipairs(results) do
    local search, series = result.search, {}
    local across, up = search.objectives[1], search.objectives[2] or search.objectives[1]
    for _, front in ipairs { true, false } do
      for _, entry in ipairs(search.tried) do
        local x, y = entry.metrics[across], entry.metrics[up]
        if x and y and (entry.on_front == true) == front then
          parts.add_point(series, front and "on the front" or "beaten", { x = x, y = y, note = entry.name })
        end
      end
    end
    charts[#charts + 1] = parts.chart_of({ title = "Pareto front", x = across, y = up }, series)
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
            parts.add_point(series, meets and "meets the SLO" or "misses it",
              { x = entry.cost_per_hour, y = y, note = entry.name })
          end
        end
      end
    end
    charts[#charts + 1] = parts.chart_of({ x = "cost per hour", y = bound.metric,
      title = ("%s against cost (SLO: %s)"):format(parts.label_of(bound.metric), texts.slo { bound }) }, series)
  end
  return charts
end

local charts_of = { rate = load_charts, pareto = front_charts, cheapest = cost_charts }

--- The sections of searches, one result per variant.
function searched.sections(results)
  local sections = array {}
  if results[1].search.goal == "sensitivity" then
    for _, result in ipairs(results) do sensitivities.add(sections, result) end
    return sections
  end
  for i, result in ipairs(results) do sections[i] = section_of(result) end
  local draw = charts_of[results[1].search.goal]
  local charts = draw and draw(results)
  if charts and #charts > 0 then table.insert(sections, 1, { heading = "What was tried", charts = charts }) end
  return sections
end

return searched
