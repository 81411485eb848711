-- Searches: the highest load that meets an SLO, the cheapest deployment that does, the Pareto front.
-- Every run of a search uses the same seeds, so that its steps differ in what is searched and nothing else.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local declared = require "rooflua.scenario.declared"
local many = require "rooflua.explore.runs"
local metrics = require "rooflua.measure.metrics"
local sensitivity = require "rooflua.explore.sensitivity"
local variants = require "rooflua.scenario.variants"

local searching = {}
local fail = core.fail

-- SLO --------------------------------------------------------------------------------------------------------

--- {ttft_s_p99 = 0.5, slo_attainment_frac = {min = 0.99}} as a list of {metric, min, max}. A plain number is
--- the most of what should be small, the least of what should be large.
local function bounds_of(given, what, own)
  local out = {}
  for name, value in core.sorted_pairs(core.table(given, what)) do
    local metric = metrics.check(name, what, own)
    local bound = { metric = metric }
    if type(value) == "number" then
      bound[metrics.higher_is_better(metric, own) and "min" or "max"] = value
    else
      local where = what .. "." .. metric
      core.check_keys(core.table(value, where), { "min", "max" }, where)
      for key, limit in core.sorted_pairs(value) do bound[key] = core.number(limit, where .. "." .. key) end
      if bound.min and bound.max and bound.min > bound.max then fail("%s: min is above max", where) end
    end
    out[#out + 1] = bound
  end
  if #out == 0 then fail("%s: expected at least one metric, as in { ttft_s_p99 = 0.5 }", what) end
  return out
end

--- What some runs (one per seed) say: means of metrics, and whether every bound is met.
local function judge(runs, bounds, more)
  local entry = { metrics = {}, meets = true }
  for _, run in ipairs(runs) do
    if run.summary.completed < run.summary.requests then
      entry.meets = false
      entry.problem = ("%d of %d requests were not completed"):format(run.summary.requests - run.summary.completed,
        run.summary.requests)
    end
  end
  for _, bound in ipairs(bounds) do
    local value = metrics.mean(runs, bound.metric)
    entry.metrics[bound.metric] = value
    if not value or bound.max and value > bound.max or bound.min and value < bound.min then entry.meets = false end
  end
  for _, metric in ipairs(more or {}) do entry.metrics[metric] = metrics.mean(runs, metric) end
  return entry
end

-- Running ------------------------------------------------------------------------------------------------------

--- Runs each variant with each seed: {runs, problem} per variant.
local function evaluate(search, list, tolerant)
  local options = { jobs = search.how.jobs, results = search.how.results, progress = search.how.progress,
    tolerant = tolerant }
  local out, runs = many.by_seed(search.name, search.scenario, list, search.seeds, options)
  for _, run in ipairs(runs) do search.runs[#search.runs + 1] = run end
  return out
end

local function base_variant() return { name = "", parameters = {}, changes = {} } end

-- The highest load ---------------------------------------------------------------------------------------------

local load_parameters = { "workload.rate_per_s", "workload.request_rate", "workload.clients" }

local function load_parameter(search, given)
  if given ~= nil then return given end
  for _, each in ipairs(declared.all(search.name, search.scenario)) do
    for _, path in ipairs(load_parameters) do
      if each.path == path then return path end
    end
  end
  return fail "search: parameter: which one is the load? For example \"workload.rate_per_s\""
end

local function tried_at(search, values)
  local list = {}
  for i, value in ipairs(values) do
    list[i] = variants.with(base_variant(), search.range.path, value, ("%.6g"):format(value))
  end
  for i, result in ipairs(evaluate(search, list)) do
    local entry = judge(result.runs, search.bounds, search.more)
    entry.value = values[i]
    search.tried[#search.tried + 1] = entry
  end
  return search.tried[#search.tried]
end

local function between(search, low, high)
  local middle = math.sqrt(low * high)
  return search.range.integer and math.max(math.floor(middle), low + 1) or middle
end

local function close_enough(search, low, high)
  if search.range.integer then return high - low <= 1 end
  return high / low <= 1 + search.tolerance
end

--- Values between the bounds that the bisection has no reason to visit.
local function check_values(search, found, count)
  local values = {}
  for i = 1, count do
    local below = i <= math.ceil(count / 2)
    local low, high = below and search.range.min or found, below and found or search.range.max
    local parts = below and math.ceil(count / 2) or count - math.ceil(count / 2)
    local place = (below and i or i - math.ceil(count / 2)) / (parts + 1)
    local value = low * math.exp(place * math.log(high / low))
    if search.range.integer then value = math.floor(value + 0.5) end
    local new = value > search.range.min and value < search.range.max
    for _, each in ipairs(search.tried) do new = new and each.value ~= value end
    for _, each in ipairs(values) do new = new and each ~= value end
    if new then values[#values + 1] = value end
  end
  return values
end

local function judge_monotone(search, result)
  table.sort(search.tried, function(a, b) return a.value < b.value end)
  result.monotone = true
  local failed_at
  for _, entry in ipairs(search.tried) do
    if not entry.meets then failed_at = failed_at or entry.value end
    if entry.meets and failed_at then
      result.monotone = false
      result.note = ("not monotone: missed at %.6g and met at %.6g; more requests or seeds would tell more")
        :format(failed_at, entry.value)
    end
  end
end

--- Which loads, and how close the answer shall be.
local function load_range(search, given)
  search.range = declared.range(search.name, search.scenario, load_parameter(search, given.parameter),
    { min = given.min, max = given.max }, "search")
  if search.range.min <= 0 then fail("search: min: expected a load above 0, found %.14g", search.range.min) end
  search.tolerance = core.positive(given.tolerance or 0.01, "search: tolerance")
  core.whole(given.checks or 4, "search: checks")
end

local function highest_load(search, given)
  load_range(search, given)
  search.tried = {}
  many.check(search.name, search.scenario, { variants.with(base_variant(), search.range.path, search.range.min) })
  local result = { goal = "rate", parameter = search.range.path, tried = search.tried }
  local low, high = search.range.min, search.range.max
  tried_at(search, { low, high })
  local at_low, at_high = search.tried[1], search.tried[2]
  if not at_low.meets then
    result.note = ("the SLO is missed at the lowest load already (%.6g)"):format(low)
  elseif at_high.meets then
    result.value, result.note = high, ("the SLO is met at the highest load (%.6g): raise max"):format(high)
  else
    while not close_enough(search, low, high) do
      local middle = between(search, low, high)
      if tried_at(search, { middle }).meets then low = middle else high = middle end
    end
    result.value, result.missed_at = low, high
  end
  local checks = given.checks or 4
  if result.value and checks > 0 then
    local values = check_values(search, low, checks)
    if #values > 0 then tried_at(search, values) end
  end
  judge_monotone(search, result)
  return result
end

-- The cheapest deployment ---------------------------------------------------------------------------------------

local function deployments_of(search, given)
  local list, costs, names = {}, {}, {}
  for i, each in ipairs(core.plain(core.table(given, "search: deployments"))) do
    local where = ("search: deployments[%d]"):format(i)
    core.check_keys(core.table(each, where), { "name", "cost_per_hour", "set" }, where)
    local name = core.text(each.name, where .. ".name")
    if names[name] then fail("%s.name: '%s' is there twice", where, name) end
    names[name] = true
    costs[i] = core.not_negative(each.cost_per_hour, where .. ".cost_per_hour")
    list[i] = variants.with(base_variant(), "deployment", { label = name, set = core.table(each.set, where .. ".set") })
    list[i].label = name
    many.apply(search.name, search.scenario, list[i].changes) -- misspelt keys are found before anything runs
  end
  if #list == 0 then fail "search: deployments: expected at least one { name =, cost_per_hour =, set = {...} }" end
  return list, costs
end

local function cheapest(search, given)
  local list, costs = deployments_of(search, given.deployments)
  local result = { goal = "cheapest", tried = {} }
  local more = { "output_tokens_per_s" }
  for i, found in ipairs(evaluate(search, list, true)) do
    local entry = { meets = false, metrics = {}, problem = found.problem }
    if not found.problem then entry = judge(found.runs, search.bounds, more) end
    entry.name, entry.cost_per_hour = list[i].label, costs[i]
    entry.gpus = found.runs[1] and found.runs[1].gpus
    local speed = entry.metrics.output_tokens_per_s
    entry.cost_per_million_output_tokens = speed and speed > 0 and costs[i] / 3600 / speed * 1e6 or nil
    result.tried[i] = entry
  end
  table.sort(result.tried, function(a, b)
    if a.cost_per_hour ~= b.cost_per_hour then return a.cost_per_hour < b.cost_per_hour end
    return a.name < b.name
  end)
  for _, entry in ipairs(result.tried) do
    if entry.meets and not result.value then result.value, result.cost_per_hour = entry.name, entry.cost_per_hour end
  end
  if not result.value then result.note = "no deployment of the list meets the SLO" end
  return result
end

-- The Pareto front -----------------------------------------------------------------------------------------------

local function better(a, b, metric, own)
  if metrics.higher_is_better(metric, own) then return a > b end
  return a < b
end

local function dominates(a, b, objectives, own)
  local strictly = false
  for _, metric in ipairs(objectives) do
    local x, y = a.metrics[metric], b.metrics[metric]
    if better(y, x, metric, own) then return false end
    strictly = strictly or better(x, y, metric, own)
  end
  return strictly
end

local function field_of(search, given)
  local objectives = metrics.list(given.objectives, "search: objectives",
    { "output_tokens_per_s_per_gpu", "tpot_s_p50" }, search.own)
  if given.vary == nil then fail "search: vary: of what? For example { [\"deployment.tp\"] = { 1, 2, 4 } }" end
  local list = variants.grid(search.name, given.vary)
  for _, variant in ipairs(list) do many.apply(search.name, search.scenario, variant.changes) end
  return list, objectives
end

local function pareto(search, given)
  local list, objectives = field_of(search, given)
  local result = { goal = "pareto", objectives = objectives, tried = {}, front = {} }
  for i, found in ipairs(evaluate(search, list, true)) do
    local entry = { meets = false, metrics = {}, problem = found.problem }
    if not found.problem then entry = judge(found.runs, search.bounds, objectives) end
    entry.name, entry.parameters = list[i].name, list[i].parameters
    for _, metric in ipairs(objectives) do
      if not entry.metrics[metric] then entry.meets = false end
    end
    result.tried[i] = entry
  end
  for _, entry in ipairs(result.tried) do
    local beaten = not entry.meets
    for _, other in ipairs(result.tried) do
      beaten = beaten or other.meets and dominates(other, entry, objectives, search.own)
    end
    entry.on_front = not beaten
    if not beaten then result.front[#result.front + 1] = entry end
  end
  table.sort(result.front, function(a, b)
    local x, y = a.metrics[objectives[1]], b.metrics[objectives[1]]
    if x ~= y then return x < y end
    return a.name < b.name
  end)
  return result
end

-- The door ---------------------------------------------------------------------------------------------------------

local function sensitivities(search, given)
  local result, runs = sensitivity.run(search.name, search.scenario, given, search.how)
  result.goal, search.runs = "sensitivity", runs
  return result
end

local goals = { rate = highest_load, cheapest = cheapest, pareto = pareto, sensitivity = sensitivities }
--- What can be wrong with each, found without running anything.
local checks = { rate = load_range, cheapest = function(search, given) deployments_of(search, given.deployments) end,
  pareto = field_of, sensitivity = function() end }
local goal_keys = {
  rate = { "goal", "slo", "seeds", "show", "parameter", "min", "max", "tolerance", "checks" },
  cheapest = { "goal", "slo", "seeds", "deployments" },
  pareto = { "goal", "slo", "seeds", "vary", "objectives" },
  sensitivity = { "goal", "metrics", "params", "step", "seeds" },
}

local function opened(name, scenario, given, how)
  core.table(given, "search")
  local goal = given.goal or "rate"
  if type(goal) ~= "string" or not goals[goal] then
    fail("search: goal: %s", native.unknown_name("goal", tostring(goal), core.sorted_keys(goals)))
  end
  core.check_keys(given, goal_keys[goal], "search")
  local base = {}
  for key, value in pairs(scenario) do base[key] = value end
  base.kind, base.search, base.vary, base.sweep, base.report = nil, nil, nil, nil, nil
  local with_slo = goal == "rate" or goal == "cheapest" or given.slo ~= nil
  local own = many.own_metrics(name, base)
  return { name = name, scenario = base, how = how, runs = {}, goal = goal, own = own,
    seeds = many.seeds(given.seeds, "search: seeds") or { base.seed or 0 },
    more = given.show and metrics.list(given.show, "search: show", nil, own) or {},
    bounds = with_slo and bounds_of(given.slo, "search: slo", own) or {} }
end

--- Finds what is wrong with a search without running it.
function searching.check(name, scenario, given)
  local search = opened(name, scenario, given, {})
  checks[search.goal](search, given)
  many.check(name, search.scenario, { base_variant() })
end

--- Runs a search over a scenario's table. how: jobs, results, progress. Returns its result and all its runs.
function searching.run(name, scenario, given, how)
  local search = opened(name, scenario, given, how)
  local result = goals[search.goal](search, given)
  if search.goal == "sensitivity" then return result, search.runs end
  result.slo, result.seeds, result.runs, result.show = search.bounds, search.seeds, search.runs, search.more
  return result, search.runs
end

return searching
