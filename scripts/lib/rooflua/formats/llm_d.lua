-- Benchmark reports of llm-d, versions 0.2 and 0.2.1, as JSON.
-- Source: github.com/llm-d/llm-d-benchmark, llmdbenchmark/analysis/benchmark_report/schema_v0_2.py
--
-- time_per_output_token and inter_token_latency leave the first token out; normalized_time_per_output_token has it, and
-- is not read. Each figure has its unit beside it.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local llm_d = {}
local fail = core.fail

--- Units of a second.
local units = { s = 1, ms = 1e3, ["s/token"] = 1, ["ms/token"] = 1e3 }

local figures = { ttft_s_mean = { "time_to_first_token", "mean" }, ttft_s_p50 = { "time_to_first_token", "p50" },
  tpot_s_mean = { "time_per_output_token", "mean" }, tpot_s_p50 = { "time_per_output_token", "p50" },
  e2e_s_mean = { "request_latency", "mean" } }

local aggregate = "results.request_performance.aggregate."

local function seconds_of(path, document, name, statistic)
  local key = aggregate .. "latency." .. name
  if fields.at(document, key) == nil then return nil end
  local unit = fields.at(document, key .. ".units")
  if not units[unit] then
    fail("%s: %s.units: expected s, ms, s/token or ms/token, found %s", path, key, core.describe(unit))
  end
  local value = fields.positive(path, document, key .. "." .. statistic, 1e12)
  return value and value / units[unit]
end

--- Whether a component of the stack says that the report was simulated.
local function is_simulated(path, document)
  for _, each in ipairs(fields.list(path, document, "scenario.stack")) do
    if fields.at(each, "standardized.tool") == fields.simulated then return true end
  end
  return false
end

function llm_d.read(path, document)
  local version = fields.at(document, "version")
  if version ~= "0.2" and version ~= "0.2.1" then
    fail("%s: version: expected \"0.2\" or \"0.2.1\", found %s; convert it with llm-d's benchmark-report", path,
      core.describe(version))
  end
  local run = { metrics = {}, notes = {} }
  for metric, key in core.sorted_pairs(figures) do run.metrics[metric] = seconds_of(path, document, key[1], key[2]) end
  local total = fields.needed(path, document, aggregate .. "requests.total", fields.most_requests)
  run.failed = (fields.number(path, document, aggregate .. "requests.failures", fields.most_requests) or 0)
    + (fields.number(path, document, aggregate .. "requests.incomplete", fields.most_requests) or 0)
  run.count = total - run.failed
  run.prompt_tokens = fields.needed(path, document, aggregate .. "requests.input_length.mean", fields.most_tokens)
  run.output_tokens = fields.needed(path, document, aggregate .. "requests.output_length.mean", fields.most_tokens)
  run.output_tokens_per_s = fields.positive(path, document, aggregate .. "throughput.output_token_rate.mean",
    fields.most_rate)
  run.rate_per_s = fields.positive(path, document, "scenario.load.standardized.rate_qps", fields.most_rate)
  local clients = fields.at(document, "scenario.load.standardized.concurrency")
  if not run.rate_per_s and type(clients) == "number" then
    run.clients = fields.positive(path, document, "scenario.load.standardized.concurrency", fields.most_requests)
  end
  if not run.rate_per_s and not run.clients then
    run.refused = path .. ": scenario.load.standardized: states neither rate_qps nor concurrency, so the load cannot "
      .. "be replayed; add one of them"
  end
  if is_simulated(path, document) then run.notes[1] = fields.simulated_note end
  return { run }
end

return llm_d
