-- Validation: a simulated run taken as a measurement has no error, in every format; a case that cannot run says why.
local test = dofile "tests/scripts/harness.lua"
local cases = require "rooflua.validate.cases"
local engines = require "rooflua.validate.engines"
local json = require "rooflua.json"
local policies = require "rooflua.scenario.policies"
local Reader = require "rooflua.scenario.reader"
local statistics = require "rooflua.base.statistics"
local serve = require "rooflua.serve"
local validate = require "rooflua.validate.command"

local folder, write, write_cases, columns = dofile "tests/scripts/validate/measured_folder.lua" (test, { rating = "B",
  dataset = "own", selector = "row", model = "mistral-nemo", gpu = "H100", tp = 1, precision = "bf16",
  engine = "vLLM 0.15.1", workload = "max_num_seqs 64", metrics = "per request", measured = "see file" })

local function run(options)
  options = options or {}
  return validate.run { folder = folder, steps = options.steps or { "kernels, shipped data" }, set = options.set,
    intervals = options.intervals }
end

local function find(document, id)
  for _, case in ipairs(document.cases) do
    if case.case_id == id then return case end
  end
end

--- The requests that validation replays, and their times from a simulation.
local function recorded()
  local policy = require "rooflua.policy"
  local scheduler = policies.of(Reader.new "test", "scheduler", "vllm_v1")
  local rows, clock = {}, 0
  for i = 1, 60 do
    clock = clock + 0.05 + 0.01 * (i % 7)
    rows[i] = { arrival_s = clock - 0.06, prompt_tokens = 100 + 37 * (i % 11), output_tokens = 20 + i % 13 }
  end
  rows[1].arrival_s = 0
  local engine = engines.of "vLLM 0.15.1"
  local result = serve.run({
    model = "mistral-nemo", hardware = "h100-sxm", steps = policy.with(policies.of(Reader.new "test",
      "steps", "kernels"), {}),
    deployment = { tp = 1, memory_utilization = 0.9 }, async_depth = 2,
    scheduler = policy.with(scheduler, { max_num_seqs = 64, max_num_batched_tokens = 8192,
      scheduler_reserve_full_isl = false }),
    frontend = { base_s = engine.parameters.client_frontend_s[1] },
    workload = require("rooflua.validate.replay").recorded(rows),
  }, { requests = true })
  for i, row in ipairs(rows) do row.ttft_s, row.e2e_s = result.requests.ttfts[i], result.requests.e2els[i] end
  return rows, result
end

local rows, result = recorded()

local function as_csv()
  local lines = { "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s" }
  for _, row in ipairs(rows) do
    lines[#lines + 1] = ("%.9f,%d,%d,%.9f,%.9f"):format(row.arrival_s, row.prompt_tokens, row.output_tokens,
      row.ttft_s, row.e2e_s)
  end
  return table.concat(lines, "\n") .. "\n"
end

--- What inference-perf reports: totals.
local function as_inference_perf(figures)
  local function mean(value) return { mean = value } end
  return json.encode { successes = { prompt_len = mean(300), output_len = mean(20), latency = {
    request_latency = mean(figures.e2e_mean), time_per_output_token = mean(figures.tpot_mean),
    time_to_first_token = { mean = figures.ttft_mean, median = figures.ttft_p50 } } },
    load_summary = { achieved_rate = 2, send_duration = 30 } }
end

test("a simulation that is its own measurement has no error, as CSV and as vllm bench JSON", function()
  write("own.csv", as_csv())
  write("own.json", json.encode(result.requests))
  local gaps = { input_lens = result.requests.input_lens, output_lens = result.requests.output_lens, itls = {},
    start_times = result.requests.start_times, ttfts = result.requests.ttfts }
  for i, e2e_s in ipairs(result.requests.e2els) do gaps.itls[i] = { e2e_s - gaps.ttfts[i] } end
  write("gaps.json", json.encode(gaps)) -- as vLLM writes it: gaps instead of ends
  write_cases { { id = "csv", file = "own.csv" }, { id = "bench", file = "own.json" },
    { id = "gaps", file = "gaps.json" } }
  local document = run().document
  for _, id in ipairs { "csv", "bench", "gaps" } do
    local case = find(document, id)
    test.check(case.problem == nil, "%s: %s", id, tostring(case.problem))
    for _, metric in ipairs { "e2e_mean", "tpot_mean", "ttft_mean", "ttft_p50" } do
      test.check(math.abs(case.errors[metric]) < 1e-6, "%s %s: %g", id, metric, case.errors[metric])
    end
  end
end)

