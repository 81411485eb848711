-- Errors of measured runs of speculative decoding by model, and how often the numbers of drafts are ordered right.
--
--     error = simulated / measured - 1
--     order = share of loads at which the runs with other numbers of drafts have the measured order of throughput
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local statistics = require "rooflua.base.statistics"

local totals = {}

totals.metrics = { "tpot", "ttft", "throughput" }

local function figures(answers, metric)
  local absolute, signed = {}, {}
  for i, answer in ipairs(answers) do
    signed[i] = answer.errors[metric]
    absolute[i] = math.abs(signed[i])
  end
  return { mean = statistics.mean(absolute), median = statistics.median(absolute), cases = #absolute,
    signed_median = statistics.median(signed) }
end

--- {model = answers}, of those that ran.
function totals.by_model(answers)
  return errors.by(answers, function(answer) return answer.errors and answer.model end)
end

--- Answers of the same model under the same number of clients, of two or more numbers of drafts.
local function compared(answers)
  local groups, out = errors.by(answers, function(answer)
    local clients = answer.errors and answer.case.load.clients
    return clients and ("%s %06d"):format(answer.model, clients)
  end), {}
  for _, key in ipairs(core.sorted_keys(groups)) do
    if #groups[key] > 1 then out[#out + 1] = groups[key] end
  end
  return out
end

--- Numbers of drafts from the slowest to the fastest: "7 0 1".
local function ranking(group, value_of)
  local sorted = {}
  for i, answer in ipairs(group) do sorted[i] = answer end
  table.sort(sorted, function(a, b)
    local left, right = value_of(a), value_of(b)
    return left < right or left == right and a.case.k < b.case.k
  end)
  for i, answer in ipairs(sorted) do sorted[i] = ("%d"):format(answer.case.k) end
  return table.concat(sorted, " ")
end

--- Rows {model, clients, measured, simulated}: numbers of drafts from slow to fast.
function totals.orders(answers)
  local out = {}
  for i, group in ipairs(compared(answers)) do
    out[i] = { group[1].model, group[1].case.load.clients,
      ranking(group, function(answer) return answer.case.measured.throughput end),
      ranking(group, function(answer) return answer.simulated.throughput end) }
  end
  return out
end

--- The document's member `speculation`.
function totals.document(answers)
  local out = {}
  for model, list in pairs(totals.by_model(answers)) do
    out[model] = {}
    for _, metric in ipairs(totals.metrics) do out[model][metric] = figures(list, metric) end
  end
  local orders, right = totals.orders(answers), 0
  for _, row in ipairs(orders) do right = right + (row[3] == row[4] and 1 or 0) end
  out.order = #orders > 0 and right / #orders or nil
  return out
end

return totals
