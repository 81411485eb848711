-- A result as a benchmark report of llm-d, version 0.2. Its schema forbids unknown keys, so what only rooflua knows
-- (parameters, evidence) stands in the native part of the one component.
-- Source: github.com/llm-d/llm-d-benchmark, llmdbenchmark/analysis/benchmark_report/schema_v0_2.py
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local fields = require "rooflua.formats.fields"

local llm_d = {}

--- The schema has no p99 of other names; a statistic that was not computed is left out.
local statistics = { { "mean", "mean" }, { "std", "stddev" }, { "min", "min" }, { "p50", "p50" }, { "p90", "p90" },
  { "p95", "p95" }, { "p99", "p99" }, { "max", "max" } }

local latencies = { { "time_to_first_token", "ttft_s", "s" }, { "time_per_output_token", "tpot_s", "s/token" },
  { "inter_token_latency", "itl_s", "s/token" }, { "request_latency", "e2e_s", "s" } }

-- The same in each report of thousands.
local simulated, unversioned = json.array { "simulated" }, { schema_version = "0.0.1" }

--- What a report is made of, of all that a variant holds: `rooflua results export` hands over no more than that.
llm_d.reads = { parameters = true, summary = { requests = true, completed = true, duration_s = true,
  requests_per_s = true, output_tokens_per_s = true, prompt_tokens = true, output_tokens = true, evidence = true } }
for _, each in ipairs(latencies) do llm_d.reads.summary[each[2]] = true end

local function statistics_of(metric, unit)
  if type(metric) ~= "table" or type(metric.mean) ~= "number" or metric.count == 0 then return nil end
  local out = { units = unit }
  for _, each in ipairs(statistics) do
    local value = metric[each[1]]
    if type(value) == "number" then out[each[2]] = value end
  end
  return out
end

local function mean_only(value, unit)
  return type(value) == "number" and { units = unit, mean = value } or nil
end

local function length_of(tokens, completed)
  return completed > 0 and tokens / completed or 0
end

local function aggregate_of(summary)
  local completed, latency = summary.completed, {}
  for _, each in ipairs(latencies) do latency[each[1]] = statistics_of(summary[each[2]], each[3]) end
  local per_s = summary.duration_s > 0 and 1 / summary.duration_s or 0
  return {
    requests = { total = summary.requests, failures = summary.requests - completed,
      input_length = mean_only(length_of(summary.prompt_tokens, completed), "count"),
      output_length = mean_only(length_of(summary.output_tokens, completed), "count") },
    throughput = { request_rate = mean_only(summary.requests_per_s, "queries/s"),
      output_token_rate = mean_only(summary.output_tokens_per_s, "tokens/s"),
      input_token_rate = mean_only(summary.prompt_tokens * per_s, "tokens/s"),
      total_token_rate = mean_only((summary.prompt_tokens + summary.output_tokens) * per_s, "tokens/s") },
    latency = latency }
end

--- The rate and the clients that a scenario's parameters state.
local function load_of(variant, facts)
  local summary, parameters = variant.summary, variant.parameters or {}
  local standardized = { tool = "rooflua", tool_version = facts.build, source = "unknown",
    input_seq_len = { distribution = "other", value = length_of(summary.prompt_tokens, summary.completed) } }
  standardized.output_seq_len = { distribution = "other",
    value = length_of(summary.output_tokens, summary.completed) }
  standardized.rate_qps = facts.rate_per_s or parameters["workload.rate_per_s"]
  standardized.concurrency = facts.clients or parameters["workload.clients"]
  return { metadata = unversioned, standardized = standardized, native = {} }
end

--- The report of one variant of a result document.
--- @param variant table {name, parameters, summary} of kind serve
--- @param facts table {uid, build, and optionally eid, title, scenario, seed, rate_per_s, clients}
function llm_d.report(variant, facts)
  local summary = variant.summary
  if type(summary) ~= "table" or type(summary.ttft_s) ~= "table" then
    core.fail("llm-d: expected a result of kind \"serve\", which has requests")
  end
  local config = { scenario = facts.scenario, seed = facts.seed, parameters = variant.parameters,
    evidence = summary.evidence }
  local title = facts.title or facts.scenario or ""
  local named = variant.name and variant.name ~= "" and title .. " (" .. variant.name .. ")" or title
  return {
    version = "0.2",
    run = { uid = facts.uid, eid = facts.eid, description = "simulated by rooflua: " .. named,
      keywords = simulated, time = { duration = ("PT%.14gS"):format(summary.duration_s) } },
    scenario = {
      stack = json.array { { metadata = { schema_version = "0.0.1", label = "rooflua-0", cfg_id = facts.uid },
        standardized = { kind = "generic", tool = fields.simulated, tool_version = facts.build },
        native = { config = config } } },
      load = load_of(variant, facts) },
    results = { request_performance = { aggregate = aggregate_of(summary) } },
  }
end

return llm_d
