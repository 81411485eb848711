-- Recognises by content which tool wrote a file of measurements, and reads its runs.
--
-- A file may hold several results: documents one below the other, as `vllm bench serve --append-result` and SGLang
-- write them, or lists of them, also lists in lists, as sweeps do. Each document is recognised by itself.
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
local genai_perf = require "rooflua.formats.genai_perf"
local guidellm = require "rooflua.formats.guidellm"
local inference_perf = require "rooflua.formats.inference_perf"
local inferencex = require "rooflua.formats.inferencex"
local json = require "rooflua.json"
local llm_d = require "rooflua.formats.llm_d"
local llmperf = require "rooflua.formats.llmperf"
local measured_requests = require "rooflua.formats.measured_requests"
local otlp = require "rooflua.formats.otlp"
local prometheus = require "rooflua.formats.prometheus"
local scrape = require "rooflua.formats.scrape"
local trtllm_bench = require "rooflua.formats.trtllm_bench"
local vllm_bench = require "rooflua.formats.vllm_bench"

local tools = {}
local fail = core.fail

local function has(key)
  return function(document) return fields.at(document, key) ~= nil end
end

local function first_has(key)
  return function(document) return fields.at(document[1], key) ~= nil end
end

--- The one format whose files are no JSON. It is recognised by its text, and its document is the text.
local of_text = { name = "prometheus", what = "Prometheus (of vLLM)", read = prometheus.read }

--- The formats in JSON, in the order in which they are tried.
---     tells(document)        whether a document is of this format
---     read(where, document)  its runs; where: the file, and the line or entry of the document where there are several
---     read_lines(path, lines) in place of read: the runs of a file with a document per request or batch
tools.formats = {
  { name = "vllm_bench", what = "vllm bench serve", tells = vllm_bench.tells, read = vllm_bench.read },
  { name = "aiperf", what = "AIPerf", tells = has "metadata.request_start_ns", read_lines = aiperf.read },
  { name = "guidellm", what = "guidellm", tells = has "benchmarks", read = guidellm.read },
  { name = "inference_perf", what = "inference-perf", tells = has "successes.latency", read = inference_perf.totals },
  { name = "inference_perf", what = "inference-perf", tells = first_has "info", read = inference_perf.requests },
  { name = "llm_d", what = "llm-d", tells = has "results.request_performance", read = llm_d.read },
  { name = "inferencex", what = "InferenceX", read = inferencex.read,
    tells = function(document) return has "conc" (document) or first_has "conc" (document) end },
  { name = "genai_perf", what = "genai-perf", tells = genai_perf.tells, read = genai_perf.read },
  { name = "llmperf", what = "llmperf", tells = has "results_num_completed_requests", read = llmperf.summary },
  { name = "llmperf", what = "llmperf", tells = first_has "end_to_end_latency_s", read = llmperf.requests },
  { name = "trtllm_bench", what = "trtllm-bench", tells = has "request_info.avg_input_length",
    read = trtllm_bench.read },
  { name = "otlp", what = "OpenTelemetry", tells = has "resourceSpans", read_lines = otlp.read },
  { name = "stamps", what = "an engine's time stamps", tells = has "first_token_ts",
    read_lines = function(_, lines) return { { requests = measured_requests.of_stamps(lines) } } end },
}

local of_manifest = "a Kubernetes manifest, which has no measured times; --from takes it"

--- Files of these tools that hold no runs: what is there, and what to name instead.
local look_alikes = {
  { has "input_config", "the summary of AIPerf; name profile_export.jsonl, which lies beside it" },
  { has "variants", "a result document of rooflua, which is no measurement" },
  { has "experiments", "the raw export of genai-perf, which counts no tokens; name profile_export_genai_perf.json, "
    .. "which lies beside it" },
  { has "avg_latency", "a result of `vllm bench latency`, which measures batches without load; measure with vllm bench "
    .. "serve" },
  { has "elapsed_time", "a result of `vllm bench throughput`, which measures no times of requests; measure with vllm "
    .. "bench serve" },
  { has "total_latency", "a result of SGLang's bench_offline_throughput, which measures no times of requests; measure "
    .. "with sglang.bench_serving" },
  { has "prefill_latency", "a result of SGLang's bench_one_batch, which measures batches without load; measure with "
    .. "sglang.bench_serving" },
  { has "traceEvents", "a trace of a profiler, which has no requests" },
  { has "apiVersion", of_manifest },
}