test("an error is (simulated - measured) / measured", function()
  write("slow.csv", (as_csv():gsub("([%d.]+),([%d.]+)\n", function(ttft, e2e)
    return ("%.9f,%.9f\n"):format(tonumber(ttft) * 2, tonumber(e2e) * 2)
  end)))
  write_cases { { id = "slow", file = "slow.csv" } }
  local errors = find(run().document, "slow").errors
  test.near(errors.e2e_mean, -0.5, 1e-6)
  test.near(errors.ttft_p50, -0.5, 1e-6)
end)

test("totals of inference-perf and of a closed loop are compared", function()
  write("perf.json", as_inference_perf { e2e_mean = 1, tpot_mean = 0.01, ttft_mean = 0.02, ttft_p50 = 0.02 })
  write_cases {
    { id = "perf", file = "perf.json" },
    { id = "loop", file = "own.csv", rating = "C", workload = "closed loop c=4 in=200 out=50",
      measured = "e2e_ms=400;tpot_ms=8" },
  }
  write("own.csv", "model,isl\nx,1\n")
  local document = run().document
  test.check(find(document, "perf").errors.e2e_mean ~= nil, "perf: %s", tostring(find(document, "perf").problem))
  local loop = find(document, "loop")
  test.check(loop.errors.throughput ~= nil and loop.errors.tpot_mean ~= nil, "loop: %s", tostring(loop.problem))
end)

