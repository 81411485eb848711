--- Fits declared parameters to measurements, and says how wrong the result is on data that it did not see.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local declared = require "rooflua.scenario.declared"
local json = require "rooflua.json"
local predictions = require "rooflua.explore.fit.predictions"
local scan = require "rooflua.explore.fit.scan"
local statistics = require "rooflua.base.statistics"

local fit = {}
local fail = core.fail

local keys = { "scenario", "steps", "model", "hardware", "deployment", "mfu", "async_depth", "corrections",
  "params", "target", "groups", "objective", "algorithm", "evaluations", "tolerance", "jobs", "progress" }
local file = "fit"

-- Objective ------------------------------------------------------------------------------------------

local known_algorithms = { bobyqa = true, nelder_mead = true, sbplx = true } -- none draws random numbers
local objectives = { mean = statistics.mean, median = statistics.median }

local function finite(value) return value == value and value < math.huge end

local function place_of(observation)
  local name = observation.given and observation.given.name
  return type(name) == "string" and observation.where .. " (" .. name .. ")" or observation.where
end

--- Absolute relative errors of every figure of these observations; and, where one of them is no finite
--- number, which it was.
local function errors_of(pairs_of, observations)
  local errors, bad = {}, nil
  for _, observation in ipairs(observations) do
    for _, pair in ipairs(pairs_of(observation)) do
      local error_ = math.abs(pair.predicted - pair.measured) / math.abs(pair.measured)
      if not bad and not finite(error_) then
        bad = ("%s: predicted %s, measured %s"):format(place_of(observation), tostring(pair.predicted),
          native.number_text(pair.measured))
      end
      errors[#errors + 1] = error_
    end
  end
  return errors, bad
end

--- The objective of these observations: nil, and why, where it is no finite number.
local function score_of(task, pairs_of, observations)
  local errors, bad = errors_of(pairs_of, observations)
  if bad then return nil, bad, errors end
  return objectives[task.objective](errors), nil, errors
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

-- A simulation's error has many small valleys, because a step earlier or later moves every token behind it, and
-- wide plains, because a host that is faster than its GPU is not seen at all. So a part of the evaluations looks
-- along each parameter and a part over the whole box; the others go down from the best of both. The last stage
-- starts where the one before stopped, with smaller steps.
local stages = { { share = 0.28, algorithm = "direct", step = 0.1 }, { share = 0.29, step = 0.1 },
  { share = 0.16, algorithm = "scan" }, { share = 0.27, step = 0.02 } }

local function text_of(values)
  local words = {}
  for path, value in core.sorted_pairs(values) do words[#words + 1] = path .. " = " .. tostring(value) end
  return core.join(words, ", ")
end

--- The smallest error over these observations: {values = {path = value}, error, evaluations, converged (or it ran
--- out of evaluations), hopeless = how many of them gave no finite error, why = of the first of those}.
local function minimise(task, observations)
  local ranges, why = task.ranges, nil
  local function objective(places)
    local values = values_at(ranges, places)
    local score, bad = score_of(task, task.model(values), observations)
    if bad and not why then why = bad .. ", with " .. text_of(values) end
    return score or 0 / 0 -- worse than everything
  end
  local best, lower, upper = {}, {}, {}
  for i, range in ipairs(ranges) do
    best[i], lower[i], upper[i] = declared.place(range, range.start), 0, 1
  end
  local smallest, used, hopeless, converged = objective(best), 1, 0, false
  if smallest ~= smallest then smallest, hopeless = math.huge, 1 end
  for _, stage in ipairs(stages) do
    if smallest < task.tolerance then -- nothing is left to gain
      converged = true
      break
    end
    local budget = math.max(1, math.floor((task.evaluations - 1) * stage.share))
    local places, found, evaluations, ended, bad
    if stage.algorithm == "scan" then
      places, found, evaluations, bad = scan.all(objective, best, smallest, budget)
    else
      places, found, evaluations, ended, bad = native.minimize(objective, best, lower, upper,
        stage.algorithm or task.algorithm, budget, task.tolerance, stage.step)
      if not places then error(found, 0) end
    end
    used, hopeless, converged = used + evaluations, hopeless + bad, ended == true
    if bad < evaluations and found < smallest then best, smallest = places, found end
  end
  if smallest < task.tolerance then converged = true end
  if smallest == math.huge then
    local names = {}
    for i, range in ipairs(ranges) do names[i] = range.path end
    fail("fit: none of %d values of %s gave a finite error; the first: %s", used, core.join(names, ", "), why)
  end
  return { values = values_at(ranges, best), error = smallest, evaluations = used, converged = converged,
    hopeless = hopeless, why = why }
end

--- One fit for each list of observations. In worker processes where the user says how many: each fit is the same
--- whoever makes it.
local function minimise_all(task, lists)
  local out = {}
  if not task.jobs then
    for i, observations in ipairs(lists) do out[i] = minimise(task, observations) end
    return out
  end
  local rows = json.array {}
  for i in ipairs(lists) do rows[i] = { name = "fit " .. i, parameters = { fit = i }, seed = 0 } end
  local documents, problems, about = native.run_many(rows, { jobs = task.jobs, results = "", hash = "",
    scenario = file, title = task.progress or "" }, function(i) return minimise(task, lists[i]) end)
  if about.interrupted then error("interrupted", 0) end
  for i, document in ipairs(documents) do out[i] = document or error(problems[i], 0) end
  return out
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

local nearby = 0.05 -- of a parameter's box

--- Whether the error stays as it is when this parameter moves a little to both sides: then the data do not say
--- what it is.
local function has_no_effect(task, values, range, error_)
  local place, moved = declared.place(range, values[range.path]), 0
  for _, step in ipairs { -nearby, nearby } do
    local tried = {}
    for path, value in pairs(values) do tried[path] = value end
    tried[range.path] = declared.value(range, place + step)
    if tried[range.path] ~= values[range.path] then
      moved = moved + 1
      if score_of(task, task.model(tried), task.observations) ~= error_ then return false end
    end
  end
  return moved > 0
end

--- Scores on each group the fit that did not see it. All left-out errors together are the honest figure.
--- @param fits table one per group, or empty
local function leave_out(task, groups, fits, result)
  local all = {}
  local before, after = task.model(result.start), task.model(result.values)
  for i, group in ipairs(groups) do
    local entry = { name = group.name, count = #group.observations,
      before = (score_of(task, before, group.observations)),
      after = (score_of(task, after, group.observations)) }
    local without = fits[i]
    if without then
      local errors
      entry.left_out, entry.why, errors = score_of(task, task.model(without.values), group.observations)
      entry.values, entry.converged = without.values, without.converged
      for _, each in ipairs(errors) do all[#all + 1] = each end
      result.evaluations = result.evaluations + without.evaluations
      result.hopeless = result.hopeless + without.hopeless
      result.why = result.why or without.why
      if not without.converged then result.unfinished = result.unfinished + 1 end
    end
    result.groups[#result.groups + 1] = entry
  end
  for _, each in ipairs(all) do
    if not finite(each) then return end -- no honest figure
  end
  if #all > 0 then result.error.left_out = objectives[task.objective](all) end
end

-- Reading ------------------------------------------------------------------------------------------------

local function read(given)
  local task = { objective = given.objective or "mean", algorithm = given.algorithm or "sbplx",
    evaluations = core.whole(given.evaluations or 300, "fit: evaluations", 1),
    tolerance = core.positive(given.tolerance or 1e-6, "fit: tolerance"),
    jobs = given.jobs and core.whole(given.jobs, "fit: jobs", 1), progress = given.progress }
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
    parameters = {}, count = #task.observations, unfinished = 0 }
  result.error.before = score_of(task, task.model(result.start), task.observations)
  local lists = { task.observations }
  if #groups > 1 then
    for _, group in ipairs(groups) do lists[#lists + 1] = others(groups, group) end
  end
  local fits = minimise_all(task, lists)
  local best = table.remove(fits, 1)
  result.values, result.error.after, result.evaluations = best.values, best.error, best.evaluations
  result.converged, result.hopeless, result.why = best.converged, best.hopeless, best.why
  if result.error.before and result.error.after > result.error.before then
    result.values, result.error.after = result.start, result.error.before -- nothing better was found
  end
  leave_out(task, groups, fits, result)
  for i, range in ipairs(task.ranges) do
    local value = result.values[range.path]
    local place = declared.place(range, value)
    result.parameters[i] = { path = range.path, before = result.start[range.path], after = value, min = range.min,
      max = range.max, unit = range.unit, at_bound = place < 1e-3 or place > 1 - 1e-3,
      no_effect = has_no_effect(task, result.values, range, result.error.after) }
  end
  result.scenario = predictions.with_values(task.subject, result.values)
  return result
end

-- Text -----------------------------------------------------------------------------------------------------

local function percent(value) return value and ("%.2f %%"):format(100 * value) or "-" end

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
  local rows = { { "parameter", "before", "after", "from", "to", "" } }
  for _, each in ipairs(result.parameters) do
    local note = each.no_effect and "no effect near it: not known from these data"
      or each.at_bound and "at its bound" or ""
    rows[#rows + 1] = { each.path, each.before, each.after, each.min, each.max, note }
  end
  local errors = { { "group", "figures", "before", "after", "left out" } }
  for _, each in ipairs(result.groups) do
    errors[#errors + 1] = { each.name, each.count, percent(each.before), percent(each.after), percent(each.left_out) }
  end
  errors[#errors + 1] = { "all", result.count, percent(result.error.before), percent(result.error.after),
    percent(result.error.left_out) }
  local text = require("rooflua.text.columns").values
  return ("%s\n\n%s absolute relative error; `left out`: fitted without that group\n%s\n\n%s\n"):format(text(rows),
    result.objective, text(errors), ending(result))
end

--- rooflua.fit { ... } is rooflua.fit.fit { ... }.
return setmetatable(fit, { __call = function(_, given) return fit.fit(given) end })
