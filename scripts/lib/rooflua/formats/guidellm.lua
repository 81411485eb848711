-- Benchmarks of a guidellm report in JSON: each benchmark is a run.
-- Source: github.com/vllm-project/guidellm, src/guidellm/benchmark/schemas and src/guidellm/schemas/request_stats.py;
-- of 0.2 and 0.3 src/guidellm/benchmark/benchmark.py; of 0.1 src/guidellm/core/result.py
--
-- metadata.version is 2 from guidellm 0.7 on, 1 or missing in 0.4 to 0.6, and 0.2 and 0.3 have no metadata. What is
-- read here means the same in all of them; 0.2 and 0.3 keep strategy, totals and times of requests under other keys.
-- 0.1 is refused: it counts words where the server counts no tokens.
-- time_per_output_token_ms is (last token - start) / n, the first token included; inter_token_latency_ms is
-- (last token - first token) / (n - 1), which is TPOT here. The means of both weigh a request by its tokens.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local guidellm = {}
local fail = core.fail

--- A request ends with its last token; request_latency also counts the end of the stream.
local function end_s(where, request, ttft_s, output_tokens)
  local gap_ms = fields.number(where, request, "inter_token_latency_ms", 1e12)
  if gap_ms and output_tokens > 1 then return ttft_s + gap_ms / 1e3 * (output_tokens - 1) end
  return fields.needed(where, request, "request_latency")
end

local function successful(where, request)
  local hint = "guidellm measures it of streamed answers"
  local ttft_s = fields.needed(where, request, "time_to_first_token_ms", 1e12, hint) / 1e3
  local output_tokens = fields.needed(where, request, "output_tokens", fields.most_tokens)
  return fields.in_order(where, {
    arrival_s = fields.number(where, request, "request_start_time", fields.most_stamp_s)
      or fields.needed(where, request, "start_time", fields.most_stamp_s),
    prompt_tokens = fields.needed(where, request, "prompt_tokens", fields.most_tokens), output_tokens = output_tokens,
    ttft_s = ttft_s, e2e_s = end_s(where, request, ttft_s, output_tokens), failed = false })
end

--- How many requests had that status.
local function total_of(where, benchmark, status)
  return fields.number(where, benchmark, "metrics.request_totals." .. status, fields.most_requests)
    or fields.number(where, benchmark, "request_totals." .. status, fields.most_requests)
end

--- Requests of every status; nil where the report keeps none, or a sample of them.
local function requests_of(where, benchmark)
  local requests = {}
  for i, each in ipairs(fields.list(where, benchmark, "requests.successful")) do
    requests[i] = successful(("%s: requests.successful[%d]"):format(where, i), each)
  end
  local total = total_of(where, benchmark, "successful")
  if #requests == 0 or total and total > #requests then return nil, #requests end
  for _, status in ipairs { "incomplete", "errored" } do
    for i, each in ipairs(fields.list(where, benchmark, "requests." .. status)) do
      local at = ("%s: requests.%s[%d]"):format(where, status, i)
      requests[#requests + 1] = { failed = true,
        arrival_s = fields.number(at, each, "request_start_time", fields.most_stamp_s)
          or fields.number(at, each, "start_time", fields.most_stamp_s),
        prompt_tokens = fields.number(at, each, "prompt_tokens", fields.most_tokens),
        output_tokens = fields.number(at, each, "output_tokens", fields.most_tokens) }
    end
  end
  return requests
end

local milliseconds = { ttft_s_mean = "time_to_first_token_ms.successful.mean",
  ttft_s_p50 = "time_to_first_token_ms.successful.percentiles.p50",
  tpot_s_mean = "inter_token_latency_ms.successful.mean" }

--- Rate or clients of a benchmark's strategy.
local function load_of(where, benchmark, run)
  local strategy = fields.at(benchmark, "config.strategy") ~= nil and "config.strategy." or "args.strategy."
  local kind = fields.at(benchmark, strategy .. "type_")
  local function number(key, most) return fields.positive(where, benchmark, strategy .. key, most) end
  if kind == "constant" or kind == "poisson" then
    run.rate_per_s, run.burstiness = number("rate", fields.most_rate), kind == "constant" and math.huge or 1
  elseif kind == "concurrent" then
    run.clients = number("streams", fields.most_requests)
  elseif kind == "synchronous" then
    run.clients = 1
  elseif kind == "throughput" then
    run.clients = number("max_concurrency", fields.most_requests)
  else
    run.refused = ("%s: %stype_: expected constant, poisson, concurrent, synchronous or throughput, found %s: the load "
      .. "is not known"):format(where, strategy, core.describe(kind))
  end
end

local function run_of(where, benchmark, number)
  local run = { name = ("benchmark %d"):format(number), metrics = {}, notes = {} }
  load_of(where, benchmark, run)
  local kept
  run.requests, kept = requests_of(where, benchmark)
  for metric, key in core.sorted_pairs(milliseconds) do
    local value = fields.positive(where, benchmark, "metrics." .. key, 1e12)
    run.metrics[metric] = value and value / 1e3
  end
  if not run.metrics.ttft_s_p50 then -- 0.2 and 0.3
    local median_ms = fields.positive(where, benchmark, "metrics.time_to_first_token_ms.successful.median", 1e12)
    run.metrics.ttft_s_p50 = median_ms and median_ms / 1e3
  end
  run.metrics.e2e_s_mean = fields.positive(where, benchmark, "metrics.request_latency.successful.mean")
  run.output_tokens_per_s = fields.positive(where, benchmark, "metrics.output_tokens_per_second.successful.mean",
    fields.most_rate)
  if run.requests then
    run.refused = nil -- they have their arrivals
    return run
  end
  run.count = total_of(where, benchmark, "successful")
    or fields.needed(where, benchmark, "metrics.request_totals.successful", fields.most_requests)
  run.failed = (total_of(where, benchmark, "errored") or 0) + (total_of(where, benchmark, "incomplete") or 0)
  run.prompt_tokens = fields.needed(where, benchmark, "metrics.prompt_token_count.successful.mean",
    fields.most_tokens)
  run.output_tokens = fields.needed(where, benchmark, "metrics.output_token_count.successful.mean",
    fields.most_tokens)
  run.duration_s = fields.positive(where, benchmark, "duration")
  if kept > 0 then
    run.notes[1] = ("keeps %d of %d requests, so its means are used"):format(kept, run.count)
  end
  return run
end

function guidellm.read(path, document)
  local version = fields.at(document, "metadata.version")
  if version ~= nil and version ~= 1 and version ~= 2 then
    fail("%s: metadata.version: expected 1 or 2, found %s; convert the report to a CSV with a row per request", path,
      core.describe(version))
  end
  if fields.at(fields.list(path, document, "benchmarks")[1], "benchmarks") ~= nil then
    fail("%s: is a report of guidellm 0.1, which counts words where the server counts no tokens; run the benchmark "
      .. "with a newer guidellm", path)
  end
  local runs, simulated = {}, fields.at(document, "metadata.guidellm_version") == fields.simulated
  for i, benchmark in ipairs(fields.list(path, document, "benchmarks")) do
    runs[i] = run_of(("%s: benchmarks[%d]"):format(path, i), benchmark, i)
    if simulated then table.insert(runs[i].notes, 1, fields.simulated_note) end
  end
  if #runs == 0 then fail("%s: benchmarks: no data: the list is empty", path) end
  if #runs == 1 then runs[1].name = nil end
  return runs
end

return guidellm
