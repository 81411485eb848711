-- A sweep on a page: metrics against what was varied.
local core = require "rooflua.base.core"
local grid = require "rooflua.explore.page.grid"
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"
local parts = require "rooflua.explore.page.parts"
local texts = require "rooflua.explore.text"

local swept = {}
local array = json.array

local swept_metrics = { "output_tokens_per_s", "goodput_per_s", "ttft_s_p50", "ttft_s_p99", "tpot_s_p99" }
local drawn_metrics = { "output_tokens_per_s", "goodput_per_s", "ttft_s_p99", "tpot_s_p99" }
local most_parameters, most_series, most_rows = 6, 8, 500

local most_bands = 4

local function shown(value) return ("%.3g"):format(value) end

--- Many values of a number in bands of equally many runs, so that colours can stand for them.
--- @param values table of the number, one per run
--- @param label string
--- @param path string of the parameter of a run
--- @return function from a run {parameters} to the name of its band: "rate_per_s 2 to 4.5"
local function bands_of(values, label, path)
  local sorted = {}
  for i, value in ipairs(values) do sorted[i] = value end
  table.sort(sorted)
  local ends = {}
  for i = 1, most_bands do ends[i] = sorted[math.max(1, math.floor(#sorted * i / most_bands + 0.5))] end
  return function(run)
    local value = run.parameters[path]
    for i = 1, most_bands do
      if value <= ends[i] then
        return ("%s %s to %s"):format(label, shown(i == 1 and sorted[1] or ends[i - 1]), shown(ends[i]))
      end
    end
  end
end

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

local name_of, others_of = parts.value_name, parts.values_of

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
  return parts.table_of(rows)
end

--- What the colour of a run stands for on charts against one parameter: the values of all others if there are few
--- of them, else of the one with the fewest values. {key = function(result), note, is_complete}: `is_complete` says
--- that a colour holds nothing but runs along that parameter.
local function colours_of(results, path, names)
  local rest = {}
  for _, each in ipairs(names) do if each ~= path then rest[#rest + 1] = each end end
  local function count_of(key)
    local seen, count = {}, 0
    for _, result in ipairs(results) do
      local name = key(result)
      if not seen[name] then seen[name], count = true, count + 1 end
    end
    return count
  end
  local function all(result) return others_of(result, rest) end
  if count_of(all) <= most_series then return { key = all, is_complete = true } end
  local best, fewest
  for _, each in ipairs(rest) do
    local count = count_of(function(result) return others_of(result, { each }) end)
    if not fewest or count < fewest then best, fewest = each, count end
  end
  local note = "colours stand for " .. best
  if fewest <= most_series then
    return { key = function(result) return others_of(result, { best }) end, note = note }
  end
  local values = {}
  for i, result in ipairs(results) do values[i] = result.parameters[best] end
  if type(values[1]) ~= "number" then return { key = function() return "" end } end
  return { key = bands_of(values, best:match "[^.]+$", best), note = note }
end

--- Series in the order of their values, so that a legend counts upwards.
local function in_order(series, rank)
  table.sort(series, function(a, b)
    for i, value in ipairs(rank[a.name]) do
      local other = rank[b.name][i]
      if value ~= other then
        if type(value) == "number" and type(other) == "number" then return value < other end
        return tostring(value) < tostring(other)
      end
    end
    return a.name < b.name
  end)
end

--- Whether each series has at most one point for each x, and one of them several.
local function are_lines(series)
  local longest = 0
  for _, each in ipairs(series) do
    local seen = {}
    longest = math.max(longest, #each.points)
    for _, point in ipairs(each.points) do
      if seen[point.x] then return false end
      seen[point.x] = true
    end
  end
  return longest > 1
end

--- The values of a parameter, where they are few enough to stand at an axis.
local function ticks_of(results, path)
  local seen, out = {}, array {}
  for _, result in ipairs(results) do
    local value = result.parameters[path]
    if value and not seen[value] then seen[value], out[#out + 1] = true, value end
  end
  if #out > most_series then return nil end
  table.sort(out)
  return out
end

local function swept_chart(results, path, metric, names, colours, own)
  local series, rank = {}, {}
  for i, result in ipairs(results) do
    local x, y = result.parameters[path], metrics.value(result, metric)
    if x and y then
      local name = colours.key(result)
      parts.add_point(series, name, { x = x, y = y, note = result.name, variant = i - 1 })
      if not rank[name] then
        rank[name] = {}
        for _, each in ipairs(names) do table.insert(rank[name], each ~= path and result.parameters[each] or 0) end
      end
    end
  end
  in_order(series, rank)
  local kind = colours.is_complete and are_lines(series) and "line" or nil
  if kind then
    for _, each in ipairs(series) do table.sort(each.points, function(a, b) return a.x < b.x end) end
  end
  local chart = parts.chart_of({ title = parts.label_of(metric, own) .. " against " .. path, x = path, y = metric,
    kind = kind, limits = parts.limits_of(metric, results[1].summary.slo), own = own }, series)
  if chart then chart.x.ticks = ticks_of(results, path) end
  return chart
end

--- The charts, and what their colours stand for where it is not all that varies.
local function swept_charts(results, numbers, names, own)
  local charts, notes = array {}, {}
  local drawn, slo = core.sorted_keys(own), results[1].summary.slo
  if type(slo) == "table" and type(slo.e2e_s) == "number" then table.insert(drawn, 1, "e2e_s_p99") end
  for i = #drawn_metrics, 1, -1 do table.insert(drawn, 1, drawn_metrics[i]) end
  for i = 1, math.min(#numbers, most_parameters) do
    local colours = colours_of(results, numbers[i], names)
    if colours.note then notes[#notes + 1] = ("Against %s, %s."):format(numbers[i], colours.note) end
    for _, metric in ipairs(drawn) do
      charts[#charts + 1] = swept_chart(results, numbers[i], metric, names, colours, own)
    end
  end
  return charts, notes
end

--- The section of a sweep; nil where one number varies, because the page draws that without it.
--- @param missing table {{name, parameters, why}} of variants without a result
--- @param own table the scenario's own metrics by name: {unit, better}
function swept.section(results, missing, own)
  local numbers, others = varied(results)
  local seeds = results[1].parameters and results[1].parameters.seed ~= nil
  if #numbers == 0 or #numbers + #others < 2 and not seeds then return nil end
  local names = {}
  for _, list in ipairs { others, numbers } do
    for _, path in ipairs(list) do names[#names + 1] = path end
  end
  local charts, colours = swept_charts(results, numbers, names, own)
  local grids, about = grid.of(results, missing, numbers, others, own)
  local note = "Every run is a point."
  if #colours > 0 then
    note = ("%s %s What else varies moves the points as well."):format(note, core.join(colours, " "))
  end
  if #numbers > most_parameters then
    note = note .. (" Only the first %d of %d numbers are drawn."):format(most_parameters, #numbers)
  end
  if about then note = about .. " " .. note end
  local listed = ("%d runs"):format(#results)
  if #results > most_rows then listed = ("the first %d of %d runs"):format(most_rows, #results) end
  return { heading = "Against what was varied", note = note, folded = listed,
    tables = array { swept_table(results, numbers, others) }, charts = charts, grids = grids }
end

return swept
