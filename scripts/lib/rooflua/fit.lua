--- Fits declared parameters to measurements, and says how wrong the result is on data that it did not see.
local native = require "rooflua.native"
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local groups = require "rooflua.explore.fit.groups"
local minimise = require "rooflua.explore.fit.minimise"
local predictions = require "rooflua.explore.fit.predictions"
local Reader = require "rooflua.scenario.reader"
local units = require "rooflua.text.units"

local fit = {}
local fail = core.fail

local keys = { "scenario", "steps", "model", "hardware", "deployment", "mfu", "async_depth", "corrections",
  "params", "target", "groups", "objective", "algorithm", "evaluations", "tolerance", "jobs", "progress" }

local close = 0.01 -- of a range: nearer to its end a value counts as at it

-- Reading ------------------------------------------------------------------------------------------------

local function read(given)
  local task = { objective = given.objective or "mean", algorithm = given.algorithm or "sbplx",
    evaluations = core.whole(given.evaluations or 300, "fit: evaluations", 1),
    tolerance = core.positive(given.tolerance or 1e-6, "fit: tolerance"),
    jobs = given.jobs and core.whole(given.jobs, "fit: jobs", 1, 1024), progress = given.progress }
  if type(task.objective) ~= "string" or not minimise.objectives[task.objective] then
    fail("fit: objective: %s", core.unknown_name("objective", task.objective,
      core.sorted_keys(minimise.objectives)))
  end
  if not minimise.algorithms[core.text(task.algorithm, "fit: algorithm")] then
    fail("fit: algorithm: %s", native.unknown_name("algorithm", task.algorithm, core.sorted_keys(minimise.algorithms)))
  end
  local subject = predictions.subject(Reader.new "fit", given)
  task.ranges = declared.ranges(subject.reader, subject.scenario, given.params, "params")
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
  local list = options.groups == false and { { name = "all", observations = task.observations } }
    or groups.of(task.observations)
  local result = { objective = task.objective, start = minimise.start(task.ranges), error = {}, groups = {},
    parameters = {}, count = #task.observations, unfinished = 0 }
  result.error.before = minimise.score(task, task.model(result.start), task.observations)
  local lists = { task.observations }
  if #list > 1 then
    for _, group in ipairs(list) do lists[#lists + 1] = groups.others(list, group) end
  end
  local fits = minimise.all(task, lists)
  local best = table.remove(fits, 1)
  result.values, result.error.after, result.evaluations = best.values, best.error, best.evaluations
  result.converged, result.hopeless, result.why = best.converged, best.hopeless, best.why
  if result.error.before and result.error.after > result.error.before then
    result.values, result.error.after = result.start, result.error.before -- nothing better was found
  end
  groups.leave_out(task, list, fits, result)
  local alike = #task.ranges > 1 and groups.alike(task, result.values) or {}
  for i, range in ipairs(task.ranges) do
    local value = result.values[range.path]
    local place = declared.place(range, value)
    result.parameters[i] = { path = range.path, before = result.start[range.path], after = value, min = range.min,
      max = range.max, unit = range.unit, at_bound = place < close or place > 1 - close,
      alike = alike[range.path],
      no_effect = groups.has_no_effect(task, result.values, range, result.error.after) }
  end
  result.scenario = predictions.with_values(task.subject, result.values)
  return result
end

-- Text -----------------------------------------------------------------------------------------------------

local percent = units.percent

--- How the search ended, in words.
local function ending(result)
  local lines = { ("converged: %s (%d evaluations)"):format(result.converged and "yes" or "no", result.evaluations) }
  if not result.converged then
    lines[1] = lines[1] .. ": the search was still moving when its evaluations were used up; a better fit may exist, "
      .. "give it more"
  elseif result.unfinished > 0 then
    lines[1] = lines[1] .. (", but %d of the fits without a group ran out of evaluations"):format(result.unfinished)
  end
  if result.hopeless > 0 then
    lines[2] = ("%d evaluations gave no finite error and counted as the worst; the first: %s"):format(result.hopeless,
      result.why)
  end
  return core.join(lines, "\n")
end

--- A result as text: parameters before and after, errors before, after and left out, groups.
---@param result table what fit.fit gave
---@return string
function fit.report(result)
  core.table(result, "fit.report")
  for _, key in ipairs { "parameters", "groups", "error" } do
    if type(result[key]) ~= "table" then
      fail("fit.report: expected what fit.fit gave; its %s is %s", key, core.describe(result[key]))
    end
  end
  local rows = { { "parameter", "before", "after", "from", "to", "" } }
  for _, each in ipairs(result.parameters) do
    local note = each.no_effect and "no effect near this value: not known from these data"
      or each.at_bound and "at its bound" or ""
    if each.alike and not each.no_effect then
      note = (note == "" and "" or note .. "; ") .. "acts like " .. each.alike .. ": only both together are known"
    end
    rows[#rows + 1] = { each.path, each.before, each.after, each.min, each.max, note }
  end
  local errors = { { "group", "figures", "before", "after", "left out" } }
  for _, each in ipairs(result.groups) do
    errors[#errors + 1] = { each.name, each.count, percent(each.before), percent(each.after), percent(each.left_out) }
  end
  errors[#errors + 1] = { "all", result.count, percent(result.error.before), percent(result.error.after),
    percent(result.error.left_out) }
  local text = columns.values
  return ("%s\n\n%s absolute relative error; `left out`: fitted without that group\n%s\n\n%s\n"):format(text(rows),
    result.objective, text(errors), ending(result))
end

--- rooflua.fit { ... } is rooflua.fit.fit { ... }.
return setmetatable(fit, { __call = function(_, given) return fit.fit(given) end })
