-- Files of other benchmark tools as measured runs: each format is told by content, its figures mean the same here, and
-- its traps are errors or notes. The fixtures are written from the field lists of the tools.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local json = rooflua.json
local native = require "rooflua.native"
local measured = require "rooflua.formats.measured_runs"
local tools = require "rooflua.formats.tools"

local function text_of(name) return native.read_file("tests/fixtures/formats/" .. name) end
local function runs_of(name) return measured.read_all("tests/fixtures/formats/" .. name) end

--- The fixture after a change to its document.
local function changed(name, change)
  local document = json.decode(text_of(name))
  return test.file(".json", json.encode(change(document) or document))
end

--- The fixture of lines after a change to the line of that number.
local function changed_line(name, number, change)
  local lines = {}
  for line in text_of(name):gmatch "[^\n]+" do
    lines[#lines + 1] = line
    if #lines == number then
      local document = json.decode(line)
      change(document)
      lines[number] = json.encode(document)
    end
  end
  return test.file(".jsonl", table.concat(lines, "\n") .. "\n")
end

local function refused(part, path)
  test.raises(part, function() measured.read_all(path) end)
end

test("each format is told by its content, whatever the file is called", function()
  for name, format in pairs { ["aiperf_profile_export.jsonl"] = "aiperf", ["guidellm.json"] = "guidellm",
    ["inference_perf_stage_0.json"] = "inference_perf", ["inference_perf_per_request.json"] = "inference_perf",
    ["llm_d_report.json"] = "llm_d", ["inferencex_agg.json"] = "inferencex", ["inferencex_rows.json"] = "inferencex",
    ["otlp_spans.jsonl"] = "otlp" } do
    local copy = test.file(".txt", text_of(name))
    test.equal(tools.name(copy, text_of(name)), format, name)
    test.check(#measured.read_all(copy) > 0, name)
  end
  test.equal(tools.name("a.csv", "arrival_s,prompt_tokens\n1,2\n"), nil)
  test.equal(tools.name("a.json", '{"mean_ttft_ms": 3}'), "vllm_bench")
end)

-- AIPerf --------------------------------------------------------------------------------------------------------

test("AIPerf: lines in order of their end, epoch nanoseconds, units beside the values, warm-up left out", function()
  local run = runs_of("aiperf_profile_export.jsonl")[1]
  test.equal(#run.requests, 3)
  test.equal(run.failed, 1, "the cancelled request")
  test.equal(run.how, "at their recorded times")
  local a, b, c = unpack(run.requests)
  test.equal(a.prompt_tokens, 200, "the earliest request is first, though its line is later")
  test.equal(a.arrival_s, 0, "the warm-up is not time 0")
  test.near(b.arrival_s, 0.5, 1e-6)
  test.near(c.arrival_s, 0.750000001, 1e-6, "a difference of stamps near 2^60")
  test.equal(c.output_tokens, 8, "reasoning tokens are part of output_sequence_length")
  test.near(a.ttft_s, 0.04, 1e-12)
  test.near(c.ttft_s, 0.06, 1e-12, "microseconds by their unit")
  test.near(b.e2e_s, 0.2, 1e-12)
  test.equal(a.prompt_id, c.prompt_id, "both sent conversation d1")
  test.check(a.prompt_id ~= b.prompt_id, "another conversation is another prompt")
  test.equal(run.notes[1], "1 requests of the warm-up are left out")
end)

test("AIPerf: what is missing names line and field, and what to do", function()
  local name = "aiperf_profile_export.jsonl"
  refused(":3: metrics.time_to_first_token: is missing; AIPerf measures it with --streaming",
    changed_line(name, 3, function(line) line.metrics.time_to_first_token = nil end))
  refused(":2: metrics.request_latency.unit: expected ns, us, ms or s, found text \"h\"",
    changed_line(name, 2, function(line) line.metrics.request_latency.unit = "h" end))
  refused(":4: the request ends after", changed_line(name, 4, function(line)
    line.metrics.request_latency.value = 1
  end))
  refused(":2: metadata.request_start_ns: is missing", changed_line(name, 2, function(line)
    line.metadata.request_start_ns = nil
  end))
  refused("is the summary of AIPerf; name profile_export.jsonl",
    test.file(".json", '{"input_config": {}, "request_latency": {"unit": "ms", "avg": 3}}'))
end)

-- guidellm ------------------------------------------------------------------------------------------------------

test("guidellm: TPOT leaves the first token out, and a request ends with its last token", function()
  local run = runs_of("guidellm.json")[1]
  test.equal(run.path, "tests/fixtures/formats/guidellm.json: benchmark 1")
  test.equal(#run.requests, 3)
  test.equal(run.failed, 1)
  local first = run.requests[1]
  test.near((first.e2e_s - first.ttft_s) / (first.output_tokens - 1), 0.010, 1e-9)
  test.near(first.e2e_s, 0.08, 1e-9, "without the 20 ms that the stream takes to close")
  test.near(run.requests[3].e2e_s, 0.025, 1e-5, "one token: the request's own latency")
  test.near(run.requests[2].arrival_s, 0.5, 1e-6)
  test.near(measured.metrics(run.requests, 1, 3).tpot_s_mean, 0.010, 1e-9)
end)

test("guidellm: a sample of the requests is not replayed as if it were all; the means are used", function()
  local run = runs_of("guidellm.json")[2]
  test.equal(#run.requests, 40)
  test.equal(run.how, "from 4 clients")
  test.equal(run.requests[1].prompt_tokens, 149)
  test.near(run.metrics.tpot_s_mean, 0.010, 1e-12, "inter_token_latency_ms, not time_per_output_token_ms (19)")
  test.near(run.metrics.ttft_s_mean, 0.040, 1e-12)
  test.equal(run.failed, 2)
  test.check(run.notes[1]:find "keeps 1 of 40 requests")
end)

test("guidellm: another version and a missing figure are refused by their key", function()
  refused("metadata.version: expected 1 or 2, found number 3", changed("guidellm.json", function(d)
    d.metadata.version = 3
  end))
  refused("benchmarks[1]: requests.successful[2]: time_to_first_token_ms: is missing; guidellm measures it of",
    changed("guidellm.json", function(d) d.benchmarks[1].requests.successful[2].time_to_first_token_ms = nil end))
  refused("benchmarks: no data", changed("guidellm.json", function(d) d.benchmarks = json.array {} end))
end)

-- inference-perf ------------------------------------------------------------------------------------------------

test("inference-perf: a stage is a run at the rate that it reached", function()
  local run = runs_of("inference_perf_stage_0.json")[1]
  test.equal(#run.requests, 496)
  test.equal(run.failed, 4)
  test.equal(run.how, "at 9.98 requests/s, burstiness 1")
  test.equal(run.requests[1].output_tokens, 100, "the server's count, not the client's 101")
  test.near(run.metrics.tpot_s_mean, 0.010, 1e-12, "not the normalized time, which has the first token")
  test.near(run.metrics.ttft_s_p50, 0.15, 1e-12)
end)

test("inference-perf: a run whose client lagged is refused, except that of clients that wait", function()
  local name = "inference_perf_stage_0.json"
  local function late(d) d.load_summary.schedule_delay.mean = 0.3 end
  refused("load_summary.schedule_delay: the client sent its requests 0.3 s late", changed(name, late))
  refused("the client reached 5 of 10 requests/s", changed(name, function(d) d.load_summary.achieved_rate = 5 end))
  local run = measured.read(changed(name, function(d)
    late(d)
    d.load_summary.concurrency = 16
  end))
  test.equal(run.how, "from 16 clients")
  refused("the summary of several stages is no run", changed(name, function(d)
    d.load_summary = { count = 500, schedule_delay = { mean = 0.001 } }
  end))
end)

test("inference-perf: per_request_lifecycle_metrics.json is used request by request", function()
  local run = runs_of("inference_perf_per_request.json")[1]
  test.equal(#run.requests, 2)
  test.equal(run.failed, 1)
  test.equal(run.requests[1].prompt_tokens, 200)
  test.equal(run.requests[1].output_tokens, 7, "the server's count")
  test.near(run.requests[1].ttft_s, 0.08, 1e-9)
  test.near(run.requests[1].e2e_s, 0.13, 1e-9)
  test.near(run.requests[2].arrival_s, 0.5, 1e-9)
end)

-- llm-d ---------------------------------------------------------------------------------------------------------

test("llm-d: figures by their units; the time per token leaves the first token out", function()
  local run = runs_of("llm_d_report.json")[1]
  test.equal(#run.requests, 496)
  test.near(run.metrics.ttft_s_mean, 0.2, 1e-12, "milliseconds by their unit")
  test.near(run.metrics.tpot_s_mean, 0.010, 1e-12)
  test.equal(run.how, "at 10 requests/s, burstiness 1")
  test.equal(#run.notes, 0)
  local function tool(d) d.scenario.stack[1].standardized.tool = "rooflua (simulated)" end
  test.check(measured.read(changed("llm_d_report.json", tool)).notes[1]:find "is a simulated run")
end)

test("llm-d: another version, an unknown unit, no load and YAML are refused", function()
  local name, latency = "llm_d_report.json", "results.request_performance.aggregate.latency"
  refused("version: expected \"0.2\" or \"0.2.1\"", changed(name, function(d) d.version = "0.1" end))
  refused(latency .. ".time_to_first_token.units: expected s, ms", changed(name, function(d)
    d.results.request_performance.aggregate.latency.time_to_first_token.units = "h"
  end))
  refused("states neither rate_qps nor concurrency", changed(name, function(d)
    d.scenario.load.standardized.rate_qps = nil
  end))
  refused("is a Kubernetes manifest", test.file(".yaml", "---\napiVersion: apps/v1\nkind: Deployment\n"))
  refused("is a Kubernetes manifest", test.file(".json", '{"apiVersion": "v1", "kind": "List", "items": []}'))
  refused("is a compose file", test.file(".yaml", "services:\n  vllm:\n    command: [\"vllm\", \"serve\"]\n"))
  refused("resultType: expected \"matrix\", the answer of /api/v1/query_range", test.file(".json",
    '{"status": "success", "data": {"resultType": "vector", "result": []}}'))
  refused("is the log of a start of vLLM", test.file(".log", "INFO 11-20 09:12:01 [__init__.py:216] Automatically\n"
    .. "(APIServer pid=1) INFO 11-20 09:12:05 [api_server.py:1839] vLLM API server version 0.11.0\n"))
  refused("is the log of a start of SGLang", test.file(".log",
    "[2025-11-20 09:12:05] server_args=ServerArgs(a='b', c=1)\n"))
  refused("is YAML; write it as JSON", test.file(".yaml", "version: '0.2'\nrun:\n  uid: a\n"))
end)

-- InferenceX ----------------------------------------------------------------------------------------------------

test("InferenceX: seconds, clients, and throughput per GPU: of decode GPUs only where disaggregated", function()
  local run = runs_of("inferencex_agg.json")[1]
  test.equal(run.how, "from 8 clients")
  test.equal(#run.requests, 80)
  test.equal(run.requests[1].output_tokens, 256)
  test.near(run.metrics.tpot_s_mean, 0.01, 1e-12)
  local text = text_of "inferencex_rows.json"
  local rows = tools.read("rows.json", tools.parts("rows.json", text))
  test.equal(rows[1].output_tokens_per_s, 800, "2 GPUs")
  test.equal(rows[2].output_tokens_per_s, 3200, "8 decode GPUs, not 12")
  test.equal(rows[2].name, "h200 vllm fp8 conc 64")
  refused("isl: is missing", changed("inferencex_agg.json", function(d) d.isl = nil end))
  refused("[2]: num_decode_gpu: is missing", changed("inferencex_rows.json", function(d)
    d[2].num_decode_gpu = nil
  end))
end)

-- OpenTelemetry -------------------------------------------------------------------------------------------------

test("OpenTelemetry: spans llm_request of every batch, whole numbers as text, others left alone", function()
  local run = runs_of("otlp_spans.jsonl")[1]
  test.equal(#run.requests, 3)
  test.equal(run.requests[1].prompt_tokens, 200)
  test.near(run.requests[3].arrival_s, 0.75, 1e-6)
  test.near(run.requests[2].ttft_s, 0.05, 1e-12)
  test.check(run.notes[1]:find "without network")
end)

test("OpenTelemetry: of prefill and decode in two engines no time to first token is taken", function()
  refused("request 'cmpl-b-0' has two spans: prefill and decode run in two engines",
    "tests/fixtures/formats/otlp_two_engines.jsonl")
  refused("no span is called llm_request; found GET /", test.file(".json",
    '{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"GET /","startTimeUnixNano":"1"}]}]}]}'))
end)

-- All -----------------------------------------------------------------------------------------------------------

test("a wrong type, a negative number and a file of no known tool are refused", function()
  refused("benchmarks[2]: metrics.prompt_token_count.successful.mean: expected a number from 0 to",
    changed("guidellm.json", function(d) d.benchmarks[2].metrics.prompt_token_count.successful.mean = "many" end))
  refused("successes.latency.request_latency.mean: expected a number from 0 to", changed("inference_perf_stage_0.json",
    function(d) d.successes.latency.request_latency.mean = -1 end))
  refused("nor is it a file of another known tool (vllm bench serve, AIPerf, guidellm, inference-perf, llm-d, "
    .. "InferenceX, genai-perf, llmperf, trtllm-bench, OpenTelemetry or Prometheus (of vLLM)); found keys a",
    test.file(".json", '{"a": 1}'))
  refused("nor is it a file of another known tool", test.file(".json", "[1, 2]"))
  refused("is a result document of rooflua, which is no measurement", test.file(".json", '{"variants": []}'))
end)

test("a broken line says which", function()
  local text = text_of "aiperf_profile_export.jsonl"
  refused(":6", test.file(".jsonl", text .. '{"metadata": \n'))
end)

test.finish()
