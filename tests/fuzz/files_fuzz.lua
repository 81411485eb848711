-- Files with faults: models, GPUs, kernel tables of every layout, recorded requests, measured runs, folders of
-- validation, scenarios, JSON, results. Each is read or refused in words; what is read is used, and its prices are
-- numbers. No crash, no internal error, nothing that takes long. A case is one file with faults that is loaded.
local fuzzer = dofile "tests/fuzz/fuzzer.lua"
local samples = dofile "tests/fuzz/samples.lua"
local rooflua = require "rooflua"
local spec, mfu, cost, serve, sweep, json, trace = rooflua.spec, rooflua.mfu, rooflua.cost, rooflua.serve,
  rooflua.sweep, rooflua.json, rooflua.trace
local Poisson, Trace = require "workloads.poisson", require "workloads.trace"
local cases, measured = require "rooflua.validate.cases", require "rooflua.validate.measured"
local validation = require "rooflua.validate.run"
local measured_runs = require "rooflua.formats.measured_runs"
local check, opening = require "rooflua.program.check", require "rooflua.runs.opening"
local Flat = rooflua.policy.define { name = "flat", doc = "A millisecond a step.", params = {} }
function Flat:time() return 1e-3 end

local h200 = spec.hardware "h200-sxm"
local datasheet = mfu.open { gpu = "h200-sxm", tables = false }
local llama = spec.model "llama-3.1-8b"

local function finite(value, what)
  if type(value) ~= "number" or value ~= value or value < 0 or value == math.huge then
    error(("%s is %s"):format(what, tostring(value)), 0)
  end
end

--- Runs a few requests. The prices of `steps` are used where they are what is tried.
local function run(given)
  given.model, given.hardware = given.model or llama, given.hardware or h200
  given.mfu, given.steps = given.mfu or datasheet, given.steps or Flat {}
  given.workload = given.workload
    or Poisson { rate_per_s = 50, num_requests = 2, prompt_tokens = 64, output_tokens = 2 }
  local ok, result = fuzzer.try("serve.run", serve.run, given)
  if ok and result.summary.completed > 0 then finite(result.summary.e2e_s.mean, "the mean of e2e_s") end
end

local deployment = spec.deployment { model = llama, hardware = h200 }

local function use_model(random, model)
  finite(model:parameters(), "the number of weights")
  finite(model:kv_bytes_per_token(), "KV bytes of a token")
  for _, note in ipairs(model.notes) do
    if note.text == "" then error("a note without a text", 0) end
  end
  fuzzer.try("cost.layers", cost.layers, model, deployment)
  fuzzer.try("spec.deployment", spec.deployment, { model = model, hardware = h200 })
  if random:chance(0.03) then
    run { model = model, deployment = { kv_blocks = 200 }, steps = random:pick { "kernels", "roofline_v1" } }
  end
end

local kinds = {}

local function load_model(random, path, text)
  fuzzer.write(path, random:damaged(text))
  local ok, model = fuzzer.try("spec.model", spec.model, path)
  if ok then use_model(random, model) end
end
function kinds.model(random, folder) load_model(random, folder .. "/m.toml", random:pick(samples.models)) end
function kinds.config(random, folder) load_model(random, folder .. "/config.json", random:pick(samples.configs)) end

function kinds.hardware(random, folder)
  local path = folder .. "/hardware.toml"
  fuzzer.write(path, random:damaged(random:pick(samples.hardware)))
  local ok, hardware = fuzzer.try("spec.hardware", spec.hardware, path)
  if not ok then return end
  for _, name in ipairs { "memory_bytes_per_s", "memory_bytes", "sms" } do finite(hardware[name], name) end
  fuzzer.try("mfu.open", mfu.open, { gpu = "x", hardware = hardware, tables = false })
  if random:chance(0.03) then
    run { hardware = hardware, deployment = { kv_blocks = 200 }, steps = random:pick { "kernels", "roofline_v1" },
      mfu = { gpu = hardware.name, hardware = hardware, tables = false } }
  end
end

--- A question of the shape of a row, or near it.
local function question_of(random, each, row)
  local out = { op = each.op, dtype = each.dtype ~= "" and each.dtype or nil }
  for key, value in pairs(row) do
    if key ~= "latency_s" and key ~= "mfu" and key ~= "line" then out[key] = value end
  end
  if random:chance(0.5) then
    for _, key in ipairs { "m", "tokens", "batch", "context_tokens", "new_tokens", "bytes" } do
      if type(out[key]) == "number" then out[key] = math.floor(out[key] * random:pick { 0.5, 1.5, 100 }) + 1 end
    end
  end
  return out
end

local function ask(random, database)
  local read, list = fuzzer.try("db:tables", database.tables, database)
  for _, each in ipairs(read and list or {}) do
    local ok, rows = fuzzer.try("db:rows", database.rows, database, each.name)
    local row = ok and rows[1] and random:pick(rows)
    if row then
      local question = question_of(random, each, row)
      local good, _, estimate = fuzzer.try("a question", database.lookup, database, question)
      if good then finite(estimate.latency_s, "latency_s") end
      local again = pcall(database.lookup, database, question)
      if good ~= again then error("a question gets another answer when it is asked again", 0) end
    end
  end
  fuzzer.try("db:report", database.report, database)
end

local made -- the folder of tables that is there