--- Texts that are no results: a pattern of the start of a line, and what the file is.
local other_texts = {
  { "\napiVersion:", of_manifest },
  { "\nservices:", "a compose file, which has no measured times; --from takes it" },
}

--- Words of the logs that engines write at their start.
local starts = {
  { "vLLM API server version", "vLLM" }, { "Initializing a V%d LLM engine", "vLLM" },
  { "server_args=ServerArgs%(", "SGLang" }, { "%[TRT%-LLM%]", "TensorRT-LLM" },
  { "TensorRT%-LLM version", "TensorRT-LLM" },
}
local most_of_a_log = 65536 -- bytes in which those words are looked for

--- The tools, for messages: "vllm bench serve, AIPerf, ... or Prometheus (of vLLM)".
function tools.tools()
  local words, seen = {}, {}
  for _, each in ipairs(tools.formats) do
    if not seen[each.name] and each.name ~= "stamps" then
      seen[each.name], words[#words + 1] = true, each.what
    end
  end
  return core.join(words, ", ") .. " or " .. of_text.what
end

local function refuse_other_text(path, text)
  local head = text:sub(1, 4096)
  if head:find "^%s*version:" or head:find "\nresults:" or head:find "^%s*run:" then
    fail("%s: is YAML; write it as JSON: python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load("
      .. "sys.stdin), default=str))' < %s > report.json", path, path)
  end
  for _, each in ipairs(other_texts) do
    if ("\n" .. head):find(each[1]) then fail("%s: is %s", path, each[2]) end
  end
  head = text:sub(1, most_of_a_log)
  for _, each in ipairs(starts) do
    if head:find(each[1]) then
      fail("%s: is the log of a start of %s, which has no requests; give the command that started it to "
        .. "--command", path, each[2])
    end
  end
end

local function tell(document)
  if type(document) ~= "table" or document == json.null then return nil end
  for _, each in ipairs(tools.formats) do
    if each.tells(document) then return each end
  end
end

local function refuse_unknown(where, document)
  for _, each in ipairs(look_alikes) do
    if each[1](document) then fail("%s: is %s", where, each[2]) end
  end
  local found = core.describe(document)
  if type(document) == "table" and document ~= json.null and #document == 0 and next(document) then
    found = "keys " .. core.join(core.sorted_keys(document), ", ", 1, math.min(8, #core.sorted_keys(document)))
  end
  fail("%s: is not what `vllm bench serve --save-result` writes: it has neither mean_ttft_ms nor ttfts; nor is it a "
    .. "file of another known tool (%s); found %s", where, tools.tools(), found)
end

--- Adds {where, format, document} for a document, or for each entry of a list of them.
local function add_parts(parts, where, document)
  local format = tell(document)
  if format then
    parts[#parts + 1] = { where = where, format = format, document = document }
  elseif type(document) == "table" and #document > 0 then
    for i, each in ipairs(document) do
      add_parts(parts, where .. (where:find "%]$" and "[%d]" or ": [%d]"):format(i), each)
    end
  elseif type(document) == "table" and document ~= json.null and next(document) == nil then
    fail("%s: no data: it is empty", where)
  else
    refuse_unknown(where, document)
  end
end

--- Parts of a format that has a document per request become one part with all of its `lines`.
local function joined(path, parts)
  local out, of_format = {}, {}
  for _, part in ipairs(parts) do
    local known = of_format[part.format]
    if not part.format.read_lines then
      out[#out + 1] = part
    elseif known then
      table.insert(known.lines, { where = part.where, document = part.document })
    else
      known = { where = path, format = part.format, lines = { { where = part.where, document = part.document } } }
      of_format[part.format], out[#out + 1] = known, known
    end
  end
  return out
end

--- What a file holds: a list of {where, format, document, lines}; nil for a text that is no JSON, such as a CSV.
function tools.parts(path, text)
  if not text:find "%S" then fail("%s: is empty", path) end
  local is_dated = text:find "^%s*%[%d%d" -- "[2025-11-20 09:12:05] ..." or "[11/20/2025-09:12:05] ...": a log
  if is_dated or not text:find "^[%s\30]*[{%[]" then
    if scrape.tells(text) then return { { where = path, format = of_text, document = text } } end
    refuse_other_text(path, text)
    if not is_dated then return nil end
  end
  local documents, parts = native.json_documents(text, path), {}
  for _, each in ipairs(documents) do
    local where = #documents > 1 and ("%s:%d"):format(path, each.line) or path
    local first = parts[1] and parts[1].format
    if first and first.read_lines and not tell(each.value) and type(each.value) == "table" then
      parts[#parts + 1] = { where = where, format = first, document = each.value } -- it says what is missing
    else
      add_parts(parts, where, each.value)
    end
  end
  return joined(path, parts)
end

--- The name of the format of the first result in a file; nil for a text that is no JSON and no scrape.
function tools.name(path, text)
  local parts = tools.parts(path, text)
  return parts and parts[1].format.name
end

--- The rows of a CSV whose columns are the keys of a result, as parts; nil where it has other columns.
function tools.rows(path, rows, header)
  local keys = {}
  for _, name in ipairs(header) do keys[name] = true end
  if keys.ttft_s or not vllm_bench.tells(keys) or keys.input_lens then return nil end
  if #rows == 0 then fail("%s: no data: it has no rows", path) end
  local parts = {}
  for i, row in ipairs(rows) do
    for _, name in ipairs(header) do
      if row[name] == nil then row[name] = json.null end -- an empty cell
    end
    parts[i] = { where = ("%s:%d"):format(path, row.line), document = row, format = tools.formats[1] }
  end
  return parts
end

--- Makes arrivals count from the first one: tools write stamps since 1970, or of any clock.
local function count_from_first(requests)
  local first_s = math.huge
  for _, each in ipairs(requests) do first_s = math.min(first_s, each.arrival_s or math.huge) end
  for _, each in ipairs(requests) do each.arrival_s = each.arrival_s and each.arrival_s - first_s end
end

local function completed(run, what)
  run.metrics, run.notes, run.tool = run.metrics or {}, run.notes or {}, what
  if run.requests then count_from_first(run.requests) end
  for _, request in ipairs(run.requests or {}) do
    request.failed = request.failed or request.output_tokens == 0
  end
  return run
end

--- Gives each of several runs a name of its own: what its file calls it, else "run 2".
local function name_runs(runs)
  if #runs == 1 then return end
  local times = {}
  for _, run in ipairs(runs) do
    if run.name then times[run.name] = (times[run.name] or 0) + 1 end
  end
  for i, run in ipairs(runs) do
    if not run.name then
      run.name = ("run %d"):format(i)
    elseif times[run.name] > 1 then
      run.name = ("run %d, %s"):format(i, run.name)
    end
  end
end

--- The runs of the parts of a file.
function tools.read(path, parts)
  local runs = {}
  for _, part in ipairs(parts) do
    local format = part.format
    local found = format.read_lines and format.read_lines(path, part.lines) or format.read(part.where, part.document)
    for _, run in ipairs(found) do runs[#runs + 1] = completed(run, format.what) end
  end
  name_runs(runs)
  return runs
end

--- The run of that name or number.
--- @param where string what names the run, for messages
function tools.chosen(where, runs, wanted)
  local number, names = tonumber(wanted), {}
  for i, run in ipairs(runs) do
    if run.name == wanted or i == number or #runs == 1 and number == 1 then return run end
    names[i] = run.name or "1"
  end
  return fail("%s: no run of the file is called '%s'; it has %d: %s", where, wanted, #runs, core.join(names, ", "))
end

--- A file and the run in it that "bench.json#2" or "bench.json#benchmark 2" names. A file whose own name has a # is
--- found, too.
--- @return string path
--- @return string? wanted the name or number of the run
function tools.split(name)
  if native.file_exists(name) then return name end
  local path, wanted = name:match "^(.+)#([^#]+)$"
  if path and native.file_exists(path) then return path, wanted end
  return name
end

return tools
