-- Errors of rows and of gains, and their means.
--
--     error of a metric    e = |ln(simulated / measured)|, at most ln 10; what did not run has ln 10
--     gain of a pair       ln(treatment / reference); its error |simulated gain - measured gain|, at most ln 10
--     mean                 over the metrics of a row, then the rows of a deployment, then deployments
--
-- Every e leaves this file as exp(e) - 1. A gain below the noise of its metric counts as none, on both sides.
local core = require "rooflua.base.core"
local statistics = require "rooflua.base.statistics"

local score = {}

--- The largest error.
score.most = math.log(10)

--- Gains above this are compared in their direction.
local large = math.log(1.1)

--- What repeated runs of one setting differ by, as ln; agents' clients do the same work in each.
local noise = { other = math.log(1.05), throughput = math.log(1.05), ttft_p90 = math.log(1.03) }
local noise_of_agents = { throughput = math.log(1.005) }

local function capped(value) return value < score.most and value or score.most end

--- @param simulated number? nil: there is none
function score.error(simulated, measured)
  if not simulated or not (simulated > 0) or simulated == math.huge then return score.most end
  return capped(math.abs(math.log(simulated / measured)))
end

--- @return table {metric = e} of the metrics that were measured
function score.row(simulated, measured)
  local out = {}
  for metric, value in pairs(measured) do out[metric] = score.error(simulated and simulated[metric], value) end
  return out
end

local function gain_of(treatment, reference, threshold)
  local ok = treatment and reference and treatment > 0 and reference > 0
  if not ok then return nil end
  local gain = math.log(treatment / reference)
  return math.abs(gain) < threshold and 0 or gain
end

--- The gains of a pair: a list of {metric, measured, simulated (nil: did not run), error, is_right (nil: too small)}.
--- @param treatment table {measured, simulated} by metric
--- @param reference table the same
function score.gains(kind, treatment, reference)
  local out = {}
  for metric, value in core.sorted_pairs(treatment.measured) do
    local threshold = kind == "agents" and noise_of_agents[metric] or noise[metric] or noise.other
    local measured = gain_of(value, reference.measured[metric], threshold)
    if measured then
      local simulated = gain_of(treatment.simulated[metric], reference.simulated[metric], threshold)
      local each = { metric = metric, measured = measured, simulated = simulated,
        error = simulated and capped(math.abs(simulated - measured)) or score.most }
      if math.abs(measured) > large then each.is_right = simulated ~= nil and simulated * measured > 0 end
      out[#out + 1] = each
    end
  end
  return out
end

-- Means -------------------------------------------------------------------------------------------------------------

--- The mean over deployments of the means of their values; nil where there is none.
--- @param list table list of {deployment, value}
function score.over_deployments(list)
  local by_name, names, means = {}, {}, {}
  for _, each in ipairs(list) do
    if not by_name[each.deployment] then
      by_name[each.deployment] = {}
      names[#names + 1] = each.deployment
    end
    table.insert(by_name[each.deployment], each.value)
  end
  for i, name in ipairs(names) do means[i] = statistics.mean(by_name[name]) end
  return statistics.mean(means), #names
end

--- An error as it is printed: 0.25 is 25 %.
function score.shown(e) return e and math.exp(e) - 1 end

--- {mean, median, rows} of a list of {deployment, value}.
function score.figures(list)
  local values = {}
  for i, each in ipairs(list) do values[i] = each.value end
  return { mean = score.shown((score.over_deployments(list))), median = score.shown(statistics.median(values)),
    rows = #list }
end

return score
