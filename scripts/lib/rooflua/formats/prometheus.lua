-- Metrics of a vLLM server as Prometheus scrapes them (text format): sums and counts give the means of a run.
-- Source: github.com/vllm-project/vllm, vllm/v1/metrics/loggers.py, docs/design/metrics
--
-- A scrape counts from the start of the server, everybody's requests included. Two scrapes in one file, one after the
-- other, stand for what happened between them. Neither says when it was made nor how the requests were sent, so a line
-- of the user's does (formats/scrape.lua). Buckets are too wide for a median.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"
local scrape = require "rooflua.formats.scrape"

local prometheus = {}
local fail = core.fail

--- Reasons of vLLM for the end of a request that was not answered.
local failures = { abort = true, error = true }

--- A note names a prefix cache that finds more of the prompts than this. A belief, 0.001 to 0.1.
local least_hit_frac = 0.01

--- Sums over engines: {name = value}, and those of requests that failed, of one run of an exported file.
local function totals_of(path, samples, run, models)
  local out = { failed = 0 }
  for _, each in ipairs(samples) do
    if (each.labels.run or "") == run and each.value == each.value and not each.labels.le
      and not each.labels.quantile then
      out[each.name] = (out[each.name] or 0) + each.value
      if each.name == "vllm:request_success_total" and failures[each.labels.finished_reason] then
        out.failed = out.failed + each.value
      end
      if each.labels.model_name then models[each.labels.model_name] = true end
    end
  end
  local names = core.sorted_keys(models)
  if #names > 1 then
    fail("%s: holds metrics of %d models (%s); keep the lines of one", path, #names, core.join(names, ", ", 1, 2))
  end
  return out
end

--- What happened between two scrapes. Gauges are those of the last.
local function between(path, before, after)
  local out = {}
  for name, value in core.sorted_pairs(after) do
    local is_counter = name:find "_total$" or name:find "_sum$" or name:find "_count$"
    out[name] = (is_counter or name == "failed") and value - (before[name] or 0) or value
    if is_counter and out[name] < 0 then
      fail("%s: %s falls from %g to %g: the server was started again between the scrapes, or they are in the wrong "
        .. "order", path, name, before[name], value)
    end
  end
  for name in core.sorted_pairs(before) do
    if after[name] == nil and not name:find "^rooflua_" then
      fail("%s: %s is in the first scrape and not in the second; the second is incomplete", path, name)
    end
  end
  return out
end

--- The mean of a histogram; nil where the server has none of that name or it is empty.
local function mean_of(path, totals, name)
  local sum, count = totals[name .. "_sum"], totals[name .. "_count"]
  if sum == nil and count == nil then return nil end
  if not sum or not count then
    fail("%s: %s is missing; the scrape is incomplete", path, name .. (sum and "_count" or "_sum"))
  end
  if not (sum >= 0 and sum < math.huge and count >= 0 and count < math.huge) then
    fail("%s: %s: expected a sum and a count of at least 0, found %g and %g", path, name, sum, count)
  end
  return count > 0 and sum / count or nil
end

--- The mean number of tokens of a request, from its histogram, else from all tokens.
local function tokens_of(path, totals, histogram, counter, count)
  local all = totals[counter]
  local mean = mean_of(path, totals, histogram) or all and all / count
  if not mean then fail("%s: neither %s_sum nor %s is there; the scrape is incomplete", path, histogram, counter) end
  if not (mean >= 0 and mean <= fields.most_tokens) then
    fail("%s: %s: %g tokens of a request: expected 0 to %d", path, histogram, mean, fields.most_tokens)
  end
  return mean
end

--- TPOT by request, else the gaps between tokens.
local function tpot_of(path, totals, notes)
  local by_request = mean_of(path, totals, "vllm:request_time_per_output_token_seconds")
  if by_request then return by_request end
  local gap = mean_of(path, totals, "vllm:inter_token_latency_seconds")
    or mean_of(path, totals, "vllm:time_per_output_token_seconds")
  if gap then
    notes[#notes + 1] = "its TPOT is the mean gap between tokens, in which a request weighs as many tokens as it has"
  end
  return gap
end

local function add_notes(totals, two, simulated, notes)
  if simulated then
    notes[#notes + 1] = fields.simulated_note
    return
  end
  notes[#notes + 1] = two and "what happened between two scrapes"
    or "counts from the start of the server: the warm-up and everybody's requests are in it"
  notes[#notes + 1] = "times are the server's, and their medians are not known"
  local running = (totals["vllm:num_requests_running"] or 0) + (totals["vllm:num_requests_waiting"] or 0)
  if running > 0 then notes[#notes + 1] = ("%g requests had not ended"):format(running) end
  local hits, asked = totals["vllm:prefix_cache_hits_total"], totals["vllm:prefix_cache_queries_total"]
  if hits and asked and hits > least_hit_frac * asked then
    notes[#notes + 1] = ("%.0f %% of the prompt tokens were in the prefix cache; replayed prompts share nothing")
      :format(100 * hits / asked)
  end
end

--- Rate or clients of the run, and how long it took.
local function add_load(path, run, totals, load)
  run.clients, run.rate_per_s = load.clients, load.rate_per_s or totals.rooflua_requests_per_s
  run.duration_s = load.duration_s or totals.rooflua_duration_s
  if not run.rate_per_s and not run.clients and run.duration_s then run.rate_per_s = run.count / run.duration_s end
  if run.duration_s then run.output_tokens_per_s = run.count * run.output_tokens / run.duration_s end
  if not run.rate_per_s and not run.clients then
    run.refused = path .. ": says how many requests there were, and not when; add a line that says how they were sent: "
      .. "'# rooflua rate_per_s 8', '# rooflua clients 16' or '# rooflua duration_s 600'"
  end
end

local function run_of(path, totals, load, two)
  local ended = totals["vllm:request_success_total"] or totals["vllm:e2e_request_latency_seconds_count"]
  if not ended then fail("%s: vllm:request_success_total is missing; the scrape is incomplete", path) end
  local notes = {}
  local run = { notes = notes, failed = totals.failed, count = math.floor(ended - totals.failed + 0.5), metrics = {} }
  if run.count < 1 then
    fail("%s: no data: no request ended%s", path, two and " between the scrapes" or "")
  end
  if run.count > fields.most_requests then
    fail("%s: vllm:request_success_total: expected at most %g, found %g; scrape before and after a shorter run", path,
      fields.most_requests, run.count)
  end
  run.metrics.ttft_s_mean = mean_of(path, totals, "vllm:time_to_first_token_seconds")
  run.metrics.e2e_s_mean = mean_of(path, totals, "vllm:e2e_request_latency_seconds")
  if not run.metrics.ttft_s_mean and not run.metrics.e2e_s_mean then
    fail("%s: vllm:time_to_first_token_seconds_sum is missing; the scrape is incomplete", path)
  end
  add_notes(totals, two, totals.rooflua_duration_s ~= nil, notes)
  run.metrics.tpot_s_mean = tpot_of(path, totals, notes)
  for metric, value in pairs(run.metrics) do
    if value == 0 then run.metrics[metric] = nil end
  end
  run.prompt_tokens = tokens_of(path, totals, "vllm:request_prompt_tokens", "vllm:prompt_tokens_total", ended)
  run.output_tokens = tokens_of(path, totals, "vllm:request_generation_tokens", "vllm:generation_tokens_total", ended)
  add_load(path, run, totals, load)
  return run
end

--- The labels `run` of a file that rooflua exported; {""} of a server's.
local function runs_named(samples)
  local names = {}
  for _, each in ipairs(samples) do names[each.labels.run or ""] = each.labels.name or "" end
  return names
end

function prometheus.read(path, text)
  local scrapes, load = scrape.read(path, text)
  local last = scrapes[#scrapes]
  if #last == 0 then
    fail("%s: is a scrape of Prometheus without vLLM's metrics (vllm:...); only those are known", path)
  end
  local out, names = {}, runs_named(last)
  for run, name in core.sorted_pairs(names) do
    local models = {}
    local totals = totals_of(path, last, run, models)
    if #scrapes == 2 then totals = between(path, totals_of(path, scrapes[1], run, models), totals) end
    out[#out + 1] = run_of(path, totals, load, #scrapes == 2)
    out[#out].name = name ~= "" and name or run ~= "" and run or nil
  end
  if #out == 1 then out[1].name = nil end
  return out
end

return prometheus
