-- Two numbers that were varied as a grid: a cell for each pair of values, coloured by a metric.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"
local parts = require "rooflua.explore.page.parts"

local grid = {}
local array = json.array

local shown_metrics = { "goodput_per_s", "output_tokens_per_s", "ttft_s_p50", "ttft_s_p99", "tpot_s_p50", "tpot_s_p99",
  "e2e_s_p99", "queue_s_mean", "kv_used_frac_max" }
local most_cells, most_grids = 2500, 6

local function both(a, b)
  local out = {}
  for _, list in ipairs { a, b } do
    for _, each in ipairs(list) do out[#out + 1] = each end
  end
  return out
end

--- The values of a parameter in runs, ascending, and the place of each.
local function values_of(runs, path)
  local out, place = array {}, {}
  for _, run in ipairs(runs) do
    local value = run.parameters[path]
    if type(value) == "number" and not place[value] then out[#out + 1], place[value] = value, true end
  end
  table.sort(out)
  for i, value in ipairs(out) do place[value] = i end
  return out, place
end

--- A metric of all cells: {name, label, unit, limit, values}, row by row, its range to be added; nil where no cell has
--- one.
local function metric_of(metric, cells, count, slo, own)
  local values, any = array {}, false
  for i = 1, count do
    local value = cells[i] and metrics.mean(cells[i].runs, metric)
    values[i], any = value or json.null, any or value ~= nil
  end
  if not any then return nil end
  local limit = parts.limits_of(metric, slo)
  return { name = metric, label = parts.label_of(metric, own), unit = parts.unit_of(metric, own),
    limit = limit and limit[1].value, values = values }
end

--- The grid of runs {parameters, summary, index} and of variants without a result.
local function grid_of(runs, missing, across, down, title, own)
  local all = both(runs, missing)
  local xs, place_x = values_of(all, across)
  local ys, place_y = values_of(all, down)
  local cells, count = {}, #xs * #ys
  local function cell_of(run)
    local at = (place_y[run.parameters[down]] - 1) * #xs + place_x[run.parameters[across]]
    cells[at] = cells[at] or { runs = {}, missing = {} }
    return cells[at]
  end
  for _, run in ipairs(runs) do table.insert(cell_of(run).runs, run) end
  for _, each in ipairs(missing) do table.insert(cell_of(each).missing, each) end
  local out = { title = title, x = { label = across }, y = { label = down }, xs = xs, ys = ys,
    variants = array {}, states = array {}, metrics = array {} }
  for i = 1, count do
    local cell = cells[i] or { runs = {}, missing = {} }
    local first = cell.runs[1]
    out.variants[i] = first and first.index or -1
    local lacks = cell.missing[1]
    out.states[i] = lacks and (#cell.runs > 0 and "some runs of it: " or "") .. lacks.why or ""
  end
  local list = core.sorted_keys(own)
  for i = #shown_metrics, 1, -1 do table.insert(list, 1, shown_metrics[i]) end
  for _, metric in ipairs(list) do
    out.metrics[#out.metrics + 1] = metric_of(metric, cells, count, runs[1].summary.slo, own)
  end
  return out
end

--- Gives the metrics of all grids the range of their values, so that a colour means the same in each.
local function share_ranges(grids)
  local low, high = {}, {}
  for _, each in ipairs(grids) do
    for _, metric in ipairs(each.metrics) do
      for _, value in ipairs(metric.values) do
        if value ~= json.null then
          low[metric.name] = math.min(low[metric.name] or value, value)
          high[metric.name] = math.max(high[metric.name] or value, value)
        end
      end
    end
  end
  for _, each in ipairs(grids) do
    for _, metric in ipairs(each.metrics) do metric.low, metric.high = low[metric.name], high[metric.name] end
  end
end

--- Runs and missing variants by what else varied, in order of appearance.
local function groups_of(results, missing, others)
  local groups, by_name = {}, {}
  local function group_of(run)
    local name = parts.values_of(run, others)
    if not by_name[name] then
      by_name[name] = { name = name, runs = {}, missing = {} }
      groups[#groups + 1] = by_name[name]
    end
    return by_name[name]
  end
  for i, result in ipairs(results) do
    table.insert(group_of(result).runs,
      { parameters = result.parameters, summary = result.summary, gpus = result.gpus, index = i - 1 })
  end
  for _, each in ipairs(missing) do table.insert(group_of(each).missing, each) end
  return groups
end

--- Whether runs fill a grid of two parameters: points of a sample are alone in their row.
local function fills(runs, across, down)
  local xs, ys = values_of(runs, across), values_of(runs, down)
  local pairs_of, count = {}, 0
  for _, run in ipairs(runs) do
    local x, y = run.parameters[across], run.parameters[down]
    if type(x) ~= "number" or type(y) ~= "number" then return false end -- a case that leaves one of them alone
    local key = x .. " " .. y
    if not pairs_of[key] then pairs_of[key], count = true, count + 1 end
  end
  return #xs > 1 and #ys > 1 and 2 * count > #xs * #ys, #xs * #ys
end

--- Grids for two numbers, one for each combination of what else varied; nil where there is none. Then a sentence about
--- them, or about why there is none; nil where none is expected.
--- @param missing table {{name, parameters, why}} of variants without a result
--- @param own table the scenario's own metrics by name: {unit, better}
function grid.of(results, missing, numbers, others, own)
  if #numbers ~= 2 then return nil end
  local all = both(results, missing)
  local full, count = fills(all, numbers[1], numbers[2])
  if not full then return nil end
  if count > most_cells then
    return nil, ("A grid of %d cells is not drawn; at most %d are."):format(count, most_cells)
  end
  local groups = groups_of(results, missing, others)
  if #groups > most_grids then
    return nil, ("No grids are drawn: %s have %d combinations, and at most %d are shown."):format(
      core.join(others, ", "), #groups, most_grids)
  end
  local across, down = numbers[1], numbers[2]
  if #values_of(all, across) > #values_of(all, down) then across, down = down, across end
  local grids = array {}
  for _, group in ipairs(groups) do
    if #group.runs > 0 then
      grids[#grids + 1] = grid_of(group.runs, group.missing, across, down, group.name, own)
    end
  end
  share_ranges(grids)
  local seeds = results[1].parameters.seed ~= nil
  return grids, seeds and "A cell of a grid is the mean over its seeds." or nil
end

return grid
