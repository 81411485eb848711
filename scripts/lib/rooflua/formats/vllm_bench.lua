-- Results of `vllm bench serve --save-result`, and of SGLang's bench_serving, which has the same keys: a run each.
-- Source: github.com/vllm-project/vllm, vllm/benchmarks/serve.py; github.com/sgl-project/sglang, python/sglang/
-- bench_serving.py
--
-- Both write Python's Infinity for a run without a rate; vLLM also "inf". A mean of no requests is NaN: it says that
-- nothing was measured. SGLang calls the time of a request e2e_latency, vLLM e2el.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"
local json = require "rooflua.json"
local measured_requests = require "rooflua.formats.measured_requests"

local vllm_bench = {}
local fail = core.fail

local totals = { ttft_s_mean = { "mean_ttft_ms" }, ttft_s_p50 = { "median_ttft_ms" }, tpot_s_mean = { "mean_tpot_ms" },
  tpot_s_p50 = { "median_tpot_ms" }, e2e_s_mean = { "mean_e2el_ms", "mean_e2e_latency_ms" } }

--- Whether a document is such a result.
function vllm_bench.tells(document)
  if type(document) ~= "table" then return false end
  local function has(key) return document[key] ~= nil end
  return has "mean_ttft_ms" or has "ttfts" or has "input_lens"
    or has "completed" and has "total_input_tokens" and has "request_throughput"
end

--- A value that may be written as text, as "10.0" or "inf".
local function number_in(value)
  if type(value) ~= "string" then return value end
  local text = value:match "^%s*(.-)%s*$"
  if text:lower() == "inf" or text:lower() == "infinity" then return math.huge end
  return text:find "^[-+]?[%d.]+[eE]?[-+]?%d*$" and tonumber(text) or value
end

--- A number of the document from above 0 to `most`; nil where it is missing.
local function positive(where, document, key, most)
  local value = number_in(document[key])
  if value == nil or value == json.null then return nil end
  if type(value) ~= "number" or not (value > 0 and value <= most) then
    fail("%s: %s: expected a number above 0, at most %g, found %s", where, key, most, core.describe(value))
  end
  return value
end

--- Requests per second; nil where all were sent at once.
local function rate_of(where, document)
  local rate = number_in(document.request_rate)
  if rate == math.huge then return nil end
  if rate == "trace" then return nil, "the requests were sent at the times of a trace, which the file does not have" end
  return positive(where, document, "request_rate", fields.most_rate)
end

--- The shape of arrivals; 1 where the file does not state it, infinite where they are evenly spaced.
local function burstiness_of(where, document)
  local given = number_in(document.burstiness)
  return given == math.huge and given or positive(where, document, "burstiness", 1e9) or 1
end

--- The mean number of tokens of a request, in whole tokens.
local function mean_tokens(where, document, key, count)
  local total = core.not_negative(number_in(document[key]), where .. ": " .. key)
  local mean = math.floor(total / count + 0.5)
  if mean < 1 or mean > fields.most_tokens then
    fail("%s: %s: %g tokens of %d requests: expected 1 to 2^31 - 1 of each", where, key, total, count)
  end
  return mean
end