test("a case that cannot run says why and is counted; the others run", function()
  write("own.csv", as_csv())
  write_cases { { id = "good", file = "own.csv" }, { id = "model", file = "own.csv", model = "llama-9" },
    { id = "engine", file = "own.csv", engine = "Unknown 1.0" }, { id = "gone", file = "gone.csv" },
    { id = "words", file = "own.log" }, { id = "text", file = "own.txt" } }
  write("own.log", "x")
  write("own.txt", "x")
  local out = run()
  test.equal(#out.document.cases, 6)
  test.equal(out.ran, 1)
  test.check(out.text:find("6 cases, 1 ran, 5 did not", 1, true), "the report does not count")
  for id, part in pairs { model = "llama-9", engine = "nothing is known of", gone = "there is no such file",
    words = "expected a .csv", text = "is no file of a known tool" } do
    test.check(tostring(find(out.document, id).problem):find(part, 1, true), "%s: %s", id,
      tostring(find(out.document, id).problem))
  end
end)

test("what is wrong with a folder or an option is said with its place", function()
  test.raises("there is no cases.csv", function() validate.run { folder = folder .. "/nothing" } end)
  for text, wrong in pairs {
    [""] = ":1: columns are missing: case_id, rating, dataset, file, model, gpu, tp, engine, workload; a file of "
      .. "measured cases has",
    ["a,b\n1,2\n"] = ":1: columns are missing: case_id",
    [columns:gsub("rating,", "")] = ":1: a column is missing: rating; a file of measured cases has case_id,",
    [columns] = "has a header and no row; expected measured cases, one per row" } do
    write("cases.csv", text)
    test.raises("cases.csv" .. (wrong:sub(1, 1) == ":" and wrong or ""), run)
    test.raises(wrong, run)
  end
  write_cases { { id = "good", file = "own.csv" } }
  test.raises("unknown step model 'kernel'; did you mean 'kernels'", function() run { steps = { "kernel" } } end)
  test.raises("expected key=value", function() run { set = { "x" } } end)
end)

test("a case says how it sampled; where it does not, the model's generation_config.json does", function()
  local header = (columns:gsub("notes\n", "notes,sampling\n"))
  local line = '%s,B,own,own.csv,row,llama-3.1-8b,H100,1,bf16,vLLM 0.15.1,max_num_seqs 64,per request,see file,,%s\n'
  local function tpot(word, belief)
    write("cases.csv", header .. line:format("one", word))
    local case = find(run { steps = { belief or "kernels, shipped data" } }.document, "one")
    test.check(case.problem == nil, "%s", tostring(case.problem))
    return case.errors.tpot_mean
  end
  local own, plain = tpot "", "kernels, plain sampling"  -- Llama-3.1 asks for top-p
  test.equal(tpot "plain", tpot "greedy")
  test.check(own > tpot "greedy", "sorting costs nothing")
  test.equal(own, tpot "filtered")
  test.equal(tpot("", plain), tpot "greedy")
  test.equal(tpot("filtered", plain), own)
  line = line:gsub("llama%-3.1%-8b", "mistral-nemo")  -- asks for nothing
  test.equal(tpot "", tpot "greedy")
  line = line:gsub("mistral%-nemo", "llama-3.1-8b")
  local settings = { set = { "engine.own_sampling=false" } }
  write("cases.csv", header .. line:format("one", ""))
  test.equal(find(run { steps = { "kernels, shipped data" }, set = settings.set }.document, "one").errors.tpot_mean,
    tpot "greedy")
  write("cases.csv", header .. line:format("one", "greedi"))
  local problem = find(run().document, "one").problem
  test.check(problem:find("cases.csv:2: sampling: unknown word 'greedi'; did you mean 'greedy'", 1, true), problem)
end)

test("a parameter of the engine or of the step model reaches the run", function()
  write_cases { { id = "good", file = "own.csv" } }
  local slower = find(run { set = { "engine.client_frontend_s=0.108" } }.document, "good").errors
  test.check(slower.ttft_mean > 0.5, "front-end: TTFT %g", slower.ttft_mean)
  local sampled = find(run { set = { "sampler_s=0.01" } }.document, "good").errors
  test.check(sampled.tpot_mean > 0.5, "sampler: TPOT %g", sampled.tpot_mean)
end)

test("an interval is the same twice, has its simulation inside, and says where the measured value lies", function()
  write_cases { { id = "good", file = "own.csv" }, { id = "slow", file = "slow.csv" } }
  local first, second = run { intervals = 20 }, run { intervals = 20 }
  local a, b = find(first.document, "good").intervals, find(second.document, "good").intervals
  for metric, one in pairs(a) do
    test.equal(one.predicted.low, b[metric].predicted.low, metric)
    test.check(one.predicted.low <= one.predicted.high, "%s: the ends are swapped", metric)
    if one.low then
      test.equal(one.low, b[metric].low, metric)
      test.check(one.low < 0 and one.high > 0 and one.inside, "%s: %g to %g", metric, one.low, one.high)
    end
  end
  for _, name in ipairs { "ttft", "tpot", "e2e" } do
    for _, percent in ipairs { 50, 90, 99 } do
      local one = a[("%s_p%d"):format(name, percent)]
      test.check(one and one.inside, "%s p%d: no interval, or its own simulation is not inside", name, percent)
    end
  end
  test.check(not find(first.document, "slow").intervals.e2e_mean.inside, "twice as slow lies inside")
  test.check(first.text:find("inside the 90 %% interval"), "the report does not say how often")
end)

test("engines differ by version and know no model", function()
  test.equal(engines.of("vLLM 0.12.0").parameters.async_depth[1], 1)
  test.equal(engines.of("vLLM 0.15.1 (traced fork)").parameters.async_depth[1], 2)
  test.equal(engines.of("vLLM 0.19.0").parameters.sorted_logit_s[1], 0)
  test.equal(engines.of("vLLM 2024 (V0)").scheduler, "vllm_v0")
  test.equal(engines.of("NIM/TRT-LLM 2024").scheduler, "trtllm")
  test.raises("unknown parameter 'seat'", function() engines.of("vLLM 0.12.0", { seat = 1 }) end)
  test.raises("unknown parameter 'seat'", function() engines.check { seat = 1 } end)
end)

test("quantiles are numpy's, and workloads are read from their words", function()
  test.equal(statistics.quantile({ 4, 1, 3, 2 }, 0.5), 2.5)
  test.equal(statistics.quantile({ 5 }, 0.9), 5)
  write_cases { { id = "w", file = "own.csv",
    workload = "general Poisson 2.5 rps 600 s in=547+~28 out=248; mbt 8192, max_num_seqs 128, kv_blocks 30251" } }
  local settings = cases.read(folder)[1].settings
  test.equal(settings.rate_per_s, 2.5)
  test.equal(settings.prompt_tokens, 575)
  test.equal(settings.output_tokens, 248)
  test.equal(settings.max_num_batched_tokens, 8192)
  test.equal(settings.kv_blocks, 30251)
end)

test.finish()
