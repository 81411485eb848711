-- The cheapest deployment of a list that meets an SLO.
local core = require "rooflua.base.core"
local runs = require "rooflua.explore.runs"
local slo = require "rooflua.explore.search.slo"
local variants = require "rooflua.scenario.variants"

local cheapest = {}
local fail = core.fail

--- The deployments of a list as variants, and what each costs per hour.
function cheapest.deployments(search, given)
  local list, costs, names = {}, {}, {}
  for i, each in ipairs(core.plain(core.table(given, "search: deployments"))) do
    local where = ("search: deployments[%d]"):format(i)
    core.check_keys(core.table(each, where), { "name", "cost_per_hour", "set" }, where)
    local name = core.text(each.name, where .. ".name")
    if names[name] then fail("%s.name: '%s' is there twice", where, name) end
    names[name] = true
    costs[i] = core.not_negative(each.cost_per_hour, where .. ".cost_per_hour")
    local set = core.table(each.set, where .. ".set")
    list[i] = variants.with(variants.base(), "deployment", { label = name, set = set })
    list[i].label = name
    runs.check_keys(search.reader, search.scenario, list[i])
  end
  if #list == 0 then fail "search: deployments: expected at least one { name =, cost_per_hour =, set = {...} }" end
  return list, costs
end

function cheapest.run(search, given)
  local list, costs = cheapest.deployments(search, given.deployments)
  local result = { goal = "cheapest", tried = {} }
  local more = { "output_tokens_per_s" }
  for _, metric in ipairs(search.more) do more[#more + 1] = metric end
  for i, found in ipairs(slo.evaluate(search, list, true)) do
    local entry = { meets = false, metrics = {}, problem = found.problem }
    if not found.problem then entry = slo.judge(found.runs, search.bounds, more) end
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

return cheapest
