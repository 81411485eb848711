-- The HTML page of a validation: sections of text, tables and plots of measured against simulated values, as a
-- document that the program draws.
local json = require "rooflua.json"
local text = require "rooflua.validate.text"
local totals = require "rooflua.validate.totals"

local page = {}

local plotted = {
  { "e2e_mean", "mean end-to-end time" }, { "tpot_mean", "mean time per output token" },
  { "ttft_p50", "median time to first token" }, { "ttft_mean", "mean time to first token" },
  { "step_time", "mean step" }, { "throughput", "output tokens per second" },
}

local function point_of(result, found, metric)
  local x, y = (found.measured or {})[metric], (found.simulated or {})[metric]
  if not x or not y or not found.errors[metric] then return nil end
  local scale = metric == "throughput" and 1 or 1e3
  return { x = x * scale, y = y * scale,
    note = ("%s, %s, tp %d: %+.1f %%"):format(result.case.id, result.about.model.name, result.about.tp,
      found.errors[metric] * 100) }
end

--- Series {name, points} of results, grouped by a key.
local function series_of(results, metric, belief_of, key_of)
  local by_name, names = {}, {}
  for _, result in ipairs(results) do
    for _, belief in ipairs(belief_of) do
      local found = result.beliefs[belief.name]
      local point = found and found.errors and point_of(result, found, metric)
      if point then
        local name = key_of(result, belief)
        if not by_name[name] then
          by_name[name] = json.array {}
          names[#names + 1] = name
        end
        table.insert(by_name[name], point)
      end
    end
  end
  local out = json.array {}
  for i, name in ipairs(names) do out[i] = { name = name, points = by_name[name] } end
  return out
end

local function chart(title, metric, series)
  local unit = metric == "throughput" and "1/s" or "ms"
  return { title = title, x = { label = "measured", unit = unit, log = true },
    y = { label = "simulated", unit = unit, log = true }, diagonal = true, bands = json.array { 0.1, 0.25 },
    series = series }
end

local function main_charts(current)
  local out = json.array {}
  for _, each in ipairs(plotted) do
    local series = series_of(current.results, each[1], { current.beliefs[1] }, function(result) return result.group end)
    if #series > 0 then out[#out + 1] = chart(each[2], each[1], series) end
  end
  return out
end

--- Every step model on one group, one chart per metric.
local function belief_charts(current, group)
  local members = {}
  for _, result in ipairs(current.results) do
    if result.group == group then members[#members + 1] = result end
  end
  local out = json.array {}
  for _, metric in ipairs { "e2e_mean", "tpot_mean", "step_time" } do
    local series = series_of(members, metric, current.of_group(group), function(_, belief) return belief.name end)
    if #series > 0 then
      local title = metric == "e2e_mean" and plotted[1][2] or metric == "tpot_mean" and plotted[2][2] or plotted[5][2]
      out[#out + 1] = chart(title, metric, series)
    end
  end
  return out
end

--- Rows of a table as the document has them.
local function table_of(rows)
  local out = json.array {}
  for i, row in ipairs(rows) do out[i] = json.array(row) end
  return out
end

local shown_intervals = { { "e2e_mean", "mean end-to-end time" }, { "tpot_mean", "mean time per output token" },
  { "ttft_mean", "mean time to first token" }, { "step_time", "mean step" } }

--- Cases of one metric, ordered by the measured value: the predicted interval and the measured value, both over the
--- simulated one.
local function interval_chart(current, title, metric)
  local cases = {}
  for _, result in ipairs(current.results) do
    local found = result.beliefs[current.beliefs[1].name]
    local one = found and found.intervals and found.intervals[metric]
    local measured, simulated = ((found or {}).measured or {})[metric], ((found or {}).simulated or {})[metric]
    if one and one.predicted and measured and simulated and simulated > 0 then
      cases[#cases + 1] = { result = result, measured = measured, simulated = simulated, one = one }
    end
  end
  if #cases == 0 then return nil end
  table.sort(cases, function(a, b)
    if a.measured ~= b.measured then return a.measured < b.measured end
    return a.result.case.id < b.result.case.id
  end)
  local series = json.array {}
  for i, name in ipairs { "predicted interval", "measured, inside", "measured, outside" } do
    series[i] = { name = name, points = json.array {} }
  end
  for i, each in ipairs(cases) do
    local low, high = each.one.predicted.low / each.simulated, each.one.predicted.high / each.simulated
    local about = ("%s, %s, tp %d: measured %.4g ms, simulated %.4g ms, interval %.4g to %.4g ms"):format(
      each.result.case.id, each.result.about.model.name, each.result.about.tp, each.measured * 1e3,
      each.simulated * 1e3, each.one.predicted.low * 1e3, each.one.predicted.high * 1e3)
    table.insert(series[1].points, { x = i, y = 1, low = low, high = high, note = about })
    table.insert(series[each.one.inside and 2 or 3].points, { x = i, y = each.measured / each.simulated, note = about })
  end
  return { title = title, x = { label = "case, from the shortest measured time to the longest" },
    y = { label = "times the simulated value", log = true }, series = series,
    limits = json.array { { value = 1, label = "simulated", plain = true } } }
end

--- The section of intervals; nil where no case has one.
local function interval_section(current)
  local charts = json.array {}
  for _, each in ipairs(shown_intervals) do charts[#charts + 1] = interval_chart(current, each[2], each[1]) end
  if #charts == 0 then return nil end
  return { heading = "Measured values and predicted intervals", charts = charts,
    note = ("A line is the 90 %% interval that the simulation predicts (%d replicates), a marker the measured value. "
      .. "Both are divided by the simulated value of the case."):format(current.intervals) }
end

--- @return table {title, lead, sections = {{heading, note, charts, tables, text}}}
function page.of(current, by_belief, groups, report, ran)
  local of = by_belief[current.beliefs[1].name]
  local sections = json.array { {
    heading = "Measured against simulated",
    note = "Step model " .. current.beliefs[1].name
      .. ". On the line they agree; the bands are a factor of 1.1 and of 1.25 each way. Axes are logarithmic.",
    charts = main_charts(current),
  }, {
    heading = "By group", note = "Mean of |error| in percent, every case the same weight, the kernel tables that were "
      .. "opened, and what the simulated time rests on.", charts = json.array {},
    tables = json.array { table_of(text.group_rows(of, groups[current.beliefs[1].name],
      totals.order(of))) },
  } }
  local of_intervals = interval_section(current)
  if of_intervals then table.insert(sections, 2, of_intervals) end
  for _, prefix in ipairs { "vLLM", "TensorRT" } do
    for _, group in ipairs(totals.names(of, prefix)) do
      sections[#sections + 1] = { heading = group,
        charts = #current.beliefs > 1 and belief_charts(current, group) or json.array {},
        tables = json.array { table_of(text.belief_rows(by_belief, groups, current.of_group(group),
          group)) },
        note = "Mean of |error| in percent, every case the same weight, by step model." }
    end
  end
  sections[#sections + 1] = { heading = "The whole report", text = report, charts = json.array {} }
  return { title = "Validation of rooflua on " .. current.folder, sections = sections,
    lead = ("%d measured cases, %d simulated. Errors are (simulated - measured) / measured."):format(#current.results,
      ran) }
end

return page
