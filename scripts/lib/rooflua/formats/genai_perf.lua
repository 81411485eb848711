-- The summary of genai-perf, profile_export_genai_perf.json.
-- Source: github.com/triton-inference-server/perf_analyzer, genai-perf/genai_perf/metrics/statistics.py,
-- export_data/json_exporter.py, profile_data_parser/llm_profile_data_parser.py
--
-- Each figure has its unit beside it. inter_token_latency is (end - first token) / (n - 1) of a request, which is TPOT
-- here. The load is in input_config: as perf_analyzer.stimulus, before 0.0.13 as concurrency or request_rate.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local genai_perf = {}
local fail = core.fail

local units_per_s = { ns = 1e9, us = 1e6, ms = 1e3, s = 1, sec = 1 }

local figures = { ttft_s_mean = { "time_to_first_token", "avg" }, ttft_s_p50 = { "time_to_first_token", "p50" },
  tpot_s_mean = { "inter_token_latency", "avg" }, tpot_s_p50 = { "inter_token_latency", "p50" },
  e2e_s_mean = { "request_latency", "avg" } }

--- Whether a document is such a summary. AIPerf's has an input_config, too, without these keys.
function genai_perf.tells(document)
  return (fields.at(document, "input_config.perf_analyzer") or fields.at(document, "input_config.subcommand")) ~= nil
end

local function seconds_of(where, document, name, statistic)
  if fields.at(document, name .. "." .. statistic) == nil then return nil end
  local unit = fields.at(document, name .. ".unit")
  local scale = units_per_s[unit]
  if not scale then fail("%s: %s.unit: expected ns, us, ms or s, found %s", where, name, core.describe(unit)) end
  local value = fields.positive(where, document, name .. "." .. statistic, 1e18)
  return value and value / scale
end

--- The value of a load, as stimulus has it or as earlier releases have it.
local function load_of(where, document, name, most)
  return fields.positive(where, document, "input_config.perf_analyzer.stimulus." .. name, most)
    or fields.positive(where, document, "input_config." .. name, most)
end

function genai_perf.read(where, document)
  local run = { metrics = {}, notes = {}, failed = 0 }
  for metric, key in core.sorted_pairs(figures) do
    run.metrics[metric] = seconds_of(where, document, key[1], key[2])
  end
  run.count = fields.needed(where, document, "request_count.avg", fields.most_requests)
  run.prompt_tokens = fields.needed(where, document, "input_sequence_length.avg", fields.most_tokens)
  run.output_tokens = fields.needed(where, document, "output_sequence_length.avg", fields.most_tokens)
  run.output_tokens_per_s = fields.positive(where, document, "output_token_throughput.avg", fields.most_rate)
  run.rate_per_s = load_of(where, document, "request_rate", fields.most_rate)
  run.clients = not run.rate_per_s and load_of(where, document, "concurrency", fields.most_requests) or nil
  if not run.rate_per_s and not run.clients then
    run.refused = where .. ": input_config: states neither concurrency nor request_rate, so the load cannot be "
      .. "replayed (sessions and fixed schedules are not read)"
  end
  return { run }
end

return genai_perf
