-- attach with a range: a simulated server is a machine whose truth is known; its requests become a dump of Prometheus,
-- and its hidden host time, its load and its answers over time come back.
local test = dofile "tests/scripts/harness.lua"
local dumps = dofile "tests/scripts/ranges/dumps.lua"
local engines = require "rooflua.engines"
local full_run = require "rooflua.serving.full_run"
local json = require "rooflua.json"
local printed = dofile "tests/scripts/printed.lua"
local quoting = require "rooflua.text.quoting"

local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
local host_s, step, seconds = 0.005, 10, 130

local lines = ([[return { rooflua = 1, seed = 5, model = "llama-3.1-8b", hardware = "h100-sxm",
  engine = { "vllm 0.10.2", max_num_seqs = 32, max_model_len = 8192 },
  steps = require "steps.kernels" { host_step_s = %g },
  workload = require "workloads.piecewise" { intervals = {
    { duration_s = 40, rate_per_s = 1, prompt_tokens = 500, output_tokens = 60 },
    { duration_s = 40, rate_per_s = 5, prompt_tokens = 600, output_tokens = 80 },
    { duration_s = 40, rate_per_s = 2, prompt_tokens = 300, output_tokens = 40 } } } }]]):format(host_s)

local function run(...)
  local words = {}
  for i, word in ipairs { ... } do words[i] = quoting.shell(word) end
  local handle = io.popen(program .. " " .. table.concat(words, " ") .. " 2>&1; echo status $?")
  local text = handle:read "*a"
  handle:close()
  return text, tonumber(text:match "status (%d+)\n$")
end

local function text_of(path)
  local handle = assert(io.open(path))
  local text = handle:read "*a"
  handle:close()
  return text
end

--- The log of the truth, and its dump in two files.
local function machine()
  local path = test.file("truth.lua", lines)
  local given = dofile(path)
  local log = engines.startup_log { model = given.model, hardware = given.hardware, engine = given.engine }
  local columns, requests = full_run.result(given, true, path).requests, {}
  for i, arrival in ipairs(columns.start_times) do
    requests[i] = { arrival = arrival, scheduled = arrival, first = arrival + columns.ttfts[i],
      last = arrival + columns.e2els[i], prompt = columns.input_lens[i], output = columns.output_lens[i], hits = 0,
      reason = "stop" }
  end
  local series, other = dumps.series(dumps.scrapes(requests, seconds, step), "vllm"), {}
  for i = #series, 1, -1 do
    if series[i].name:find "tokens" then other[#other + 1] = table.remove(series, i) end
  end
  return { log = test.file("truth.log", log), count = #requests, range = test.file("range.json",
    dumps.query_range(series)), tokens = test.file("tokens.csv", dumps.grafana(other, "milliseconds")) }
end

local truth = machine()
local written, page, answer = test.file("written.lua", ""), test.file("page.html", ""), test.file("answer.json", "")
for _, path in ipairs { written, page, answer } do os.remove(path) end
local said, status = run("attach", truth.log, truth.range, truth.tokens, "--hardware", "h100-sxm", "--write", written,
  "--html", page, "--json", answer)

test("the hidden host time comes back, with a load of as many requests", function()
  test.equal(status, 0, said)
  local found = json.decode(text_of(answer))
  printed.check_schema("attach", answer)
  test.equal(found.believed.kv_tokens, found.seen.kv_tokens)
  local host
  for _, each in ipairs(found.calibrated.parameters) do
    if each.path == "steps.host_step_s" then host = each.after end
  end
  test.near(host, host_s, 0.05)
  test.has(found.load, "a load of 1", "2026-01-01 00:00:00 to")
  local own = dofile(written)
  test.near(own.steps.host_step_s, host_s, 0.05)
end)

test("believed and seen have a value for each interval, and come together by the calibration", function()
  local found = json.decode(text_of(answer))
  local seen, believed, calibrated = found.seen.over_time, found.believed.over_time, found.calibrated.over_time
  for _, name in ipairs { "arrivals_per_s", "running", "waiting", "kv_used_frac", "ttft_s_mean", "ttft_s_p90",
    "tpot_s_mean", "e2e_s_mean", "output_tokens_per_s" } do
    for _, side in ipairs { seen, believed, calibrated } do test.equal(#side[name], #seen.ends_s, name) end
  end
  for i, rate in ipairs(seen.arrivals_per_s) do
    test.near(calibrated.arrivals_per_s[i], rate, 1e-9, "interval " .. i)
  end
  for i, tpot in ipairs(seen.tpot_s_mean) do
    if type(tpot) == "number" and type(calibrated.tpot_s_mean[i]) == "number" and seen.arrivals_per_s[i] > 0 then
      test.near(calibrated.tpot_s_mean[i], tpot, 0.1, "calibrated TPOT of interval " .. i)
      test.check(believed.tpot_s_mean[i] < 0.8 * tpot, "believed TPOT of interval %d: %g, seen %g", i,
        believed.tpot_s_mean[i], tpot)
    end
  end
end)

test("the written scenario runs without the files, and says which series each value came from", function()
  local text = text_of(written)
  test.has(text, 'require "workloads.piecewise"', "-- rate_per_s: requests that ended, by vllm:request_success_total ("
    .. truth.range .. ": result[", "-- prompt_tokens: vllm:request_prompt_tokens (" .. truth.tokens .. ": column '",
    "-- 2026-01-01 00:00:00 UTC, 5 requests")
  for _, path in ipairs { truth.log, truth.range, truth.tokens } do os.rename(path, path .. ".away") end
  local out, code = run("run", written, "--quiet", "--json", "-")
  for _, path in ipairs { truth.log, truth.range, truth.tokens } do os.rename(path .. ".away", path) end
  test.equal(code, 0, out)
  test.equal(json.decode((out:gsub("status %d+\n$", ""))).variants[1].summary.completed, truth.count)
end)

test("the page draws what was seen beside what is simulated, and is well formed", function()
  local text = text_of(page)
  test.has(text, "Believed and seen over time", "<svg", "Requests that come", "Running", "KV use", "TTFT, mean",
    "TPOT, mean", "Throughput", "calibrated", "believed", "seen")
  local charts = select(2, text:gsub("<figure", ""))
  test.check(charts >= 8, "%d charts", charts)
end)

test("files lists what a range has, and what of it is not read", function()
  local text, code = run("files", truth.range, "--verbose")
  test.equal(code, 0, text)
  test.has(text, "a range over time: Prometheus, query_range, ", "ttft_s: vllm:time_to_first_token_seconds (",
    "(attach)")
  text = run("files", truth.tokens)
  test.has(text, "a range over time: Grafana, CSV of a panel", "series")
  text, code = run("check", "--from", truth.range)
  test.has(text, "says nothing of a start; rooflua attach takes it")
  test.equal(code, 1)
end)

test("a result is compared with a range as with a run", function()
  local text = run("check-run", truth.range, written)
  test.has(text, "no series says how long prompts are")
  local both = test.file("both.json", "[" .. text_of(truth.range) .. "]")
  test.has(run("check-run", both, written), "no series says how long prompts are")
end)

test.finish()
