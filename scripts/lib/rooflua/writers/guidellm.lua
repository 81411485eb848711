-- A run as a report of guidellm in JSON, version 2, with one benchmark: its metrics and every request.
-- Source: github.com/vllm-project/guidellm, src/guidellm/benchmark/schemas and src/guidellm/schemas
--
-- time_per_output_token_ms is (last token - start) / n, the first token included, and inter_token_latency_ms is what is
-- called TPOT elsewhere; in both a request weighs as many tokens as it has. Rates have their mean only. What only the
-- client of guidellm has, the states of its scheduler, is left out. The backend is "rooflua (simulated)".
local json = require "rooflua.json"
local fields = require "rooflua.formats.fields"
local rows = require "rooflua.formats.rows"
local statistics = require "rooflua.base.statistics"

local guidellm = {}

local percentiles = { p001 = 0.001, p01 = 0.01, p05 = 0.05, p10 = 0.1, p25 = 0.25, p50 = 0.5, p75 = 0.75, p90 = 0.9,
  p95 = 0.95, p99 = 0.99, p999 = 0.999 }

--- The value with the most weight, of several the least.
local function mode_of(sorted)
  local best, most, value, sum = nil, 0, nil, 0
  for _, each in ipairs(sorted) do
    sum = each[1] == value and sum + each[2] or each[2]
    value = each[1]
    if sum > most then best, most = value, sum end
  end
  return best
end

--- A distribution of {value, weight}; null where there is nothing.
local function distribution(list)
  if #list == 0 then return json.null end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  local weight, sum, squares = 0, 0, 0
  for _, each in ipairs(list) do weight, sum = weight + each[2], sum + each[1] * each[2] end
  local mean = sum / weight
  for _, each in ipairs(list) do squares = squares + (each[1] - mean) * (each[1] - mean) * each[2] end
  local out = { mean = mean, mode = mode_of(list), variance = squares / weight, std_dev = math.sqrt(squares / weight),
    min = list[1][1], max = list[#list][1], count = weight, total_sum = sum, percentiles = {} }
  for name, q in pairs(percentiles) do out.percentiles[name] = statistics.weighted(list, q) end
  out.median = out.percentiles.p50
  return out
end

local function one() return 1 end
local function tokens(request) return request.output_tokens end
local function gaps(request) return request.output_tokens - 1 end

--- Each metric: its value of a request, nil where it has none, and the weight of the request.
local figures = {
  request_latency = { function(r) return r.e2e_s end, one },
  prompt_token_count = { function(r) return r.prompt_tokens end, one },
  output_token_count = { function(r) return r.output_tokens end, one },
  total_token_count = { function(r) return r.prompt_tokens + r.output_tokens end, one },
  time_to_first_token_ms = { function(r) return r.ttft_s * 1e3 end, one },
  time_per_output_token_ms = { function(r) return r.e2e_s / r.output_tokens * 1e3 end, tokens },
  inter_token_latency_ms = { function(r) return r.tpot_s and r.tpot_s * 1e3 end, gaps },
}

local function metrics_of(summary, by_status)
  local good = by_status.successful
  local per_s = summary.duration_s > 0 and 1 / summary.duration_s or 0
  local function rate(value) return { successful = { mean = value } } end
  local out = {
    request_totals = { successful = #good, incomplete = #by_status.incomplete, errored = #by_status.errored,
      total = #good + #by_status.incomplete + #by_status.errored },
    requests_per_second = rate(summary.requests_per_s), output_tokens_per_second = rate(summary.output_tokens_per_s),
    prompt_tokens_per_second = rate(summary.prompt_tokens * per_s),
    tokens_per_second = rate((summary.prompt_tokens + summary.output_tokens) * per_s) }
  for name, figure in pairs(figures) do
    local list = {}
    for _, each in ipairs(good) do
      local value = figure[1](each)
      if value then list[#list + 1] = { value, figure[2](each) } end
    end
    out[name] = { successful = distribution(list) }
  end
  return out
end

local function request_of(request)
  local start_s, ended_s = rows.first_stamp_s + request.arrival_s, rows.first_stamp_s + rows.end_s(request)
  local out = { type_ = "generative_request_stats", request_id = ("request-%d"):format(request.id),
    request_start_time = start_s, request_end_time = ended_s, prompt_tokens = request.prompt_tokens,
    output_tokens = request.output_tokens, total_tokens = request.prompt_tokens + request.output_tokens,
    info = { request_id = ("request-%d"):format(request.id), status = request.completed and "completed"
      or request.unended and "cancelled" or "errored",
      error = request.completed and json.null or request.outcome,
      timings = { request_start = start_s, request_end = ended_s } } }
  if not request.completed then return out end
  local timings = out.info.timings
  timings.first_token_iteration, timings.last_token_iteration = start_s + request.ttft_s, ended_s
  for name, figure in pairs(figures) do
    if name:find "_ms$" then out[name] = figure[1](request) end
  end
  out.request_latency = request.e2e_s
  return out
end

--- How the requests were sent, in guidellm's words; nil for loads that it does not have.
local function strategy_of(facts)
  local rate = facts.rate_per_s
  if not rate then return facts.clients and { type_ = "concurrent", streams = facts.clients } or nil end
  local kind = facts.burstiness == 1 and "poisson" or facts.burstiness == math.huge and "constant" or nil
  return kind and { type_ = kind, rate = rate, max_concurrency = facts.clients or json.null }
end

--- @param variant table {name, summary} of kind serve
--- @param facts table {uid, build, scenario, seed, model, rate_per_s, burstiness, clients}
--- @param requests table of rows.read
function guidellm.document(variant, facts, requests)
  local by_status = { successful = {}, incomplete = {}, errored = {} }
  local told = { successful = json.array {}, incomplete = json.array {}, errored = json.array {} }
  for _, each in ipairs(requests) do
    local status = each.completed and "successful" or each.unended and "incomplete" or "errored"
    table.insert(by_status[status], each)
    table.insert(told[status], request_of(each))
  end
  local summary, first_s, last_s = variant.summary, math.huge, 0
  for _, each in ipairs(requests) do
    first_s, last_s = math.min(first_s, each.arrival_s), math.max(last_s, rows.end_s(each))
  end
  first_s = #requests > 0 and first_s or 0
  return {
    metadata = { version = 2, guidellm_version = fields.simulated, python_version = "none",
      platform = fields.simulated .. " " .. facts.build },
    config = { model = facts.model, backend = fields.simulated },
    benchmarks = json.array { {
      type_ = "generative_benchmark", start_time = rows.first_stamp_s + first_s,
      end_time = rows.first_stamp_s + last_s, duration = summary.duration_s, warmup_duration = 0,
      cooldown_duration = 0,
      config = { id_ = facts.uid, run_id = facts.uid, run_index = 0, strategy = strategy_of(facts) or json.null,
        backend = { type_ = fields.simulated, model = facts.model, scenario = facts.scenario,
          variant = variant.name, seed = facts.seed }, environment = { platform = fields.simulated } },
      metrics = metrics_of(summary, by_status), requests = told } } }
end

return guidellm
