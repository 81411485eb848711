-- Errors of a case: (simulated - measured) / measured of each figure that both sides have.
--
--     e2e_mean, tpot_mean, ttft_mean, ttft_p50   over scored requests; tpot as vLLM's benchmark defines it
--     e2e, tpot, ttft _p50, _p90, _p99           the same, if requests were measured one by one; in intervals only
--     step_time                                  mean step; step_time_median the median of |error| per step
--     throughput                                 output tokens per second
local statistics = require "rooflua.base.statistics"

local score = {}

--- In the order of a table's columns.
score.metrics = { "e2e_mean", "tpot_mean", "ttft_p50", "ttft_mean", "step_time", "throughput" }

--- Metrics of intervals: quantiles as well.
score.spread = { "e2e_mean", "e2e_p50", "e2e_p90", "e2e_p99", "tpot_mean", "tpot_p50", "tpot_p90", "tpot_p99",
  "ttft_mean", "ttft_p50", "ttft_p90", "ttft_p99", "step_time", "throughput" }

--- Figures of requests {ttft_s, e2e_s, output_tokens}.
function score.figures(requests)
  local ttft, e2e, tpot = {}, {}, {}
  for i, each in ipairs(requests) do
    ttft[i], e2e[i] = each.ttft_s, each.e2e_s
    if each.output_tokens > 1 then tpot[#tpot + 1] = (each.e2e_s - each.ttft_s) / (each.output_tokens - 1) end
  end
  local out = {}
  for name, values in pairs { e2e = e2e, tpot = tpot, ttft = ttft } do
    out[name .. "_mean"] = statistics.mean(values)
    for _, percent in ipairs { 50, 90, 99 } do
      out[("%s_p%d"):format(name, percent)] = statistics.quantile(values, percent / 100)
    end
  end
  return out
end

--- @param simulated table figures
--- @param measured table figures
--- @param metrics table? names of metrics; nil: score.metrics
--- @return table error by metric
function score.errors(simulated, measured, metrics)
  local out = {}
  for _, metric in ipairs(metrics or score.metrics) do
    local a, b = simulated[metric], measured[metric]
    if a and b and b > 0 then out[metric] = a / b - 1 end
  end
  return out
end

--- The error of a mean step, and the median of the errors of single steps.
function score.steps(simulated_s, measured_s)
  local errors, a, b = {}, 0, 0
  for i, time_s in ipairs(simulated_s) do
    errors[i] = math.abs(time_s / measured_s[i] - 1)
    a, b = a + time_s, b + measured_s[i]
  end
  return { step_time = a / b - 1, step_time_median = statistics.quantile(errors, 0.5) }
end

--- Share of the time of cases by evidence; every case has the same weight.
function score.evidence(cases)
  local out = {}
  for _, each in ipairs(cases) do
    for name, share in pairs(each.evidence or {}) do out[name] = (out[name] or 0) + share / #cases end
  end
  return out
end

--- Mean and median of |error| over cases that have the metric, and the evidence of these cases.
function score.total(cases, metric)
  local values, members = {}, {}
  for _, each in ipairs(cases) do
    local value = each.errors and each.errors[metric]
    if value then
      values[#values + 1] = math.abs(value)
      members[#values] = each
    end
  end
  if #values == 0 then return nil end
  return { mean_abs_error = statistics.mean(values), median_abs_error = statistics.quantile(values, 0.5),
    worst_abs_error = statistics.quantile(values, 1), cases = #values, evidence = score.evidence(members) }
end

return score
