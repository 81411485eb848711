-- The parameter values with the smallest error over some observations.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local json = require "rooflua.json"
local scan = require "rooflua.explore.fit.scan"
local statistics = require "rooflua.base.statistics"

local minimise = {}
local fail = core.fail

-- Objective ------------------------------------------------------------------------------------------

minimise.algorithms = { bobyqa = true, nelder_mead = true, sbplx = true } -- none of them draws random numbers
minimise.objectives = { mean = statistics.mean, median = statistics.median }

function minimise.finite(value) return value == value and value < math.huge end

local function place_of(observation)
  local name = observation.given and observation.given.name
  return type(name) == "string" and observation.where .. " (" .. name .. ")" or observation.where
end

--- Absolute relative errors of every figure of these observations; and the first that is no finite number, in words.
local function errors_of(pairs_of, observations)
  local errors, bad = {}, nil
  for _, observation in ipairs(observations) do
    for _, pair in ipairs(pairs_of(observation)) do
      local error_ = math.abs(pair.predicted - pair.measured) / math.abs(pair.measured)
      if not bad and not minimise.finite(error_) then
        bad = ("%s: predicted %s, measured %s"):format(place_of(observation), tostring(pair.predicted),
          native.number_text(pair.measured))
      end
      errors[#errors + 1] = error_
    end
  end
  return errors, bad
end

--- The objective of these observations: nil, and why, where it is no finite number.
function minimise.score(task, pairs_of, observations)
  local errors, bad = errors_of(pairs_of, observations)
  if bad then return nil, bad, errors end
  return minimise.objectives[task.objective](errors), nil, errors
end

-- One fit ----------------------------------------------------------------------------------------------

local function values_at(ranges, places)
  local values = {}
  for i, range in ipairs(ranges) do values[range.path] = declared.value(range, places[i]) end
  return values
end

--- What the model predicts for these observations, relative to what was measured: one number per figure.
function minimise.relative(pairs_of, observations)
  local out = {}
  for _, observation in ipairs(observations) do
    for _, pair in ipairs(pairs_of(observation)) do out[#out + 1] = pair.predicted / pair.measured end
  end
  return out
end

--- The values before the fit.
function minimise.start(ranges)
  local values = {}
  for _, range in ipairs(ranges) do values[range.path] = range.now or range.start end
  return values
end

-- The error of a simulation has many small valleys, because a step that ends earlier or later moves every later token.
-- It has wide plains, because a host that is faster than its GPU has no effect. So some evaluations look along each
-- parameter and some over the whole box; the others go down from the best point found. The last stage starts where the
-- one before stopped, with smaller steps.
local stages = { { share = 0.28, algorithm = "direct", step = 0.1 }, { share = 0.29, step = 0.1 },
  { share = 0.16, algorithm = "scan" }, { share = 0.27, step = 0.02 } }

local function text_of(values)
  local words = {}
  for path, value in core.sorted_pairs(values) do words[#words + 1] = path .. " = " .. tostring(value) end
  return core.join(words, ", ")
end

local at_rest = 0.01 -- of the error: what the last quarter of the evaluations may still gain
local enough = 50 -- evaluations per parameter, of which the last quarter says something

--- Whether the last quarter of the evaluations lowered the smallest error by next to nothing.
---@param smallest_at number[] the smallest error after each evaluation
---@param parameters integer how many are fitted
local function came_to_rest(smallest_at, parameters)
  if #smallest_at < enough * parameters then return false end
  local last, before = smallest_at[#smallest_at], smallest_at[math.ceil(#smallest_at * 3 / 4)]
  return before < math.huge and before - last <= at_rest * last
end

--- The smallest error over these observations: {values = {path = value}, error, evaluations, converged = false where
--- the evaluations ran out while the error still fell, hopeless = how many evaluations gave no finite error, why = the
--- first of those in words}.
local function smallest_error(task, observations)
  local ranges, why, smallest_at = task.ranges, nil, {}
  local function objective(places)
    local values = values_at(ranges, places)
    local score, bad = minimise.score(task, task.model(values), observations)
    if bad and not why then why = bad .. ", with " .. text_of(values) end
    smallest_at[#smallest_at + 1] = math.min(smallest_at[#smallest_at] or math.huge, score or math.huge)
    return score or 0 / 0 -- the optimisers take nan as worse than everything
  end
  local best, lower, upper = {}, {}, {}
  for i, range in ipairs(ranges) do
    best[i], lower[i], upper[i] = declared.place(range, range.start), 0, 1
  end
  local smallest, used, hopeless, converged = objective(best), 1, 0, false
  if smallest ~= smallest then smallest, hopeless = math.huge, 1 end
  for _, stage in ipairs(stages) do
    if smallest < task.tolerance then -- no further gain is possible
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
  converged = converged or smallest < task.tolerance or came_to_rest(smallest_at, #ranges)
  if smallest == math.huge then
    local names = {}
    for i, range in ipairs(ranges) do names[i] = range.path end
    fail("fit: none of %d values of %s gave a finite error; the first: %s", used, core.join(names, ", "), why)
  end
  return { values = values_at(ranges, best), error = smallest, evaluations = used, converged = converged,
    hopeless = hopeless, why = why }
end

--- One fit for each list of observations, in task.jobs worker processes if the user gives a number. The results do not
--- depend on that number.
function minimise.all(task, lists)
  local out = {}
  if not task.jobs then
    for i, observations in ipairs(lists) do out[i] = smallest_error(task, observations) end
    return out
  end
  local rows = json.array {}
  for i in ipairs(lists) do rows[i] = { name = "fit " .. i, parameters = { fit = i }, seed = 0 } end
  local documents, problems, about = native.run_many(rows, { jobs = task.jobs, results = "",
    title = task.progress or "" }, function(i) return smallest_error(task, lists[i]) end)
  if about.interrupted then error("interrupted", 0) end
  for i, document in ipairs(documents) do out[i] = document or error(problems[i], 0) end
  return out
end

return minimise
