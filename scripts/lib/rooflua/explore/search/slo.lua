-- Runs of a search, and whether they meet its SLO. Every run of a search uses the same seeds, so that two variants
-- differ in what is searched and in nothing else.
local core = require "rooflua.base.core"
local metrics = require "rooflua.measure.metrics"
local outcomes = require "rooflua.measure.outcomes"
local runs = require "rooflua.explore.runs"

local slo = {}
local fail = core.fail

--- {ttft_s_p99 = 0.5, slo_attainment_frac = {min = 0.99}} as a list of {metric, min, max}. A plain number is the
--- upper bound of a metric that should be small, and the lower bound of one that should be large.
---@param own table the scenario's own metrics by name
function slo.bounds(given, what, own)
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

--- The verdict on the runs of one variant, one per seed: {metrics = means, meets = every bound is met, problem}.
function slo.judge(list, bounds, more)
  local entry = { metrics = {}, meets = true }
  for _, run in ipairs(list) do
    local lost = outcomes.not_completed(run.summary)
    if lost then entry.meets, entry.problem = false, outcomes.text(lost) end
  end
  for _, bound in ipairs(bounds) do
    local value = metrics.mean(list, bound.metric)
    entry.metrics[bound.metric] = value
    if not value or bound.max and value > bound.max or bound.min and value < bound.min then entry.meets = false end
  end
  for _, metric in ipairs(more or {}) do entry.metrics[metric] = metrics.mean(list, metric) end
  return entry
end

--- Runs each variant with each seed: {runs, problem} per variant.
function slo.evaluate(search, list, tolerant)
  local options = { jobs = search.how.jobs, results = search.how.results, also = search.how.also,
    book = search.how.book, progress = search.how.progress, tolerant = tolerant,
    round = search.how.round }
  local out, all = runs.by_seed(search.reader, search.scenario, list, search.seeds, options)
  for _, run in ipairs(all) do search.runs[#search.runs + 1] = run end
  return out
end

return slo
