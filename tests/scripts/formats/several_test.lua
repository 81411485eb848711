-- Files of users hold several results, Python's words for numbers, any Unicode encoding, and are of many tools: each is
-- read as what it is, or refused by its name.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local json = rooflua.json
local measured = require "rooflua.formats.measured_runs"

--- A result of vllm bench serve without single requests.
local function result(changes)
  local out = { request_rate = 10, burstiness = 1, max_concurrency = json.null, duration = 7, completed = 60,
    num_prompts = 60, total_input_tokens = 18000, total_output_tokens = 1200, mean_ttft_ms = 16, mean_tpot_ms = 6.5,
    mean_e2el_ms = 141 }
  for key, value in pairs(changes or {}) do out[key] = value end
  return json.encode(out)
end

local function read(text, ending) return measured.read_all(test.file(ending or ".json", text)) end
local function refused(part, text, ending)
  test.raises(part, function() read(text, ending) end)
end

local two = { result(), result { request_rate = 40, mean_ttft_ms = 90 } }
local layouts = { lines = table.concat(two, "\n"), joined = table.concat(two),
  list = "[" .. table.concat(two, ",") .. "]",
  nested = "[[" .. two[1] .. "],\n[" .. two[2] .. "]]", pretty = json.encode(json.decode(two[1]), 2) .. "\n"
    .. json.encode(json.decode(two[2]), 2), blank = "\n\n" .. table.concat(two, "\n\n") .. "\n\n" }

