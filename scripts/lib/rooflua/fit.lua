--- Fits declared parameters to measurements, and says how wrong the result is on data that it did not see.
local native = require "rooflua.native"
local core = require "rooflua.core"
local declared = require "rooflua.declared"
local predictions = require "rooflua.predictions"

local fit = {}
local fail = core.fail

local keys = { "scenario", "steps", "model", "hardware", "deployment", "mfu", "async_depth", "corrections",
  "params", "target", "groups", "objective", "algorithm", "evaluations", "tolerance" }
local file = "fit"

-- Objective ------------------------------------------------------------------------------------------

local function mean(errors)
  local sum = 0
  for _, each in ipairs(errors) do sum = sum + each end
  return sum / #errors
end

local function median(errors)
  local sorted = {}
  for i, each in ipairs(errors) do sorted[i] = each end
  table.sort(sorted)
  local half = math.floor(#sorted / 2)
  if #sorted % 2 == 1 then return sorted[half + 1] end
  return (sorted[half] + sorted[half + 1]) / 2
end

local known_algorithms = { bobyqa = true, nelder_mead = true, sbplx = true } -- none draws random numbers
local objectives = { mean = mean, median = median }

--- Absolute relative errors of every figure of these observations.
local function errors_of(pairs_of, observations)
  local errors = {}
  for _, observation in ipairs(observations) do
    for _, pair in ipairs(pairs_of(observation)) do
      errors[#errors + 1] = math.abs(pair.predicted - pair.measured) / math.abs(pair.measured)
    end
  end
  return errors
end

-- One fit ----------------------------------------------------------------------------------------------

local function values_at(ranges, places)
  local values = {}
  for i, range in ipairs(ranges) do values[range.path] = declared.value(range, places[i]) end
  return values
end

local function starting_values(ranges)
  local values = {}
  for _, range in ipairs(ranges) do values[range.path] = range.now or range.start end
  return values
end

-- A simulation's error has many small valleys, because a step earlier or later moves every token behind it. So
-- a part of the evaluations looks over the whole box, and the others go down from the best of it and from the
-- start; the last stage starts where the one before stopped, with smaller steps.
local stages = { { share = 0.35, algorithm = "direct", step = 0.1 },
  { share = 0.4, step = 0.1 }, { share = 0.25, step = 0.02 } }

--- The smallest error over these observations: {path = value}, error, evaluations.
local function minimise(task, observations)
  local ranges, score = task.ranges, objectives[task.objective]
  local function objective(places)
    return score(errors_of(task.model(values_at(ranges, places)), observations))
  end
  local best, lower, upper = {}, {}, {}
  for i, range in ipairs(ranges) do
    best[i], lower[i], upper[i] = declared.place(range, range.start), 0, 1
  end
  local smallest, used = objective(best), 1
  for _, stage in ipairs(stages) do
    local budget = math.max(1, math.floor((task.evaluations - 1) * stage.share))
    local places, found, evaluations = native.minimize(objective, best, lower, upper, stage.algorithm or task.algorithm,
      budget, task.tolerance, stage.step)
    if not places then error(found, 0) end
    used = used + evaluations
    if found < smallest then best, smallest = places, found end
    if smallest < task.tolerance then break end -- nothing is left to gain
  end
  return values_at(ranges, best), smallest, used
end

-- Groups -----------------------------------------------------------------------------------------------

local folds = 5

--- Observations by group: what each says itself, else five folds taken in turn.
local function grouped(observations)
  local list, by_name, own = {}, {}, false
  for _, each in ipairs(observations) do own = own or each.group ~= nil end
  for i, each in ipairs(observations) do
    local name = each.group
    if not own then name = "fold " .. (i - 1) % folds + 1 end
    if name == nil then fail("fit: target[%d]: has no group, others have; name one for each or for none", i) end
    name = tostring(name)
    if not by_name[name] then
      by_name[name] = { name = name, observations = {} }
      list[#list + 1] = by_name[name]
    end
    table.insert(by_name[name].observations, each)
  end
  return list
end

local function others(groups, left_out)
  local out = {}
  for _, group in ipairs(groups) do
    if group ~= left_out then
      for _, each in ipairs(group.observations) do out[#out + 1] = each end
    end
  end
  return out
end

--- Fits without each group in turn and scores on it. All left-out errors together are the honest figure.
local function leave_out(task, groups, result)
  local all, score = {}, objectives[task.objective]
  for _, group in ipairs(groups) do
    local entry = { name = group.name, count = #group.observations,
      before = score(errors_of(task.model(result.start), group.observations)),
      after = score(errors_of(task.model(result.values), group.observations)) }
    if #groups > 1 then
      local values, _, used = minimise(task, others(groups, group))
      local errors = errors_of(task.model(values), group.observations)
      entry.left_out, entry.values = score(errors), values
      for _, each in ipairs(errors) do all[#all + 1] = each end
      result.evaluations = result.evaluations + used
    end
    result.groups[#result.groups + 1] = entry
  end
  if #all > 0 then result.error.left_out = score(all) end
end

-- Reading ------------------------------------------------------------------------------------------------

local function read(given)
  local task = { objective = given.objective or "mean", algorithm = given.algorithm or "sbplx",
    evaluations = core.whole(given.evaluations or 300, "fit: evaluations", 1),
    tolerance = core.positive(given.tolerance or 1e-6, "fit: tolerance") }
  if type(task.objective) ~= "string" or not objectives[task.objective] then
    fail("fit: objective: %s", native.unknown_name("objective", tostring(task.objective),
      core.sorted_keys(objectives)))
  end
  if not known_algorithms[core.text(task.algorithm, "fit: algorithm")] then
    fail("fit: algorithm: %s", native.unknown_name("algorithm", task.algorithm, core.sorted_keys(known_algorithms)))
  end
  local subject = predictions.subject(file, given)
  task.ranges = declared.ranges(subject.name, subject.scenario, given.params, "params")
  task.observations = predictions.observations(subject, given.target)
  task.model = predictions.model(subject, task.ranges)
  task.subject = subject
  return task
end

--- Fits `params` of a scenario (or step model) to `target`.
---@param given table
---@return table result
function fit.fit(given)
  local options = {}
  for key, value in core.sorted_pairs(core.table(given, "fit")) do options[key == 1 and "scenario" or key] = value end
  core.check_keys(options, keys, "fit")
  local task = read(options)
  local groups = options.groups == false and { { name = "all", observations = task.observations } }
    or grouped(task.observations)
  local result = { objective = task.objective, start = starting_values(task.ranges), error = {}, groups = {},
    parameters = {}, count = #task.observations }
  local score = objectives[task.objective]
  result.error.before = score(errors_of(task.model(result.start), task.observations))
  result.values, result.error.after, result.evaluations = minimise(task, task.observations)
  if result.error.after > result.error.before then -- a search that found nothing better keeps what there was
    result.values, result.error.after = result.start, result.error.before
  end
  leave_out(task, groups, result)
  for i, range in ipairs(task.ranges) do
    local value = result.values[range.path]
    local place = declared.place(range, value)
    result.parameters[i] = { path = range.path, before = result.start[range.path], after = value, min = range.min,
      max = range.max, unit = range.unit, at_bound = place < 1e-3 or place > 1 - 1e-3 }
  end
  result.scenario = predictions.with_values(task.subject, result.values)
  return result
end

-- Text -----------------------------------------------------------------------------------------------------

local function percent(value) return value and ("%.2f %%"):format(100 * value) or "-" end

--- A result as text: parameters before and after, errors before, after and left out, groups.
---@param result table what fit.fit gave
---@return string
function fit.report(result)
  core.table(result, "fit.report")
  local rows = { { "parameter", "before", "after", "from", "to", "" } }
  for _, each in ipairs(result.parameters) do
    rows[#rows + 1] = { each.path, each.before, each.after, each.min, each.max, each.at_bound and "at its bound" or "" }
  end
  local errors = { { "group", "figures", "before", "after", "left out" } }
  for _, each in ipairs(result.groups) do
    errors[#errors + 1] = { each.name, each.count, percent(each.before), percent(each.after), percent(each.left_out) }
  end
  errors[#errors + 1] = { "all", result.count, percent(result.error.before), percent(result.error.after),
    percent(result.error.left_out) }
  local text = require("rooflua.prices").tables_text
  return ("%s\n\n%s absolute relative error; `left out`: fitted without that group\n%s\n"):format(text(rows),
    result.objective, text(errors))
end

--- rooflua.fit { ... } is rooflua.fit.fit { ... }.
return setmetatable(fit, { __call = function(_, given) return fit.fit(given) end })
