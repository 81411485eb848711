-- Requests of a simulated run, written as files of other tools, are read again as the same requests and the same
-- means; each file says that it is simulated, and has the fields and units that its format asks for.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local json = rooflua.json
local measured = require "rooflua.formats.measured_runs"
local native = require "rooflua.native"
local program = require "rooflua.program.scenarios"
local written = require "rooflua.writers.formats"

--- A run by the program's own path: its result, its facts and the CSV of its requests.
local function run_of(given)
  local opened = program.open_table(given, { file = "a.lua" })
  local rows = test.file(".csv", "")
  local result = program.run(opened.number, 1, { rows_path = rows, document = true })
  local facts = program.facts(opened.number, 1)
  facts.uid, facts.build, facts.scenario, facts.seed = "0123456789abcdef", "0.1.0", "a.lua", 3
  return { name = "one", parameters = {}, summary = result.summary }, facts, rows
end

local poisson = { rooflua = 1, model = "llama-3.1-8b", hardware = "h200", seed = 3, deployment = { tp = 2 },
  workload = require "workloads.poisson" { rate_per_s = 8, num_requests = 40, prompt_tokens = 300,
    output_tokens = 20 } }
local variant, facts, rows = run_of(poisson)

local clients = { rooflua = 1, model = "llama-3.1-8b", hardware = "h200", seed = 3, deployment = { tp = 2 },
  workload = require "workloads.closed_loop" { clients = 6, num_requests = 60, prompt_tokens = 300,
    output_tokens = 20 } }

--- The file of a format as text.
local function text_of(name, a_variant, a_facts, path)
  local told = written.file(name, a_variant or variant, a_facts or facts, path or rows)
  local out = {}
  for i, each in ipairs(told.documents) do out[i] = json.encode(each) end
  return table.concat(out, "\n") .. "\n", told
end

--- The requests that the engine wrote, in order of arrival, from time 0.
local function simulated(path)
  local list = native.csv_read(path)
  table.sort(list, function(a, b) return a.id < b.id end)
  local first_s = list[1].arrival_s
  for _, each in ipairs(list) do each.arrival_s = each.arrival_s - first_s end
  return list
end

--- Stamps are whole nanoseconds, so a difference of two is within two of them.
local function near_ns(found, wanted, what)
  test.check(math.abs(found - wanted) <= 2e-9, "%s: expected %.12g, found %.12g", what, wanted, found)
end

