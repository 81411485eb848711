-- The command attach. A simulated server is a machine whose truth is known: its start-up log and the result of a
-- benchmark are all that attach sees. ROOFLUA_ATTACHED says how many servers are drawn.
local test = dofile "tests/scripts/harness.lua"
local asked_about = require "rooflua.advise.asked"
local core = require "rooflua.base.core"
local engines = require "rooflua.engines"
local gains = require "rooflua.attach.gains"
local json = require "rooflua.json"
local opening = require "rooflua.runs.opening"
local printed = dofile "tests/scripts/printed.lua"
local quoting = require "rooflua.text.quoting"
local trials = require "rooflua.advise.trials"

local program = test.program()
local servers = tonumber(os.getenv "ROOFLUA_ATTACHED" or "2")
local run, json_of, has = test.run, test.json_of, test.has

--- A scenario's file, its table, its start-up log and the result of its benchmark.
local function machine(name, lines, hardware)
  local path = test.file(name .. ".lua", lines)
  local given = dofile(path)
  local log = test.file(name .. ".log", (engines.startup_log { model = given.model, hardware = hardware,
    engine = given.engine }))
  local result = test.file(name .. ".json", "")
  local text, status = run("run", path, "--quiet", "--requests", result)
  test.equal(status, 0, text)
  return { path = path, log = log, result = result, hardware = hardware }
end

