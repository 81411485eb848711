-- How metrics change when a declared parameter changes by 1 %: central differences with the same random numbers.
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local metrics = require "rooflua.measure.metrics"
local own_metrics = require "rooflua.measure.own"
local paired = require "rooflua.explore.paired"
local runs = require "rooflua.explore.runs"
local schema = require "rooflua.scenario.schema"
local variants = require "rooflua.scenario.variants"

local sensitivity = {}

local function whole(value) return type(value) == "number" and value % 1 == 0 end

--- How a parameter is moved: {path, value, low, high, how, unit}; or nil, and why it is not.
local function moves_of(each, step)
  local about, value = each.about, each.value
  if value == nil then value = about.default end
  if each.kind == "choice" then return nil, "a choice" end
  if each.kind == "boolean" then return nil, "true or false" end
  if type(value) ~= "number" then return nil, type(value) == "nil" and "has no value here" or core.describe(value) end
  if value - value ~= 0 then return nil, "not finite" end
  local integer = about.integer or about.type == "any" and whole(value)
  if value == -1 and about.min == -1 then return nil, "is -1, the engine's own" end
  if value == 0 then return nil, "is 0, and 1 % of it nothing" end
  local size = integer and math.max(1, math.floor(math.abs(value) * step + 0.5)) or math.abs(value) * step
  local low, high = value - size, value + size
  if about.min and (low < about.min or about.exclusive_min and low == about.min) then low = value end
  if about.max and (high > about.max or about.exclusive_max and high == about.max) then high = value end
  if integer and low <= 0 and about.type == "any" then low = value end
  if low == high then return nil, "cannot move between its bounds" end
  local sign = low == value and "+" or high == value and "-" or "±"
  local how = integer and ("%s%d"):format(sign, size) or ("%s%g %%"):format(sign, 100 * step)
  return { path = each.path, value = value, low = low, high = high, how = how, unit = about.unit }
end

local function chosen(reader, given, params, step)
  local list, fixed, wanted, all = {}, {}, nil, declared.all(reader, given)
  if params ~= nil then
    wanted = {}
    for _, path in ipairs(core.plain(core.table(params, "sensitivity: params"))) do
      local found = declared.find(reader, given, path, "params")
      local is_listed = wanted[found.path]
      for _, each in ipairs(is_listed and {} or all) do is_listed = is_listed or each.path == found.path end
      if not is_listed then all[#all + 1] = found end
      wanted[found.path] = true
    end
  end
  for _, each in ipairs(all) do
    if not wanted or wanted[each.path] then
      local move, why = moves_of(each, step)
      if move then
        list[#list + 1] = move
      elseif wanted or each.value ~= nil then
        fixed[#fixed + 1] = { path = each.path, why = why }
      end
    end
  end
  return list, fixed
end

--- Mean change per 1 % and, with several seeds, whether 0 lies outside of its 95 % interval.
local function change_of(low, high, metric, share)
  local differences = {}
  for i, run in ipairs(low) do
    local a, b = metrics.value(run, metric), metrics.value(high[i], metric)
    if not a or not b then return nil end
    differences[i] = (b - a) / share
  end
  local change, from, to = paired.interval(differences, 0.95, "t")
  return change, from == nil or from > 0 or to < 0 or from == to
end

--- What one move did to every metric.
local function row_of(move, low, high, names, base)
  local row = { path = move.path, value = move.value, how = move.how, unit = move.unit,
    change = {}, percent = {}, clear = {} }
  local share = (move.high - move.low) / math.abs(move.value) / 0.01 -- size of the move, in units of 1 %
  for _, metric in ipairs(names) do
    local change, clear = change_of(low, high, metric, share)
    row.change[metric], row.clear[metric] = change, clear
    if change and base[metric] and base[metric] ~= 0 then row.percent[metric] = 100 * change / base[metric] end
  end
  return row
end

--- What is asked, checked: metrics, step, seeds, and which parameters are moved and which stay fixed.
local function asked(reader, scenario, given)
  local names = metrics.list(given.metrics, "sensitivity: metrics",
    { "ttft_s_p99", "tpot_s_p50", "output_tokens_per_s" }, own_metrics.by_name(reader, scenario))
  local step = core.positive(given.step or schema.entry("search.step").default, "sensitivity: step")
  if step >= 1 then core.fail("sensitivity: step: expected a share below 1 (0.01 is 1 %%), found %.14g", step) end
  local seeds = runs.seeds(given.seeds, "sensitivity: seeds") or { scenario.seed or 0 }
  local moves, fixed = chosen(reader, scenario, given.params, step)
  return names, step, seeds, moves, fixed
end

--- The variants that a sensitivity begins with: the scenario as it is.
function sensitivity.first(reader, scenario, given)
  asked(reader, scenario, given)
  return { variants.base() }
end

--- The sensitivities of a scenario, and the runs that they rest on. given: metrics, params, step, seeds; how: jobs,
--- results, progress.
function sensitivity.run(reader, scenario, given, how)
  local names, step, seeds, moves, fixed = asked(reader, scenario, given)
  local base = variants.base()
  base.name = "base"
  runs.check(reader, scenario, { base })
  local list = { base }
  for _, move in ipairs(moves) do
    for _, side in ipairs { "low", "high" } do
      if move[side] ~= move.value then
        move[side .. "_at"] = #list + 1
        list[#list + 1] = variants.with({ name = move.path, parameters = {}, changes = {} }, move.path, move[side])
      end
    end
  end
  local by_move, all = runs.by_seed(reader, scenario, list, seeds,
    { jobs = how.jobs, results = how.results, also = how.also, book = how.book, progress = how.progress,
      round = how.round,
      tolerant = true })
  if by_move[1].problem then error(by_move[1].problem, 0) end
  local result = { metrics = names, base = {}, rows = {}, fixed = fixed, seeds = seeds, step = step,
    run_count = #list * #seeds }
  for _, metric in ipairs(names) do result.base[metric] = metrics.mean(by_move[1].runs, metric) end
  for _, move in ipairs(moves) do
    local low, high = by_move[move.low_at or 1], by_move[move.high_at or 1]
    if low.problem or high.problem then
      fixed[#fixed + 1] = { path = move.path, why = low.problem or high.problem }
    else
      result.rows[#result.rows + 1] = row_of(move, low.runs, high.runs, names, result.base)
    end
  end
  local first = names[1]
  table.sort(result.rows, function(a, b)
    local x, y = math.abs(a.change[first] or 0), math.abs(b.change[first] or 0)
    if x ~= y then return x > y end
    return a.path < b.path
  end)
  return result, all
end

return sensitivity