test("several results in one file are several runs, however they are laid out", function()
  for name, text in pairs(layouts) do
    local runs = read(text)
    test.equal(#runs, 2, name)
    test.equal(runs[1].how, "at 10 requests/s, burstiness 1", name)
    test.equal(runs[2].how, "at 40 requests/s, burstiness 1", name)
    test.near(runs[2].metrics.ttft_s_mean, 0.09, 1e-12, name)
    test.check(runs[2].path:find ": run 2$", runs[2].path)
  end
end)

test("a run of several is chosen by its number or its name", function()
  local path = test.file(".json", result { label = "slow" } .. "\n" .. result { label = "fast", request_rate = 40 })
  for name, rate in pairs { ["#2"] = 40, ["#fast"] = 40, ["#slow"] = 10, ["#1"] = 10 } do
    local runs = measured.read_all(path .. name)
    test.equal(#runs, 1)
    test.equal(runs[1].rate_per_s, rate, name)
  end
  test.raises("no run of the file is called '3'; it has 2: slow, fast", function() measured.read_all(path .. "#3") end)
  local twice = test.file(".json", result { label = "a" } .. result { label = "a" })
  test.equal(measured.read_all(twice)[2].name, "run 2, a", "equal names get numbers")
end)

test("a row per run of a summary in CSV, as vllm bench sweep writes it, is a run each", function()
  local runs = read(",request_rate,max_concurrency,completed,total_input_tokens,total_output_tokens,request_throughput,"
    .. "mean_ttft_ms\n0,10.0,,60,18000,1200,8,16\n1,inf,8,60,18000,1200,8,90\n", ".csv")
  test.equal(#runs, 2)
  test.equal(runs[1].how, "at 10 requests/s, burstiness 1")
  test.equal(runs[2].how, "from 8 clients")
end)

test("Infinity is no rate, and NaN says that nothing was measured", function()
  local text = result():gsub('"request_rate":10', '"request_rate":Infinity')
  test.equal(read(text)[1].how, "all at once")
  test.equal(read(result { request_rate = "inf", max_concurrency = 8 })[1].how, "from 8 clients")
  local run = read((result():gsub('"mean_tpot_ms":6.5', '"mean_tpot_ms":NaN')))[1]
  test.equal(run.metrics.tpot_s_mean, nil)
  test.equal(run.notes[1], "mean_tpot_ms is NaN, so it is not used")
  refused("mean_ttft_ms: expected a number above 0", (result():gsub('"mean_ttft_ms":16', '"mean_ttft_ms":-Infinity')))
  refused("completed: expected a number above 0", (result():gsub('"completed":60', '"completed":NaN')))
end)

test("a load that the file does not state is not guessed", function()
  refused("ramp_up_strategy: the rate was raised during the run", result { ramp_up_strategy = "linear" })
  refused("the requests were sent at the times of a trace", result { request_rate = "trace" })
  local without = json.decode(result())
  without.request_rate = nil
  refused("request_rate: is missing, so the load is not known", json.encode(without))
  test.check(read(result { max_concurrency = 4 })[1].notes[1]:find "max_concurrency 4 is not followed")
end)

test("SGLang's lines have their own name for the time of a request", function()
  local line = json.decode(result { backend = "sglang", max_concurrency = 8 })
  line.mean_e2el_ms, line.mean_e2e_latency_ms = nil, 141
  local text = json.encode(line):gsub('"request_rate":10', '"request_rate":Infinity')
  local run = read(text .. "\n", ".jsonl")[1]
  test.equal(run.how, "from 8 clients")
  test.near(run.metrics.e2e_s_mean, 0.141, 1e-12)
end)

test("lists of a result that disagree with its total are told", function()
  local run = read(result { completed = 3, mean_ttft_ms = 150, input_lens = { 5, 6 }, output_lens = { 2, 3 },
    ttfts = { 0.1, 0.2 } })[1]
  test.check(run.notes[1]:find "completed is 3, but its lists have 2 requests", run.notes[1])
  run = read(result { completed = 2, input_lens = { 5, 6 }, output_lens = { 2, 3 }, ttfts = { 0.1, 0.2 } })[1]
  test.equal(run.notes[1], "mean_ttft_ms is 16, but its lists have a mean of 150")
  refused("ttfts: expected an entry for each of 2 requests, found 1",
    result { input_lens = { 5, 6 }, output_lens = { 2, 3 }, ttfts = { 0.1 } })
end)

test("figures of a result that cannot be together are refused or told", function()
  refused("the mean TTFT, 1600 ms, is above the mean time of a request, 141 ms", result { mean_ttft_ms = 1600 })
  refused("completed: 60 of 3 requests (num_prompts) cannot be", result { num_prompts = 3 })
  local function told(changes, words)
    local notes = table.concat(read(result(changes))[1].notes, "; ")
    test.check(notes:find(words), "%s: %s", words, notes)
  end
  told({ mean_ttft_ms = 0.016 }, "the mean TTFT is 0.016 ms, which no engine reaches")
  told({ duration = 7, request_throughput = 80 }, "request_throughput is 80, but completed over duration is 8.57143")
  told({ duration = 7, total_output_tokens = 600, output_throughput = 5 },
    "output_throughput is 5, but total_output_tokens over duration is 85.7143")
end)

test("columns of a CSV that nothing reads are told", function()
  local run = read("arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,cached_tokens\n0,10,3,0.125,0.25,8\n", ".csv")[1]
  test.equal(run.notes[1], "columns that are not read: cached_tokens")
  run = read("arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,status\n0,10,3,0.125,0.25,ok\n", ".csv")[1]
  test.equal(#run.notes, 0)
end)

-- Other tools ---------------------------------------------------------------------------------------------------

test("llmperf: a summary, and single requests beside it; TPOT is not its inter-token latency", function()
  local summary = json.encode { num_concurrent_requests = 4, results_num_completed_requests = 20,
    results_number_errors = 1, results_number_input_tokens_mean = 550, results_number_output_tokens_mean = 150,
    results_ttft_s_mean = 0.5, results_ttft_s_quantiles_p50 = 0.4, results_end_to_end_latency_s_mean = 3,
    results_inter_token_latency_s_mean = 0.02, results_inter_token_latency_s_stddev = 0.1 }
  local run = read(summary)[1]
  test.equal(run.how, "from 4 clients")
  test.equal(#run.requests, 20)
  test.equal(run.metrics.tpot_s_mean, nil)
  test.near(run.metrics.ttft_s_p50, 0.4, 1e-12)
  local single = json.encode(json.array { { error_code = json.null, ttft_s = 0.5, end_to_end_latency_s = 2.5,
    number_input_tokens = 100, number_output_tokens = 11 }, { error_code = 500 } })
  refused("has no arrivals, and the number of clients is in the file ..._summary.json", single)
  local path = test.file("_individual_responses.json", single)
  local out = assert(io.open((path:gsub("_individual_responses", "_summary")), "w"))
  out:write(summary)
  out:close()
  run = measured.read(path)
  test.equal(run.how, "from 4 clients")
  test.equal(run.failed, 1)
  test.near(measured.metrics(run.requests, 1, 1).tpot_s_mean, 0.2, 1e-12)
end)

test("genai-perf: figures by their units, the load of either layout", function()
  local function summary(config)
    local function of(value, unit) return { avg = value, p50 = value, unit = unit } end
    return json.encode { input_config = config, request_count = of(40, "count"), request_latency = of(900, "ms"),
      time_to_first_token = of(50000, "us"), inter_token_latency = of(10, "ms"),
      input_sequence_length = of(200, "tokens"), output_sequence_length = of(86, "tokens") }
  end
  local run = read(summary { perf_analyzer = { stimulus = { concurrency = 8 } } })[1]
  test.equal(run.how, "from 8 clients")
  test.near(run.metrics.ttft_s_mean, 0.05, 1e-12)
  test.near(run.metrics.tpot_s_p50, 0.01, 1e-12)
  test.equal(read(summary { subcommand = "profile", request_rate = 5 })[1].how, "at 5 requests/s, burstiness 1")
  refused("states neither concurrency nor request_rate", summary { perf_analyzer = { stimulus = {} } })
  refused("the raw export of genai-perf", '{"experiments": []}')
end)

test("guidellm of before version 2: strategy, totals and times under their keys", function()
  local function benchmark(kind)
    return { args = { strategy = { type_ = kind, streams = 4, rate = 2 } }, request_totals = { successful = 2 },
      metrics = { time_to_first_token_ms = { successful = { mean = 50, median = 40 } } },
      requests = { successful = json.array { { start_time = 1000.5, prompt_tokens = 20, output_tokens = 5,
        time_to_first_token_ms = 50, inter_token_latency_ms = 10, request_latency = 0.1 },
        { start_time = 1000, prompt_tokens = 30, output_tokens = 5, time_to_first_token_ms = 50,
        inter_token_latency_ms = 10, request_latency = 0.1 } } } }
  end
  local run = read(json.encode { benchmarks = json.array { benchmark "poisson" } })[1]
  test.equal(#run.requests, 2)
  test.near(run.requests[2].arrival_s, 0.5, 1e-9)
  test.near(run.requests[1].e2e_s, 0.09, 1e-9)
  local sampled = benchmark "concurrent"
  sampled.request_totals.successful = 40
  sampled.metrics.prompt_token_count = { successful = { mean = 20 } }
  sampled.metrics.output_token_count = { successful = { mean = 5 } }
  run = read(json.encode { benchmarks = json.array { sampled } })[1]
  test.equal(run.how, "from 4 clients")
  test.near(run.metrics.ttft_s_p50, 0.04, 1e-12)
  sampled.args.strategy.type_ = "new"
  refused("args.strategy.type_: expected constant, poisson", json.encode { benchmarks = json.array { sampled } })
  refused("is a report of guidellm 0.1", '{"benchmarks": [{"benchmarks": [], "args": {}}]}')
end)

test("results that measure no load are named", function()
  for text, part in pairs { ['{"avg_latency": 1}'] = "vllm bench latency",
    ['{"elapsed_time": 1}'] = "vllm bench through", ['{"total_latency": 1}'] = "bench_offline_throughput",
    ["[]"] = "no data: it is empty", ["{}"] = "no data",
    [" \n"] = "is empty", ["[3]"] = "found number 3" } do
    refused(part, text)
  end
  refused("is a report of trtllm-bench, which does not say how the requests were sent", json.encode {
    request_info = { num_requests = 9, avg_input_length = 100, avg_output_length = 10 },
    performance = { avg_request_latency_ms = 100 } })
end)

-- Text ----------------------------------------------------------------------------------------------------------

test("a file that is no text is named, and a byte-order mark is no fault", function()
  test.equal(#read("\239\187\191" .. result()), 1)
  test.equal(#read((("\255\254" .. result():gsub(".", "%0\0")))), 1)
  test.equal(read("\239\187\191arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n0,5,5,0.1,0.2\n", ".csv")[1]
    .requests[1].prompt_tokens, 5)
  refused("git lfs pull", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n")
  refused("packed with zstd", "\40\181\47\253abc")
  refused("is a page of the web", "<!doctype html>\n")
  refused(":1: is not UTF-8 (byte 0xE9)", '{"label": "caf\233"}')
  refused(":2: ends with 3 bytes of zero", result() .. "\n\0\0\0")
  refused("the document that begins here has no end", result():sub(1, 60))
end)

test("arrivals of a CSV whose column does not name its unit are told, with a note", function()
  local function csv(name, stamps)
    local lines = { name .. ",prompt_tokens,output_tokens,ttft_s,e2e_s" }
    for _, stamp in ipairs(stamps) do lines[#lines + 1] = stamp .. ",5,5,0.1,0.2" end
    return read(table.concat(lines, "\n") .. "\n", ".csv")[1]
  end
  local run = csv("timestamp", { 0, 1500, 3100 })
  test.near(run.requests[3].arrival_s, 3.1, 1e-9)
  test.check(run.notes[1]:find "read as ms" and run.notes[1]:find "timestamp_ms states it", run.notes[1])
  test.near(csv("start_time", { 0.25, 1.5, 3.25 }).requests[3].arrival_s, 3, 1e-9)
  test.equal(#csv("arrival_ms", { 0, 1500, 3100 }).notes, 0)
  refused("column 'ttft_s' occurs twice", "arrival_s,ttft_s,ttft_s\n0,1,2\n", ".csv")
end)

test("a result without times of requests is the load of a plan: its means, at its rate or from its clients", function()
  local measured_load = require "rooflua.plan.measured_load"
  local lengths, load = measured_load.of(test.file(".json", result()))
  test.equal(lengths.prompt_tokens, 300)
  test.equal(lengths.output_tokens, 20)
  test.equal(load.rate_per_s, 10)
  local path = test.file(".json", result() .. result { request_rate = "inf", max_concurrency = 8 })
  lengths, load = measured_load.of(path .. "#2")
  test.equal(load.clients, 8)
  test.equal(lengths.prompt_tokens, 300)
  test.raises("holds 2 results; name one of them", function() measured_load.of(path) end)
  test.raises("all its requests were sent at once", function()
    measured_load.of(test.file(".json", result { request_rate = "inf" }))
  end)
  test.equal(measured_load.of(test.file(".csv", "arrival_s,prompt_tokens,output_tokens\n0,5,5\n")), nil)
end)

test("requests that are replayed declare the length of their answer, as the clients of benchmarks do", function()
  local rows = "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,prompt_id\n0,10,20,0.1,1,7\n1,10,30,0.1,1,8\n"
  local state = read(rows, ".csv")[1].workload:requests(require("rooflua.random").streams(1))
  for _, expected in ipairs { 20, 30 } do
    local _, _, output, fields = state.next(state)
    test.equal(output, expected)
    test.equal(fields.max_output_tokens, expected)
    test.equal(#fields.content, 1)
  end
end)

test.finish()