local state = 11
local function one(list)
  state = (state * 1103515245 + 12345) % 2147483648
  return list[1 + math.floor(state / 65536) % #list]
end

--- A server with a hidden host time: lines of a scenario, and what is hidden.
local function drawn()
  local about = { model = one { "llama-3.1-8b", "qwen3-8b", "qwen3-32b" }, hardware = one { "h100-sxm", "h200-sxm" },
    release = one { "vllm 0.8.5", "vllm 0.10.2", "vllm 0.11.0" }, seats = one { 16, 32, 64, 128 },
    length = one { 8192, 16384 }, factor = one { 2, 3, 5, 8, 14 }, rate = one { 2, 4, 6 } }
  about.host_s = about.factor * 0.7e-3
  about.lines = ([[return { rooflua = 1, seed = 5, model = %q, hardware = %q,
  engine = { %q, max_num_seqs = %d, max_model_len = %d }, steps = require "steps.kernels" { host_step_s = %.17g },
  workload = require "workloads.poisson" { rate_per_s = %d, num_requests = 200,
    prompt_tokens = { distribution = "lognormal", mean = 600, sigma = 0.6, max = 3000 },
    output_tokens = { distribution = "lognormal", mean = 80, sigma = 0.6, max = 800 } } }]]):format(about.model,
    about.hardware, about.release, about.seats, about.length, about.host_s, about.rate)
  return about
end

--- The change that is best on the true scenario, by brute force.
local function best_of(path)
  local opened = opening.file(path, {})
  local asked = { reader = opened.reader, given = trials.plain((opening.variant(opened, 1))), jobs = 1,
    is_late = asked_about.clock(1e6) }
  local found = gains.of(asked, false).list
  return found[1]
end

test("a server whose truth is known comes back: settings, KV tokens, the host's time, the change that pays", function()
  local found_host, far = 0, {}
  for i = 1, servers do
    local about = drawn()
    local what = ("server %d: %s"):format(i, about.lines)
    local truth = machine("truth", about.lines, about.hardware)
    local written = test.file("written.lua", "")
    os.remove(written)
    local found = json_of("attach", truth.log, truth.result, "--hardware", about.hardware, "--limit", "600", "--write",
      written, "--json", "-")
    test.equal(found.believed.kv_tokens, found.seen.kv_tokens, what)
    local given = dofile(written)
    test.equal(given.engine.max_num_seqs, about.seats, what)
    test.equal(given.engine.max_model_len, about.length, what)
    test.equal(given.engine[1], about.release, what)
    local off = found.seen.e2e_s_mean / found.believed.e2e_s_mean - 1
    if off > 0.05 then -- else the host hardly counts beside the GPU
      local host = given.steps and core.plain(given.steps).host_step_s or 0
      found_host = found_host + 1
      if math.abs(host / about.host_s - 1) > 0.02 then far[#far + 1] = ("%s: found %g s"):format(what, host) end
    end
    local best = best_of(truth.path)
    test.equal((found.changes[1] or {}).set, (best or {}).set, what)
    test.equal((found.changes[1] or {}).after, (best or {}).after, what)
    local again = json_of("run", written, "--quiet", "--json", "-")
    test.equal(again.variants[1].summary.completed, 200, what)
  end
  test.check(#far <= found_host / 10, "the host's time of %d of %d is off by more than 2 %%:\n%s", #far, found_host,
    table.concat(far, "\n"))
  print(("the host's time: %d of %d within 2 %%"):format(found_host - #far, found_host))
end)

local lines = io.open("scenarios/49_attach.lua"):read "*a"
local slow = machine("slow", lines, "h100-sxm")

test("one screen says what it is, what was believed and seen, what limits it and what pays", function()
  local text, status = run("attach", slow.log, slow.result, "--hardware", "h100-sxm")
  test.equal(status, 0)
  has(text, "llama-3.1-8b on h100-sxm, vllm 0.10.2, tp 1", "believed and seen in " .. slow.log, "KV tokens",
    "90 % interval", "TPOT", "fitted    steps.host_step_s 700.0 us -> ", "of steps: ", "limits    ",
    "pays      --async-scheduling=true", "async_scheduling: ")
  local count = select(2, text:gsub("\n", "\n"))
  test.check(count <= 48, "%d lines are more than a screen", count)
  for line in text:gmatch "[^\n]+" do test.check(#line <= 100, "a long line: %s", line) end
end)

test("each value of the written scenario has the file and the line that says it", function()
  local written = test.file("server.lua", "")
  os.remove(written)
  run("attach", slow.log, slow.result, "--hardware", "h100-sxm", "--write", written)
  local text = io.open(written):read "*a"
  has(text, 'model = "llama-3.1-8b", -- ' .. slow.log .. ":3", 'hardware = "h100-sxm", -- --hardware',
    "max_num_seqs = 32, -- " .. slow.log .. ":3", "-- calibrated: ", "workloads.poisson", slow.result)
  os.rename(slow.log, slow.log .. ".away")
  local told, status = run("run", written, "--quiet")
  os.rename(slow.log .. ".away", slow.log)
  test.equal(status, 0, told)
end)

test("without a result the load is that of a benchmark's command, or named", function()
  local bench = "vllm bench serve --dataset-name random --random-input-len 500 --random-output-len 50 "
    .. "--max-concurrency 48 --num-prompts 100"
  local written = test.file("bench.lua", "")
  os.remove(written)
  local found = json_of("attach", slow.log, "--hardware", "h100-sxm", "--bench", bench, "--write", written, "--json",
    "-")
  test.equal(found.load, "--bench " .. bench)
  test.equal(found.goal, "output_tokens_per_s")
  test.equal(found.calibrated, nil)
  local again = json_of("run", written, "--quiet", "--json", "-")
  test.equal(again.variants[1].summary.completed, 100)
  has(run("attach", slow.log, "--hardware", "h100-sxm"), "the load is not stated in full")
end)

test("what attach cannot use is an error that names the file", function()
  local manifest = test.file("service.json", "{\"a\": [1]}")
  for _, each in ipairs {
    { { slow.result }, "none of the files says how the server was started" },
    { { slow.log, "absent.json" }, "absent.json: there is no such file" },
    { { slow.log, slow.path }, "is a scenario; rooflua calibrate fits it" },
    { { slow.log, manifest }, manifest .. ": neither says how a server was started, nor is it a result" },
    { { slow.log }, "no line names the GPU; say it: --hardware" },
    { { slow.log, slow.result, "--hardware", "h100-sxm", "--bench", "vllm bench serve" }, "is a result: its load" },
  } do
    local text, status = run("attach", unpack(each[1]))
    has(text, each[2])
    test.equal(status, 1, text)
  end
end)

local function text_of(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

--- A served scenario: its address and its process; nil where this program serves nothing.
local function served(path)
  local out = test.file("served.txt", "")
  local handle = io.popen(("%s emulate %s --port 0 > %s 2>&1 & echo $!"):format(program, quoting.shell(path),
    quoting.shell(out)))
  local process = handle:read "*l"
  handle:close()
  for _ = 1, 200 do
    local url = text_of(out):match "listening on (http://%S+),"
    if url then return url, process end
    if text_of(out):find "built without libevent" then return nil end
    os.execute "sleep 0.1"
  end
  test.check(false, "the server does not start: %s", text_of(out))
end

test("what is to be known of measured runs stands in the answer", function()
  local failed = test.file("failed.csv", "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s,error\n0,100,10,0.1,0.2,\n"
    .. "0.1,100,10,0.1,0.2,\n0.2,100,10,,,timeout")
  local found = json_of("attach", slow.log, failed, slow.result, "--hardware", "h100-sxm", "--json", "-")
  local notes = table.concat(found.notes, "\n")
  has(notes, failed .. ": its last line has no end", failed .. ": 1 request of the result failed, and is left out",
    "2 measured runs: the figures and the load are those of the first, " .. failed)
end)

test("a load that cannot be written ends attach before anything is simulated, as does a watch of nobody", function()
  local path = test.folder() .. "/unwritten.lua"
  local text, status = run("attach", slow.log, "--hardware", "h100-sxm", "--bench",
    "vllm bench serve --dataset-name prefix_repetition", "--write", path)
  has(text, "--write: this load has more than a scenario can say in a line")
  test.equal(status, 1)
  test.equal(io.open(path), nil)
  text, status = run("attach", slow.log, "--hardware", "h100-sxm", "--watch", "5")
  has(text, "--watch: watches a server: say which by --url")
  test.equal(status, 1)
end)

test("pages of a server that runs say what it is", function()
  local url, process = served(slow.path)
  if not url then
    print "SKIPPED: this program was built without libevent: no server answers"
    return
  end
  local text = run("attach", "--url", url, "--watch", "0", "--hardware", "h100-sxm")
  local beside = run("attach", slow.log, "--url", url .. "/", "--watch", "1", "--hardware", "h100-sxm")
  os.execute("kill " .. process)
  has(text, "llama-3.1-8b on h100-sxm, vllm 0.10.2, tp 1", url .. "/version (version", url .. "/models (models",
    "the load is not stated in full")
  has(beside, "believed and seen in " .. slow.log, "KV tokens", url .. "/version")
  test.check(not beside:find "/tmp/rooflua", "a temporary file is named: %s", beside)
end)

test("an address that is none, or that nobody answers at, is an error that names it", function()
  for url, problem in pairs { ["https://host"] = "only http:// is asked", ["host:80"] = "expected http://HOST:PORT",
    ["http://host:80/metrics"] = "without a path or a user", ["http://user@host"] = "without a path or a user",
    ["http://host:0"] = "a port is a number from 1 to 65535", ["http://[::1"] = "expected http://HOST:PORT" } do
    local text, status = run("attach", "--url", url)
    has(text, "--url " .. url, problem)
    test.equal(status, 1, text)
  end
  has(run "attach", "file is missing: a start-up log")
end)

test("the document is what docs/schema says", function()
  local document = json_of("attach", slow.log, slow.result, "--hardware", "h100-sxm", "--json", "-")
  printed.check_schema("attach", test.file("attach.json", json.encode(document)))
  for _, key in ipairs { "sources", "scenario", "believed", "seen", "calibrated", "limits", "changes" } do
    test.check(document[key] ~= nil, "%s is missing", key)
  end
end)

test.finish()
