-- The Pareto front: the variants that no other variant beats in every objective.
local core = require "rooflua.base.core"
local metrics = require "rooflua.measure.metrics"
local runs = require "rooflua.explore.runs"
local slo = require "rooflua.explore.search.slo"
local variants = require "rooflua.scenario.variants"

local pareto = {}
local fail = core.fail

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

--- The variants to compare, and the metrics by which.
function pareto.field(search, given)
  local objectives = metrics.list(given.objectives, "search: objectives",
    { "output_tokens_per_s_per_gpu", "tpot_s_p50" }, search.own)
  if given.vary == nil then fail "search: vary: of what? For example { [\"deployment.tp\"] = { 1, 2, 4 } }" end
  local list = variants.grid(search.reader, given.vary)
  for _, variant in ipairs(list) do runs.check_keys(search.reader, search.scenario, variant) end
  return list, objectives
end

function pareto.run(search, given)
  local list, objectives = pareto.field(search, given)
  local result = { goal = "pareto", objectives = objectives, tried = {}, front = {} }
  local more = {}
  for _, list_of in ipairs { objectives, search.more } do
    for _, metric in ipairs(list_of) do more[#more + 1] = metric end
  end
  for i, found in ipairs(slo.evaluate(search, list, true)) do
    local entry = { meets = false, metrics = {}, problem = found.problem }
    if not found.problem then entry = slo.judge(found.runs, search.bounds, more) end
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

return pareto
