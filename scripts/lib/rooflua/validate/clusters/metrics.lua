-- What is compared of a row, by kind: the metric, and the columns that may have it, the first one that is there.
local scaling = require "rooflua.validate.clusters.scaling"

local metrics = {}

local ttft = { "ttft", "ttft_mean_s", "ttft_p50_s" }
local e2e = { "e2e", "e2e_mean_s", "e2e_p50_s" }

--- Metrics of single rows.
metrics.arms = {
  routers = { { "output_tok_s", "output_tok_s" }, ttft, { "ttft_p90", "ttft_p90_s" } },
  tiers = { { "throughput", "total_tok_s", "output_tok_s", "requests_s" }, e2e, ttft },
  agents = {},
  pd = { ttft, { "tpot", "tpot_mean_ms", "tpot_p50_ms" }, e2e, { "transfer", "transfer_ms" } },
  replica = { { "e2e", "e2e_p50_s", "e2e_mean_s" }, { "ttft", "ttft_p50_s", "ttft_mean_s" },
    { "output_tok_s", "output_tok_s" }, { "tpot", "tpot_formed_s" } },
  scaling = { { "ttft", "ttft_p50_s", "ttft_mean_s" }, { "output_tok_s", "output_tok_s" },
    { "replicas_peak", "replicas_peak", is_scaled = true } },
  calibration = { { "prefill_tok_s", "prefill_tok_s" } },
}

--- Metrics of gains where they are others than those of the rows.
metrics.gains = {
  agents = { { "throughput", "requests_s" }, { "ttft", "ttft_p50_s" } },
  pd = { { "throughput", "output_tok_s", "total_tok_s", "requests_s" }, ttft, e2e },
  scaling = { { "ttft", "ttft_p50_s", "ttft_mean_s" }, { "output_tok_s", "output_tok_s" } },
}

--- Kinds in the order of reports.
metrics.kinds = { "routers", "tiers", "agents", "pd", "replica", "scaling", "calibration" }

--- The column of a row that has a metric: its name and value in seconds, tokens or shares; nil where none has it.
local function column_of(row, about)
  if about.is_scaled and not scaling.is_scaled(row) then return nil end
  for i = 2, #about do
    local value = row.measured[about[i]]
    if value then return about[i], value end
  end
end

--- Measured metrics of a row: {metric = value}, and the columns that they are of: {metric = name}.
--- @param list table of metrics.arms or metrics.gains
function metrics.measured(row, list)
  local values, columns = {}, {}
  for _, about in ipairs(list) do
    local name, value = column_of(row, about)
    if name then values[about[1]], columns[about[1]] = value, name end
  end
  return values, columns
end

--- The same columns of simulated figures.
function metrics.simulated(figures, columns)
  local out = {}
  for metric, name in pairs(columns) do out[metric] = figures[name] end
  return out
end

return metrics
