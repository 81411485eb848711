-- `rooflua calibrate` finds the parameters of a simulated run again, from every kind of file, and refuses files
-- with errors.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local json = rooflua.json
local calibrate = require "rooflua.explore.fit.calibrate"
local measured = require "rooflua.formats.measured_runs"
local serve = require "rooflua.serve"

local file = test.file

local scenario_text = [[
return { rooflua = 1, seed = 2, model = "llama-3.1-8b", hardware = "h200", async_depth = 1, mfu = { tables = false },
  steps = require "steps.kernels" { %s }, frontend = { base_s = %s },
  workload = require "workloads.poisson" { rate_per_s = 12, num_requests = 80,
    prompt_tokens = { distribution = "uniform", min = 50, max = 900 }, output_tokens = 30 } }
]]
local guess = file(".lua", scenario_text:format("", "0"))
local planted = { ["steps.host_step_s"] = 2.5e-3, ["frontend.base_s"] = 4e-3 }
local chunks = require "rooflua.sandbox.chunks"
local truth = chunks.load_scenario(file(".lua", scenario_text:format("host_step_s = 2.5e-3", "4e-3")))

--- A run with the true parameters, and its requests as they were sent.
local function observed()
  local path = file()
  require("rooflua.serving.full_run").run(require("rooflua.scenario.reader").new "truth", truth,
    { requests_path = path })
  local handle = assert(io.open(path))
  local text = handle:read "*a"
  handle:close()
  return text
end
local csv = observed()

local function found(path, options)
  options.evaluations = options.evaluations or 80
  options.measured, options.params = { path }, options.params or { "steps.host_step_s", "frontend.base_s" }
  return calibrate.run(guess, options)
end

local function value(result, path)
  for _, each in ipairs(result.document.parameters) do
    if each.path == path then return each.after end
  end
end

local function near_planted(result)
  test.near(value(result, "steps.host_step_s"), planted["steps.host_step_s"], 0.03)
  test.near(value(result, "frontend.base_s"), planted["frontend.base_s"], 0.1)
end

test("--params takes a range, and one that was too narrow is told with a wider one", function()
  local wide = found(file(".csv", csv), { params = { "steps.host_step_s=0.001..0.05", "frontend.base_s" } })
  test.equal(wide.document.parameters[2].min, 0.001)
  test.equal(wide.document.parameters[2].max, 0.05)
  test.near(value(wide, "steps.host_step_s"), planted["steps.host_step_s"], 0.03)
  test.check(not wide.text:find "ended at the")
  local narrow = found(file(".csv", csv), { params = { "steps.host_step_s=0.0001..0.001" },
    evaluations = 60 })
  test.check(narrow.text:find("steps.host_step_s ended at the upper end of its range, so a better value may lie beyond "
    .. "it: --params steps.host_step_s=0.0001..0.01", 1, true), "%s", narrow.text)
  for text, part in pairs { ["steps.host_step_s=1"] = "PATH=MIN..MAX", ["steps.host_step_s=a..b"] = "PATH=MIN..MAX",
    ["steps.host_step_s=3..1"] = "above max", ["steps.host_step=1..2"] = "did you mean 'steps.host_step_s'",
    ["network.alpha_s"] = "--params network.alpha_s=MIN..MAX" } do
    test.raises(part, function() found(file(".csv", csv), { params = { text } }) end)
  end
end)

