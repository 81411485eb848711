-- Searches over a scenario: what is asked, checked and handed to the goal.
local core = require "rooflua.base.core"
local cheapest = require "rooflua.explore.search.cheapest"
local highest_load = require "rooflua.explore.search.highest_load"
local json = require "rooflua.json"
local metrics = require "rooflua.measure.metrics"
local own_metrics = require "rooflua.measure.own"
local pareto = require "rooflua.explore.search.pareto"
local changes = require "rooflua.applied.changes"
local runs = require "rooflua.explore.runs"
local schema = require "rooflua.scenario.schema"
local sensitivity = require "rooflua.explore.sensitivity"
local slo = require "rooflua.explore.search.slo"

local searching = {}
local lists = { "fixed", "front", "metrics", "objectives", "rows", "runs", "seeds", "show", "slo", "tried" }
local fail = core.fail

local function sensitivities(search, given)
  local result
  result, search.runs = sensitivity.run(search.reader, search.scenario, given, search.how)
  result.goal = "sensitivity"
  return result
end

local goals = { rate = highest_load.run, cheapest = cheapest.run, pareto = pareto.run, sensitivity = sensitivities }
--- What can be wrong with each, found without running anything; returns the variants of which one at least has to run.
local first_of = { rate = highest_load.first,
  sensitivity = function(search, given) return sensitivity.first(search.reader, search.scenario, given) end,
  pareto = function(...) return (pareto.field(...)) end,
  cheapest = function(search, given) return (cheapest.deployments(search, given.deployments)) end }

local function opened(reader, scenario, given, how)
  core.table(given, "search")
  local goal = given.goal or schema.entry("search.goal").default
  if type(goal) ~= "string" or not goals[goal] then
    fail("search: goal: %s", core.unknown_name("goal", goal, core.sorted_keys(goals)))
  end
  core.check_keys(given, schema.names("search", function(entry) return entry.goals[goal] end), "search")
  local base = core.copy(scenario)
  base.kind, base.search, base.vary, base.sweep, base.report = nil, nil, nil, nil, nil
  local with_slo = goal == "rate" or goal == "cheapest" or given.slo ~= nil
  local own = own_metrics.by_name(reader, base)
  return { reader = reader, scenario = base, how = how, runs = {}, goal = goal, own = own,
    seeds = runs.seeds(given.seeds, "search: seeds") or { base.seed or 0 },
    more = given.show and metrics.list(given.show, "search: show", nil, own) or {},
    bounds = with_slo and slo.bounds(given.slo, "search: slo", own) or {} }
end

--- Finds what is wrong with a search without running it; returns the scenarios of which one at least has to run.
function searching.check(reader, scenario, given)
  local search, out = opened(reader, scenario, given, {}), {}
  local list = first_of[search.goal](search, given)
  runs.check_any(reader, search.scenario, list)
  for i, variant in ipairs(list) do
    local ok, changed = pcall(changes.apply, reader, search.scenario, variant.changes)
    if ok then
      out[#out + 1] = changed
    elseif i == #list and #out == 0 then
      error(changed, 0)
    end
  end
  return out
end

--- Runs a search over a scenario's table. how: jobs, results, progress, round. Returns its result and all its runs.
function searching.run(reader, scenario, given, how)
  local search = opened(reader, scenario, given, how)
  local result = goals[search.goal](search, given)
  if search.goal ~= "sensitivity" then
    result.slo, result.seeds, result.runs, result.show = search.bounds, search.seeds, search.runs, search.more
  end
  for _, key in ipairs(lists) do -- an empty one is a list in documents, too
    if result[key] then json.array(result[key]) end
  end
  return result, search.runs
end

return searching