local function same_requests(run, list, name)
  test.equal(#run.requests, #list, name)
  for i, each in ipairs(run.requests) do
    local own = list[i]
    test.equal(each.prompt_tokens, own.prompt_tokens, name)
    test.equal(each.output_tokens, own.output_tokens, name)
    near_ns(each.arrival_s, own.arrival_s, name)
    test.near(each.ttft_s, own.ttft_s, 1e-9, name)
    test.near(each.e2e_s, own.e2e_s, 1e-9, name)
  end
end

for name, ending in pairs { aiperf = ".jsonl", guidellm = ".json", otlp = ".jsonl" } do
  test(name .. ": what is written is read again as the same requests, and called simulated", function()
    local run = measured.read(test.file(ending, (text_of(name))))
    same_requests(run, simulated(rows), name)
    test.equal(run.failed, 0)
    test.equal(run.how, "at their recorded times")
    test.equal(run.notes[1], "is a simulated run, written by rooflua")
    local means = measured.metrics(run.requests, 1, #run.requests)
    test.near(means.tpot_s_mean, variant.summary.tpot_s.mean, 1e-9)
    test.near(means.ttft_s_mean, variant.summary.ttft_s.mean, 1e-9)
    test.near(means.e2e_s_mean, variant.summary.e2e_s.mean, 1e-9)
    test.equal(text_of(name), (text_of(name)), "the same bytes")
  end)
end

test("AIPerf: whole nanoseconds, milliseconds with their unit, a phase and a worker", function()
  local line = written.file("aiperf", variant, facts, rows).documents[1]
  local request = native.csv_read(rows)[1]
  test.equal(line.metadata.request_start_ns % 1, 0)
  near_ns(line.metadata.request_start_ns / 1e9, 1 + request.arrival_s, "start")
  near_ns((line.metadata.request_end_ns - line.metadata.request_start_ns) / 1e9, request.e2e_s, "end")
  test.equal(line.metadata.benchmark_phase, "profiling")
  test.equal(line.metadata.worker_id, "rooflua (simulated)")
  test.equal(line.metrics.time_to_first_token.unit, "ms")
  test.near(line.metrics.time_to_first_token.value, 1e3 * request.ttft_s, 1e-9)
  test.near(line.metrics.inter_token_latency.value, 1e3 * (request.e2e_s - request.ttft_s) / 19, 1e-6)
  test.equal(line.metrics.output_sequence_length.unit, "tokens")
  test.equal(line.error, json.null)
end)

test("guidellm: its time per output token has the first token, and weighs a request by its tokens", function()
  local document = written.file("guidellm", variant, facts, rows).documents[1]
  local benchmark = document.benchmarks[1]
  test.equal(document.metadata.version, 2)
  test.equal(benchmark.config.strategy.type_, "poisson")
  test.equal(benchmark.config.strategy.rate, 8)
  local one = benchmark.requests.successful[1]
  test.near(one.time_per_output_token_ms, 1e3 * one.request_latency / one.output_tokens, 1e-9)
  test.near(one.inter_token_latency_ms * (one.output_tokens - 1) + one.time_to_first_token_ms,
    1e3 * one.request_latency, 1e-6)
  local ttft = benchmark.metrics.time_to_first_token_ms.successful
  test.near(ttft.mean, 1e3 * variant.summary.ttft_s.mean, 1e-9)
  test.equal(ttft.count, 40)
  test.check(ttft.min <= ttft.percentiles.p001 and ttft.percentiles.p50 <= ttft.percentiles.p99
    and ttft.percentiles.p999 <= ttft.max, "percentiles are in order")
  test.equal(ttft.median, ttft.percentiles.p50)
  test.equal(benchmark.metrics.inter_token_latency_ms.successful.count, 40 * 19, "a gap each")
  test.equal(benchmark.metrics.time_per_output_token_ms.successful.count, 40 * 20, "a token each")
  test.equal(benchmark.metrics.request_totals.total, 40)
end)

test("guidellm: without its requests the report's own means are read, and agree", function()
  local document = written.file("guidellm", variant, facts, rows).documents[1]
  document.benchmarks[1].requests.successful = json.array {}
  local run = measured.read(test.file(".json", json.encode(document)))
  test.near(run.metrics.ttft_s_mean, variant.summary.ttft_s.mean, 1e-9)
  test.near(run.metrics.tpot_s_mean, variant.summary.tpot_s.mean, 1e-9, "all answers have one length")
  test.near(run.metrics.e2e_s_mean, variant.summary.e2e_s.mean, 1e-9)
  test.equal(run.how, "at 8 requests/s, burstiness 1")
  test.equal(run.requests[1].prompt_tokens, 300)
end)

test("OpenTelemetry: batches of spans, whole numbers as text, seconds, and no prefill behind a front end", function()
  local document = written.file("otlp", variant, facts, rows).documents[1]
  local resource = document.resourceSpans[1]
  test.equal(resource.resource.attributes[1].value.stringValue, "rooflua (simulated)")
  local function span_of(a_facts)
    local span = written.file("otlp", variant, a_facts, rows).documents[1].resourceSpans[1].scopeSpans[1].spans[1]
    local found = {}
    for _, each in ipairs(span.attributes) do
      found[each.key] = each.value.doubleValue or each.value.intValue or each.value.stringValue
    end
    return span, found
  end
  local span, found = span_of(facts)
  test.equal(span.name, "llm_request")
  test.equal(#span.traceId, 32)
  test.equal(#span.spanId, 16)
  test.equal(found["gen_ai.usage.prompt_tokens"], "300")
  local parts = found["gen_ai.latency.time_in_queue"] + found["gen_ai.latency.time_in_model_prefill"]
  test.near(parts, found["gen_ai.latency.time_to_first_token"], 1e-9)
  test.near(parts + found["gen_ai.latency.time_in_model_decode"], found["gen_ai.latency.e2e"], 1e-9)
  near_ns((tonumber(span.endTimeUnixNano) - tonumber(span.startTimeUnixNano)) / 1e9, found["gen_ai.latency.e2e"],
    "end")
  local behind = setmetatable({ frontend = true }, { __index = facts })
  local _, less = span_of(behind)
  test.equal(less["gen_ai.latency.time_in_model_prefill"], nil, "it cannot be told from the front end's time")
end)

-- InferenceX ----------------------------------------------------------------------------------------------------

test("InferenceX: a row of a number of clients is read again as the same means and throughput", function()
  local own, own_facts, path = run_of(clients)
  local text = text_of("inferencex", own, own_facts, path)
  local run = measured.read(test.file(".json", text))
  test.equal(run.how, "from 6 clients")
  test.near(run.metrics.ttft_s_mean, own.summary.ttft_s.mean, 1e-12)
  test.near(run.metrics.tpot_s_p50, own.summary.tpot_s.p50, 1e-12)
  test.near(run.output_tokens_per_s, own.summary.output_tokens_per_s, 1e-6)
  test.equal(run.notes[1], "is a simulated run, written by rooflua")
  local row = json.decode(text)
  test.equal(row.tp, 2)
  test.equal(row.isl, 300)
  test.equal(row.hw, "h200-sxm")
  test.equal(row.framework, "rooflua (simulated)")
  test.near(row.mean_intvty * row.mean_tpot, 1, 1e-12)
  test.near(row.tput_per_gpu, row.input_tput_per_gpu + row.output_tput_per_gpu, 1e-6)
end)

--- The scenario with engines of these roles and tp.
local function of_engines(list)
  local given = {}
  for key, value in pairs(clients) do given[key] = value end
  given.replicas, given.deployment = list, nil
  return given
end

test("InferenceX: the output is divided by decode GPUs where prefill and decode are split, else by all", function()
  local own, own_facts, path = run_of(of_engines { { role = "prefill", count = 2 },
    { role = "decode", deployment = { tp = 4 } } })
  local text = text_of("inferencex", own, own_facts, path)
  local row = json.decode(text)
  test.equal(row.num_prefill_gpu, 2)
  test.equal(row.num_decode_gpu, 4)
  test.equal(row.disagg, true)
  test.near(row.output_tput_per_gpu, own.summary.output_tokens_per_s / 4, 1e-9)
  test.near(measured.read(test.file(".json", text)).output_tokens_per_s, own.summary.output_tokens_per_s, 1e-6)
  own, own_facts, path = run_of(of_engines(3))
  text = text_of("inferencex", own, own_facts, path)
  row = json.decode(text)
  test.equal(row.num_decode_gpu, 0, "no engine is for decode alone")
  test.equal(row.disagg, false)
  test.near(row.output_tput_per_gpu, own.summary.output_tokens_per_s / 3, 1e-9)
  test.near(measured.read(test.file(".json", text)).output_tokens_per_s, own.summary.output_tokens_per_s, 1e-6)
end)

test("InferenceX: a load without clients is refused before the run", function()
  test.raises("a row states a number of clients (conc), and the workload 'poisson' has none", function()
    written.ready("inferencex", facts)
  end)
  local both = setmetatable({ clients = 4 }, { __index = facts })
  test.raises("has no place for a rate, and the workload 'poisson' has 8 requests/s", function()
    written.ready("inferencex", both)
  end)
  local benchmark = written.file("guidellm", variant, both, rows).documents[1].benchmarks[1]
  test.equal(benchmark.config.strategy.max_concurrency, 4)
  test.equal(written.ready("aiperf", facts), true)
end)

local header = "id,session,outcome,arrival_s,prompt_tokens,output_tokens,queue_s,ttft_s,tpot_s,e2e_s\n"

-- Failed requests, sessions, names --------------------------------------------------------------------------------

test("requests that fail are failed again, and count in no figure", function()
  local path = test.file(".csv", header
    .. "0,,completed,0,10,2,0,0.5,0.25,0.75\n1,,rejected,0.125,10,0,,,,\n2,,unfinished,0.25,10,1,0,0.5,,\n")
  for name, ending in pairs { aiperf = ".jsonl", guidellm = ".json", otlp = ".jsonl" } do
    local run = measured.read(test.file(ending, (text_of(name, variant, facts, path))))
    test.equal(#run.requests, 1, name)
    test.equal(run.failed, 2, name)
    test.near(run.requests[1].e2e_s, 0.75, 1e-9, name)
  end
  local lines = written.file("aiperf", variant, facts, path).documents
  test.equal(lines[2].error.type, "rejected")
  test.equal(lines[2].metadata.was_cancelled, false)
  test.equal(lines[3].metadata.was_cancelled, true)
  test.equal(lines[2].metrics.error_isl.value, 10)
end)

test("turns of a session are numbered, and prompts of different turns are different", function()
  local path = test.file(".csv", header
    .. "0,4,completed,0,10,2,0,0.5,0.25,0.75\n1,4,completed,1,22,2,0,0.5,0.25,0.75\n")
  local lines = written.file("aiperf", variant, facts, path).documents
  test.equal(lines[1].metadata.conversation_id, "session-4")
  test.equal(lines[2].metadata.turn_index, 1)
  local run = measured.read(test.file(".jsonl", (text_of("aiperf", variant, facts, path))))
  test.equal(run.requests[1].prompt_id, nil)
end)

test("a wrong name of a format suggests the right one, or the option that writes it", function()
  test.raises("--write: unknown format 'aiperff'", function() written.check "aiperff" end)
  test.raises("--write: 'perfetto' is written by --trace FILE", function() written.check "perfetto" end)
  test.raises("rooflua results export FILE --format prometheus", function() written.check "prometheus" end)
  test.equal(written.check("otlp").requests, true)
  test.equal(written.check("inferencex").requests, false)
end)

test.finish()