test("planted parameters are found in a per-request CSV, and the rest of the run is predicted", function()
  local result = found(file(".csv", csv), {})
  near_planted(result)
  local error_ = result.document.error
  test.at_least(error_.before, 0.1)
  test.at_least(0.02, error_.after)
  test.at_least(0.03, error_.left_out)
  test.equal(#result.document.groups, 4, "a quarter is left out at a time")
  test.equal(result.document.measured[1].requests, 80)
end)

test("what is printed can be pasted and predicts the run", function()
  local result = found(file(".csv", csv), {})
  local text = scenario_text:format("", "0")
  text = text:gsub("steps = [^\n]*\n", function() return result.document.paste .. "\n" end)
  local pasted = chunks.load_scenario(file(".lua", text))
  test.near(serve.run(pasted).summary.ttft_s.mean, serve.run(truth).summary.ttft_s.mean, 0.02)
  test.near(serve.run(pasted).summary.tpot_s.mean, serve.run(truth).summary.tpot_s.mean, 0.02)
  test.check(result.text:find "paste into the scenario" and result.text:find "left out")
  test.check(result.document.paste:find '^steps = require "steps.kernels" { host_step_s = 0%.002[456]', "%s",
    result.document.paste)
end)

--- The same run as `vllm bench serve` writes it.
local function bench(options)
  local run = measured.read(file(".csv", csv))
  local document = { request_rate = 12, burstiness = 1, completed = #run.requests, num_prompts = #run.requests,
    total_input_tokens = 0, total_output_tokens = 0 }
  local lists = { input_lens = {}, output_lens = {}, ttfts = {}, itls = {}, errors = {}, start_times = {} }
  for i, each in ipairs(run.requests) do
    document.total_input_tokens = document.total_input_tokens + each.prompt_tokens
    document.total_output_tokens = document.total_output_tokens + each.output_tokens
    lists.input_lens[i], lists.output_lens[i] = each.prompt_tokens, each.output_tokens
    lists.ttfts[i], lists.errors[i] = each.ttft_s, ""
    lists.start_times[i] = 1000 + each.arrival_s
    local gaps = {}
    for j = 1, each.output_tokens - 1 do gaps[j] = (each.e2e_s - each.ttft_s) / (each.output_tokens - 1) end
    lists.itls[i] = gaps
  end
  local metrics = measured.metrics(run.requests, 1, #run.requests)
  document.mean_ttft_ms, document.median_ttft_ms = 1e3 * metrics.ttft_s_mean, 1e3 * metrics.ttft_s_p50
  document.mean_tpot_ms = 1e3 * metrics.tpot_s_mean
  if options.detailed then
    for key, list in pairs(lists) do document[key] = list end
  end
  if options.change then options.change(document) end
  return file(".json", json.encode(document))
end

test("planted parameters are found in a detailed vllm bench result", function()
  local result = found(bench { detailed = true }, {})
  near_planted(result)
  test.equal(result.document.measured[1].replayed, "at their recorded times")
end)

test("a vllm bench result without single requests is replayed at its rate, and nothing is left out", function()
  local result = found(bench { detailed = false }, {})
  -- lengths and gaps are not those of the run, so only the size is right
  test.near(value(result, "steps.host_step_s"), planted["steps.host_step_s"], 0.3)
  test.equal(result.document.error.left_out, nil)
  test.check(result.text:find "nothing was left out")
  test.check(result.document.measured[1].replayed:find "at 12 requests/s")
end)

test("clients that wait for their answer are replayed as clients", function()
  local path = bench { detailed = true, change = function(document)
    document.start_times, document.request_rate, document.max_concurrency = nil, "inf", 6
  end }
  local run = measured.read(path)
  test.equal(run.how, "from 6 clients")
  local given = {}
  for key, each in pairs(truth) do given[key] = each end
  given.workload = run.workload
  local summary = serve.run(given).summary
  test.equal(summary.completed, 80)
  test.equal(summary.peak_concurrency, 6)
end)

test("several files are left out one by one", function()
  local a, b = file(".csv", csv), file(".csv", csv)
  local result = calibrate.run(guess, { measured = { a, b }, params = { "steps.host_step_s" }, evaluations = 30 })
  test.equal(#result.document.groups, 2)
  test.equal(result.document.groups[1].name, a)
  test.check(result.document.error.left_out)
end)

test("the same calibration gives the same bytes", function()
  local path = file(".csv", csv)
  local function text() return json.encode(found(path, { evaluations = 20 }).document) end
  test.equal(text(), text())
end)

test("without names the host's time, corrections and the frontend are fitted", function()
  local result = found(file(".csv", csv), { params = {}, evaluations = 20 })
  local names = {}
  for i, each in ipairs(result.document.parameters) do names[i] = each.path end
  test.equal(table.concat(names, " "), "frontend.base_s steps.host_request_s steps.host_step_s")
end)

test("columns in other units, failed rows and recorded prompts are read", function()
  local run = measured.read(file(".csv", "arrival_us,prompt_id,input_tokens,output_tokens,error,ttft_ms,e2e_ms\n"
    .. "2000000,1,10,3,0,20,40\n1000000,2,11,4,,30,90\n1500000,3,12,5,timeout,0,0\n"))
  test.equal(#run.requests, 2)
  test.equal(run.failed, 1)
  test.equal(run.requests[1].prompt_tokens, 11)
  test.near(run.requests[2].arrival_s, 1, 1e-12)
  test.near(run.requests[2].ttft_s, 0.02, 1e-12)
end)

test("figures of a vllm bench result that no run has are refused by their key", function()
  for _, each in ipairs { { "request_rate", -1e308 }, { "request_rate", "fast" }, { "duration", 1e308 },
    { "burstiness", 0 }, { "max_concurrency", -3 }, { "mean_ttft_ms", 1e300 }, { "mean_ttft_ms", -1 },
    { "completed", 0 }, { "completed", 1e15 }, { "total_input_tokens", 0 }, { "total_output_tokens", 1e300 } } do
    test.raises(".json: " .. each[1] .. ":", function()
      measured.read(bench { detailed = false, change = function(document) document[each[1]] = each[2] end })
    end)
  end
  for _, key in ipairs { "ttfts", "input_lens", "output_lens", "start_times" } do
    test.raises((".json: %s[2]: expected at most"):format(key), function()
      measured.read(bench { detailed = true, change = function(document) document[key][2] = 1e300 end })
    end)
  end
end)

test("arrivals have the names that recorded traces may have, and a file without them is refused", function()
  for _, name in ipairs { "arrival", "timestamp", "arrival_time_s", "Arrived At" } do
    local run = measured.read(file(".csv", name .. ",num_prompt_tokens,completion_tokens,ttft_s,e2e_s\n"
      .. "7,10,3,0.02,0.04\n9.5,11,4,0.03,0.09\n"))
    test.equal(run.how, "at their recorded times", name)
    test.equal(run.requests[2].arrival_s, 2.5, name)
    test.equal(run.requests[2].prompt_tokens, 11, name)
  end
  test.equal(measured.read(file(".csv", "timestamp_ms,input_toks,output_toks,ttft_s,e2e_s\n1000,1,1,0.1,0.1\n"
    .. "1500,1,1,0.1,0.1\n")).requests[2].arrival_s, 0.5)
  test.raises("has no column of arrivals (known: arrival_s, ", function()
    measured.read(file(".csv", "sent_at,prompt_tokens,output_tokens,ttft_s,e2e_s\n1,2,3,0.1,0.2\n"))
  end)
end)

test("every metric is told as measured, before and after, and the parts explain the difference", function()
  local result = found(file(".csv", csv), {})
  local figures, parts = result.document.figures, result.document.parts
  test.equal(#figures, 4)
  test.equal(parts[1].part, "front-end")
  test.equal(parts[2].part, "host")
  for i, figure in ipairs(figures) do
    test.near(figure.after, figure.measured, 0.03, figure.metric)
    test.near(figure.before + parts[1].change[i] + parts[2].change[i], figure.after, 1e-9, figure.metric)
    if figure.metric == "ttft_s_mean" then test.near(parts[1].change[i], planted["frontend.base_s"], 0.15) end
    if figure.metric == "tpot_s_mean" then test.equal(parts[1].change[i], 0, "a front-end is no part of TPOT") end
  end
  test.check(result.text:find "where the difference is" and result.text:find "front%-end")
  test.check(result.describes)
end)

test("a fit that describes nothing says so", function()
  local result = found(file(".csv", csv), { params = { "frontend.base_s" }, set = { "hardware=l40s" } })
  test.check(not result.describes)
  test.check(result.text:find "do not paste it" and result.text:find "TPOT is still off by")
end)

test("mistakes name the file, the line and what would be right", function()
  local function raises(part, name, text, options)
    test.raises(part, function() found(file(name, text), options or {}) end)
  end
  raises("has no column for ttft_s", ".csv", "prompt_tokens,output_tokens,e2e_s\n1,2,3\n")
  raises(":3: column 'ttft_s': expected a number, found text \"x\"", ".csv",
    "prompt_tokens,output_tokens,ttft_s,e2e_s\n1,2,0.1,0.2\n1,2,x,0.2\n")
  raises("no data", ".csv", "prompt_tokens,output_tokens,ttft_s,e2e_s\n")
  raises("whole number of tokens", ".csv", "prompt_tokens,output_tokens,ttft_s,e2e_s\n1.5,2,0.1,0.2\n")
  raises("is not what `vllm bench serve", ".json", "{\"a\": 1}")
  raises("did you mean 'steps.host_step_s'", ".csv", csv, { params = { "steps.host_stp_s" } })
  raises("did you mean 'mean', 'median'", ".csv", csv, { objective = "medain" })
  raises(":2: column 'e2e_s': expected at most", ".csv", "prompt_tokens,output_tokens,ttft_s,e2e_s\n1,2,0.1,1e300\n")
  raises(":2: column 'output_tokens': expected at most 2.14748e+09, found 1e+300", ".csv",
    "prompt_tokens,output_tokens,ttft_s,e2e_s\n1,1e300,0.1,0.2\n")
  test.raises("cannot read", function() found("/nowhere.csv", {}) end)
  local function run(name) return function() calibrate.run("scenarios/" .. name, { measured = {} }) end end
  test.raises('kind "serve", found "price"', run "01_hello.lua")
  test.raises("vary: calibrate needs one variant, found 3", run "02_chunk_size.lua")
  test.raises("no data", function() calibrate.run(guess, { measured = {} }) end)
end)

test.finish()