--- Writes the files of a sample, one of them with faults. Where a file of the sample before is in the way, it goes.
local function write_tables(random, at, sample)
  local names = {}
  for name in pairs(sample.files) do names[#names + 1] = name end
  table.sort(names)
  local bad = random:pick(names)
  if made ~= sample then
    local folders = {}
    for name in pairs(sample.files) do folders[#folders + 1] = at .. "/" .. (name:match "^(.*)/[^/]*$" or "") end
    os.execute(("rm -rf '%s' && mkdir -p '%s'"):format(at, table.concat(folders, "' '")))
    made = sample
  end
  for _, name in ipairs(names) do
    local text = sample.files[name]
    fuzzer.write(at .. "/" .. name, name == bad and random:damaged(text) or text)
  end
end

local sample_of_now, left = nil, 0

function kinds.table(random, folder)
  local at = folder .. "/tables"
  if left == 0 then sample_of_now, left = random:pick(samples.tables), 50 end -- another folder takes a process
  left = left - 1
  write_tables(random, at, sample_of_now)
  local ok, database = fuzzer.try("mfu.open", mfu.open, { path = at, gpu = sample_of_now.gpu,
    layout = sample_of_now.layout, hardware = h200 })
  if ok then ask(random, database) end
end

function kinds.trace(random, folder)
  local chosen = random:pick(samples.traces)
  local path = folder .. "/trace." .. chosen[1]
  fuzzer.write(path, random:damaged(chosen[2]))
  local ok, opened = fuzzer.try("trace.open", trace.open, path, "")
  if ok then fuzzer.try("trace.describe", trace.describe, opened) end
  if random:chance(0.1) then run { workload = Trace { path = path, limit = 4 } } end
end

function kinds.measured(random, folder)
  local chosen = random:pick(samples.measured)
  local path = folder .. "/measured." .. chosen[1]
  fuzzer.write(path, random:damaged(chosen[2]))
  local ok, found = fuzzer.try("a measured run", measured_runs.read, path)
  if ok then
    for name, value in pairs(measured_runs.metrics(found.requests, 1, #found.requests)) do finite(value, name) end
  end
end

function kinds.validation(random, folder)
  local bad = random:pick { "cases.csv", "cases.csv", "loop.csv", "run.json", "steps.csv" }
  for name, text in pairs(samples.validation) do
    fuzzer.write(folder .. "/" .. name, name == bad and random:damaged(text) or text)
  end
  local ok, list = fuzzer.try("cases.read", cases.read, folder)
  if not ok then return end
  for _, case in ipairs(list) do
    fuzzer.check_message(case.problem, "a case")
    fuzzer.try("a case", validation.describe, case, {})
    if not case.problem then fuzzer.try("the measurement of a case", measured.of, case, list) end
  end
end

function kinds.scenario(random, folder)
  local path = folder .. "/scenario.lua"
  fuzzer.write(path, random:damaged(random:pick(samples.scenarios)))
  fuzzer.try("a scenario", opening.file, path)
  if random:chance(0.1) then
    local ok, checked = fuzzer.try("check", check.file, path, {})
    for _, finding in ipairs(ok and checked.findings or {}) do fuzzer.check_message(finding.message, "check") end
  end
end

function kinds.json(random, folder)
  local path = folder .. "/document.json"
  fuzzer.write(path, random:damaged(random:pick(samples.configs)))
  local ok, value = fuzzer.try("json.read", json.read, path)
  if not ok then return end
  local text = json.encode(value)
  if json.encode(json.decode(text)) ~= text then error("a JSON value changes when it is written and read", 0) end
end

local expected -- what the runs of the results file give

--- A results file with a fault gives the same results as none, or an error that names it.
function kinds.results(random, folder)
  local path = folder .. "/results.sqlite"
  local given = { kind = "price", model = llama, hardware = h200, mfu = datasheet, steps = "roofline_v1",
    price = { { decodes = 4, decode_context_tokens = 400 } } }
  local vary = { ["steps.step_overhead_s"] = { 1e-3, 2e-3, 3e-3 } }
  local function all(results) return json.encode((sweep.grid { given, vary = vary, results = results })) end
  os.remove(path)
  expected = expected or all()
  all(path)
  local bytes = fuzzer.read(path)
  for _ = 1, random:whole(1, 3) do
    if random:chance(0.7) then -- where texts are: after the header and the schema
      local at = random:whole(math.floor(#bytes / 2), #bytes)
      bytes = bytes:sub(1, at - 1) .. string.char(random:whole(32, 126)) .. bytes:sub(at + 1)
    else
      bytes = random:damaged(bytes)
    end
  end
  fuzzer.write(path, bytes)
  local ok, found = fuzzer.try("a results file with a fault", all, path)
  if not ok and not tostring(found):find(path, 1, true) then
    error("the error does not name the file of results: " .. tostring(found), 0)
  end
  if ok and found ~= expected then error("a fault in the file of results changed a result", 0) end
end

-- How often each kind comes, of a thousand: files that take long are rare.
local shares = { { 180, "model" }, { 180, "config" }, { 100, "hardware" }, { 200, "table" }, { 120, "trace" },
  { 80, "measured" }, { 60, "validation" }, { 50, "scenario" }, { 28, "json" }, { 2, "results" } }

fuzzer.main(function(random, folder)
  local at = random:whole(1, 1000)
  for _, share in ipairs(shares) do
    at = at - share[1]
    if at <= 0 then
      fuzzer.count "files"
      fuzzer.count(share[2])
      return kinds[share[2]](random, folder)
    end
  end
end)
