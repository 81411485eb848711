-- Tells by content which tool wrote a file of measurements, and reads its runs.
--
-- A run is {requests, failed, metrics, name, count, prompt_tokens, output_tokens, rate_per_s, burstiness, clients,
-- duration_s, output_tokens_per_s, notes, refused}:
--     requests       {arrival_s, prompt_tokens, output_tokens, ttft_s, e2e_s, failed} in the order of the file;
--                    nil where the file has totals only
--     metrics        ttft_s_mean, ttft_s_p50, tpot_s_mean, tpot_s_p50, e2e_s_mean, in seconds
--     count, prompt_tokens, output_tokens     completed requests and their mean lengths, of totals
--     name           which run of a file of several
--     refused        why nothing may be fitted to the run
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local aiperf = require "rooflua.formats.aiperf"
local fields = require "rooflua.formats.fields"
local guidellm = require "rooflua.formats.guidellm"
local inference_perf = require "rooflua.formats.inference_perf"
local inferencex = require "rooflua.formats.inferencex"
local llm_d = require "rooflua.formats.llm_d"
local measured_requests = require "rooflua.explore.fit.measured_requests"
local otlp = require "rooflua.formats.otlp"
local prometheus = require "rooflua.formats.prometheus"
local scrape = require "rooflua.formats.scrape"

local told = {}
local fail = core.fail

local function has(key)
  return function(document) return fields.at(document, key) ~= nil end
end

local function first_has(key)
  return function(document) return fields.at(document[1], key) ~= nil end
end

--- The one format whose files are no JSON. It is told by its text, and its document is the text.
local of_text = { name = "prometheus", what = "Prometheus (of vLLM)", read = prometheus.read }

--- The formats in JSON, in the order in which they are tried.
---     tells(document)             whether a document, or the first line of a file of several, is of this format
---     read(path, document, lines) its runs
told.formats = {
  { name = "vllm_bench", what = "vllm bench serve", read = false, -- by explore/fit/measured_runs.lua
    tells = function(document) return document.mean_ttft_ms ~= nil or document.ttfts ~= nil end },
  { name = "aiperf", what = "AIPerf", tells = has "metadata.request_start_ns",
    read = function(path, _, lines) return aiperf.read(path, lines) end },
  { name = "guidellm", what = "guidellm", tells = has "benchmarks", read = guidellm.read },
  { name = "inference_perf", what = "inference-perf", tells = has "successes.latency", read = inference_perf.totals },
  { name = "inference_perf", what = "inference-perf", tells = first_has "info", read = inference_perf.requests },
  { name = "llm_d", what = "llm-d", tells = has "results.request_performance", read = llm_d.read },
  { name = "inferencex", what = "InferenceX", read = inferencex.read,
    tells = function(document) return has "conc" (document) or first_has "conc" (document) end },
  { name = "otlp", what = "OpenTelemetry", tells = has "resourceSpans",
    read = function(path, _, lines) return otlp.read(path, lines) end },
  { name = "stamps", what = "an engine's time stamps", tells = has "first_token_ts",
    read = function(path) return { { requests = measured_requests.of_stamps(path) } } end },
}

--- Files of these tools that hold no runs: what is there, and what to name instead.
local look_alikes = {
  { has "input_config", "the summary of AIPerf; name profile_export.jsonl, which lies beside it" },
  { has "variants", "a result document of rooflua, which is no measurement" },
}

--- The tools, for messages: "vllm bench serve, AIPerf, ... or Prometheus (of vLLM)".
function told.tools()
  local words, seen = {}, {}
  for _, each in ipairs(told.formats) do
    if not seen[each.name] and each.name ~= "stamps" then
      seen[each.name], words[#words + 1] = true, each.what
    end
  end
  return core.join(words, ", ") .. " or " .. of_text.what
end

--- The lines of a file with a document in each; nil where the file is one document.
local function lines_of(path, text)
  local first, rest = text:match "^%s*([^\n]*)\n(.*)"
  if not first or not rest:find "%S" then return nil end
  if not pcall(native.json_decode, first, path) then return nil end
  local lines, number = {}, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    if line:find "%S" then
      local where = ("%s:%d"):format(path, number)
      lines[#lines + 1] = { where = where, document = native.json_decode(line, where) }
    end
  end
  return lines
end

local function refuse_other_text(path, text)
  local head = text:sub(1, 4096)
  if head:find "^%s*version:" or head:find "\nresults:" or head:find "^%s*run:" then
    fail("%s: is YAML; write it as JSON: python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load("
      .. "sys.stdin), default=str))' < %s > report.json", path, path)
  end
end

--- The format of a text and its parts.
--- @return table? format of told.formats; nil for a text that is no JSON, such as a CSV
--- @return table? document
--- @return table? lines list of {where, document}
function told.format(path, text)
  if not text:find "^%s*[{%[]" then
    if scrape.tells(text) then return of_text, text end
    refuse_other_text(path, text)
    return nil
  end
  local lines = lines_of(path, text)
  local document = lines and lines[1].document or native.json_decode(text, path)
  if type(document) == "table" then
    for _, each in ipairs(told.formats) do
      if each.tells(document) then return each, document, lines or { { where = path, document = document } } end
    end
    for _, each in ipairs(look_alikes) do
      if each[1](document) then fail("%s: is %s", path, each[2]) end
    end
  end
  return { name = "unknown" }, document, lines
end

--- Makes arrivals count from the first one: tools write stamps since 1970, or of any clock.
local function count_from_first(requests)
  local first_s = math.huge
  for _, each in ipairs(requests) do first_s = math.min(first_s, each.arrival_s or math.huge) end
  for _, each in ipairs(requests) do each.arrival_s = each.arrival_s and each.arrival_s - first_s end
end

--- The runs of a file whose format is known. `format.read` is false for vllm bench serve and nil for unknown files.
--- @return table list of runs
function told.read(path, format, document, lines)
  local runs = format.read(path, document, lines)
  for _, run in ipairs(runs) do
    run.metrics, run.notes, run.tool = run.metrics or {}, run.notes or {}, format.what
    if run.requests then count_from_first(run.requests) end
    for _, request in ipairs(run.requests or {}) do
      request.failed = request.failed or request.output_tokens == 0
    end
  end
  return runs
end

return told