--- The figures of all requests together, and notes on those that are NaN.
local function figures_of(where, document, notes)
  local out = {}
  for metric, keys in core.sorted_pairs(totals) do
    for _, key in ipairs(keys) do
      local value = number_in(document[key])
      if value ~= nil and value ~= value then
        notes[#notes + 1] = key .. " is NaN, so it is not used"
      elseif value ~= 0 and not out[metric] then
        value = positive(where, document, key, 1e3 * native.latest_s)
        out[metric] = value and value / 1e3
      end
    end
  end
  return out
end

--- Why the load is not known, though the file has no arrivals; nil where it is.
local function unknown_load(document, problem)
  if problem then return "request_rate: " .. problem end
  if document.ramp_up_strategy ~= nil and document.ramp_up_strategy ~= json.null then
    return "ramp_up_strategy: the rate was raised during the run, and the file has no start_times; save the run with "
      .. "--save-detailed"
  end
  if document.request_rate == nil or document.request_rate == json.null then
    return "request_rate: is missing, so the load is not known; vllm bench serve writes it, inf where all requests "
      .. "were sent at once"
  end
  local at_once = number_in(document.request_rate) == math.huge
  if at_once and document.burstiness ~= nil and document.max_concurrency == nil then -- keys of the same release
    return "max_concurrency: is missing, so the load is not known; vllm bench serve writes null where there is no limit"
  end
end

--- A note on lengths that were drawn where the file has their means alone. SGLang's `random` draws from
--- random_range_ratio x N to N, which is 1 to N unless asked (python/sglang/bench_serving.py).
local function drawn_lengths(document)
  local ratio, prompt = number_in(document.random_range_ratio), number_in(document.random_input_len)
  local answer, is_sglang = number_in(document.random_output_len), document.mean_e2e_latency_ms ~= nil
  local is_random = type(document.dataset_name) == "string" and document.dataset_name:find "^random"
  local is_known = type(ratio) == "number" and type(prompt) == "number" and type(answer) == "number"
  if not (is_sglang and is_random and is_known) or ratio >= 1 then return nil end
  return ("random_range_ratio %g: SGLang drew prompts of %d to %d tokens and answers of %d to %d, and the file has "
    .. "their means alone: every request has the mean"):format(ratio, math.max(1, math.floor(ratio * prompt)), prompt,
    math.max(1, math.floor(ratio * answer)), answer)
end

local function add_lengths(where, document, run)
  if document.completed == nil and document.num_prompts == nil then fail("%s: completed: is missing", where) end
  local of_all = document.completed ~= nil and "completed" or "num_prompts"
  local count = positive(where, document, of_all, fields.most_requests)
  if not count or count % 1 ~= 0 then
    fail("%s: %s: expected a whole number of requests, found %s", where, of_all, core.describe(document[of_all]))
  end
  local sent = number_in(document.num_prompts)
  if type(sent) == "number" and sent < count then
    fail("%s: %s: %g of %g requests (num_prompts) cannot be", where, of_all, count, sent)
  end
  run.count, run.failed = count, type(sent) == "number" and sent > count and sent - count or 0
  run.prompt_tokens = mean_tokens(where, document, "total_input_tokens", count)
  run.output_tokens = mean_tokens(where, document, "total_output_tokens", count)
  run.notes[#run.notes + 1] = drawn_lengths(document)
end

--- A mean that its list misses by more than this share does not belong to the list: both have all digits.
local most_off = 0.005

--- Notes on what the file says of its requests as a whole and its lists say otherwise.
local function compare_counts(document, run)
  local completed = 0
  for _, each in ipairs(run.requests) do completed = completed + (each.failed and 0 or 1) end
  local said = number_in(document.completed)
  for key, field in core.sorted_pairs { mean_ttft_ms = "ttft_s", mean_e2el_ms = "e2e_s" } do
    local mean_ms, sum, count = number_in(document[key]), 0, 0
    for _, each in ipairs(run.requests) do
      if not each.failed and each[field] then sum, count = sum + each[field], count + 1 end
    end
    local found_ms = count > 0 and 1e3 * sum / count or nil
    if type(mean_ms) == "number" and found_ms and math.abs(found_ms - mean_ms) > most_off * mean_ms then
      run.notes[#run.notes + 1] = ("%s is %.6g, but its lists have a mean of %.6g"):format(key, mean_ms, found_ms)
    end
  end
  if type(said) == "number" and said ~= completed then
    run.notes[#run.notes + 1] = ("completed is %g, but its lists have %d requests that were completed"):format(said,
      completed)
  end
end

--- Rates that the file states, and what they are of: rounding and a tail of the clock are below this share.
local most_off_rate = 0.05

--- Notes on rates that are not the number of requests and tokens over the duration.
local function compare_rates(document, notes)
  local duration_s = number_in(document.duration)
  if type(duration_s) ~= "number" or not (duration_s > 0) then return end
  for key, of in core.sorted_pairs { request_throughput = "completed", output_throughput = "total_output_tokens" } do
    local stated, count = number_in(document[key]), number_in(document[of])
    if type(stated) == "number" and type(count) == "number" and stated > 0 and count > 0
      and math.abs(stated * duration_s / count - 1) > most_off_rate then
      notes[#notes + 1] = ("%s is %.6g, but %s over duration is %.6g"):format(key, stated, of, count / duration_s)
    end
  end
end

--- @return table list with the one run
function vllm_bench.read(where, document)
  local run = { metrics = {}, notes = {}, failed = 0 }
  local rate, problem = rate_of(where, document)
  run.rate_per_s, run.burstiness = rate, burstiness_of(where, document)
  run.clients = positive(where, document, "max_concurrency", fields.most_requests)
  if run.clients and run.clients % 1 ~= 0 then
    fail("%s: max_concurrency: expected a whole number, found %s", where, core.describe(run.clients))
  end
  positive(where, document, "duration", native.latest_s) -- until the last answer, so it is not the time of sending
  run.output_tokens_per_s = positive(where, document, "output_throughput", fields.most_rate)
  run.requests = measured_requests.of_bench(where, document)
  run.metrics = figures_of(where, document, run.notes)
  compare_rates(document, run.notes)
  if run.requests then
    compare_counts(document, run)
  else
    add_lengths(where, document, run)
    if next(run.metrics) == nil then
      fail("%s: mean_ttft_ms: expected a number above 0, found %s", where, core.describe(document.mean_ttft_ms))
    end
  end
  if not (run.requests and run.requests[1].arrival_s) then
    problem = unknown_load(document, problem)
    run.refused = problem and where .. ": " .. problem
    if run.rate_per_s and run.clients then
      run.notes[#run.notes + 1] = ("max_concurrency %d is not followed: the load is replayed at its rate"):format(
        run.clients)
    end
  end
  local label = document.label or document.tag
  if type(label) == "string" and label:find "%S" then run.name = label end
  return { run }
end

return vllm_bench
