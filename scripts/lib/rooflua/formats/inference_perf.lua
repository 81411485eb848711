-- Reports of inference-perf: the totals of a stage or of the whole run, and per_request_lifecycle_metrics.json.
-- Source: github.com/kubernetes-sigs/inference-perf, inference_perf/reportgen/base.py
--
-- `schedule_delay` is how late the client sent its requests. Where the client lagged, the engine did not get the load
-- that the report states.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local inference_perf = {}
local fail = core.fail

--- The client lagged if it sent its requests later than this share of their mean latency. A belief, 0.05 to 0.5.
local most_lag_frac = 0.1
--- ... or reached less than this share of the rate. A belief, 0.8 to 0.98.
local least_rate_frac = 0.9

local seconds = { ttft_s_mean = "time_to_first_token.mean", ttft_s_p50 = "time_to_first_token.median",
  tpot_s_mean = "time_per_output_token.mean", tpot_s_p50 = "time_per_output_token.median",
  e2e_s_mean = "request_latency.mean" }

--- Why the load is not the one of the report; nil where it is.
local function lag_of(path, document, latency_s)
  if fields.at(document, "load_summary.concurrency") ~= nil then return nil end -- clients that wait are late by design
  local delay_s = fields.at(document, "load_summary.schedule_delay.mean") -- < 0: sent early
  if type(delay_s) == "number" and latency_s and delay_s > most_lag_frac * latency_s then
    return ("%s: load_summary.schedule_delay: the client sent its requests %.3g s late on average, more than %g %% of "
      .. "their latency: the engine did not get the load that is stated; repeat the run with more workers of "
      .. "inference-perf"):format(path, delay_s, 100 * most_lag_frac)
  end
  local wanted = fields.positive(path, document, "load_summary.requested_rate", fields.most_rate)
  local reached = fields.positive(path, document, "load_summary.achieved_rate", fields.most_rate)
  if wanted and reached and reached < least_rate_frac * wanted then
    return ("%s: load_summary.achieved_rate: the client reached %g of %g requests/s; repeat the run with more workers "
      .. "of inference-perf"):format(path, reached, wanted)
  end
end

--- @return table list with the one run of a stage or summary
function inference_perf.totals(path, document)
  local run = { metrics = {}, notes = {} }
  for metric, key in core.sorted_pairs(seconds) do
    run.metrics[metric] = fields.positive(path, document, "successes.latency." .. key)
  end
  run.count = fields.needed(path, document, "successes.count", fields.most_requests)
  run.failed = fields.number(path, document, "failures.count", fields.most_requests) or 0
  run.prompt_tokens = fields.number(path, document, "successes.prompt_tokens.mean", fields.most_tokens)
    or fields.needed(path, document, "successes.prompt_len.mean", fields.most_tokens)
  run.output_tokens = fields.number(path, document, "successes.output_tokens.mean", fields.most_tokens)
    or fields.needed(path, document, "successes.output_len.mean", fields.most_tokens)
  run.rate_per_s = fields.positive(path, document, "load_summary.achieved_rate", fields.most_rate)
    or fields.positive(path, document, "load_summary.requested_rate", fields.most_rate)
  run.clients = fields.positive(path, document, "load_summary.concurrency", fields.most_requests)
  if run.clients then run.rate_per_s = nil end
  run.duration_s = fields.positive(path, document, "load_summary.send_duration")
  run.output_tokens_per_s = fields.positive(path, document, "successes.throughput.output_tokens_per_sec",
    fields.most_rate)
  run.refused = lag_of(path, document, run.metrics.e2e_s_mean)
  if not run.rate_per_s and not run.clients then
    run.refused = path .. ": load_summary: states no rate and no concurrency; the summary of several stages is no run: "
      .. "name the files stage_N_lifecycle_metrics.json"
  end
  return { run }
end

--- A field of `info`, in the layout of this release or in the flat one of earlier releases.
local function tokens_of(where, entry, key, before)
  return fields.number(where, entry, "info." .. key, fields.most_tokens)
    or fields.number(where, entry, "info." .. before, fields.most_tokens)
end

local function request_of(where, entry)
  local start_s = fields.needed(where, entry, "start_time", fields.most_stamp_s)
  local request = { arrival_s = start_s, failed = fields.at(entry, "error") ~= nil,
    prompt_tokens = tokens_of(where, entry, "request_metrics.text.input_tokens", "input_tokens"),
    output_tokens = tokens_of(where, entry, "response_metrics.server_usage.completion_tokens", "output_tokens")
      or tokens_of(where, entry, "response_metrics.output_tokens", "output_tokens") }
  if request.failed then return request end
  local times = fields.at(entry, "info.response_metrics.output_token_times") or fields.at(entry,
    "info.output_token_times")
  if type(times) ~= "table" or #times == 0 then
    fail("%s: info.response_metrics.output_token_times: is missing; inference-perf records it of streamed answers "
      .. "(api.streaming: true)", where)
  end
  for _, each in ipairs { "prompt_tokens", "output_tokens" } do
    if not request[each] then fail("%s: info: says no %s", where, each) end
  end
  request.ttft_s, request.e2e_s = times[1] - start_s, times[#times] - start_s
  return fields.in_order(where, request)
end

--- @return table list with the one run of a per-request report
function inference_perf.requests(path, list)
  local requests = {}
  for i, each in ipairs(list) do requests[i] = request_of(("%s: [%d]"):format(path, i), each) end
  return { { requests = requests } }
end

return inference_perf
