-- Errors name the user's line and key, never a line of the library, whatever a key or an argument holds.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local schema = require "rooflua.scenario.schema"
local serve, measure, fit, sweep, json = rooflua.serve, rooflua.measure, rooflua.fit, rooflua.sweep, rooflua.json

local here = debug.getinfo(1, "S").source:sub(2)

local function scenario(more)
  return scene({ hardware = "h200-sxm", workload = require "workloads.poisson" { rate_per_s = 50,
    num_requests = 3, prompt_tokens = 10, output_tokens = 3 } }, more)
end

--- The message of a call that fails; nil where it does not.
local function message_of(call, ...)
  local ok, problem = pcall(call, ...)
  return not ok and tostring(problem) or nil
end

local function check_place(message, what)
  test.check(not message:find "rooflua%.[%w.]+:%d+:" and not message:find "scripts/lib", "%s: %s", what, message)
  test.check(not message:find "internal error" and not message:find "0x%x%x%x%x", "%s: %s", what, message)
  test.check(message:find(here .. ":", 1, true) == 1, "%s: expected the line of this file: %s", what, message)
end

local function refused(expected, call, ...)
  local message = message_of(call, ...)
  test.check(message, "nothing is refused: %s", expected)
  check_place(message, expected)
  test.check(message:find(expected, 1, true), "expected '%s' in '%s'", expected, message)
end

local wrong = { 5, -1, 0.5, 1e300, 0 / 0, "x", "", true, {}, { 5 }, { { 5 } }, { x = 5 }, print }

local function described(value) return type(value) == "table" and json.encode(value) or tostring(value) end

test("every key of a scenario refuses what it is not, by its name", function()
  for _, entry in ipairs(schema.fields()) do
    for _, value in ipairs(wrong) do
      local message = message_of(serve.run, scenario { [entry.name] = value })
      local what = entry.name .. " = " .. described(value)
      if message then
        check_place(message, what)
        test.check(message:find(entry.name, 1, true), "%s: the key is not named: %s", what, message)
      end
    end
  end
end)

test("every key inside of a key, too", function()
  for _, entry in ipairs(schema.fields()) do
    for _, field in ipairs(entry.fields or {}) do
      for _, value in ipairs(wrong) do
        local inner = { [field.name] = value }
        local given = scenario { [entry.name] = entry.type:find "list" and { inner } or inner }
        local message = message_of(serve.run, given)
        if message then check_place(message, entry.name .. "." .. field.name .. " = " .. described(value)) end
      end
    end
  end
end)

test("keys name what is wrong with them", function()
  refused("scenario: mfu: expected a lookup's name or a table, found number 5", serve.run, scenario { mfu = 5 })
  refused("scenario: metrics: expected a table", serve.run, scenario { metrics = 5 })
  refused("scenario: metrics.exact_requests: expected a whole number >= 0, found number 1.5", serve.run,
    scenario { metrics = { exact_requests = 1.5 } })
  refused("scenario: vary: one run has one variant", serve.open, scenario { vary = { 1, 2 } })
  refused("vary: expected lists by key path", sweep.grid, { scenario(), vary = { 1, 2 } })
  refused("scenario: deployment.max_model_len: expected a number, found text \"x\"", serve.run,
    scenario { deployment = { max_model_len = "x" } })
  refused("scenario: deployment.tp: expected a number, found text \"two\"", serve.run,
    scenario { deployment = { tp = "two" } })
  refused("scenario: replicas[1]: expected a table, found number 1", serve.run, scenario { replicas = { 1 } })
  refused("scenario: replicas[1].role: unknown role 'both '", serve.run, scenario { replicas = { { role = "both " } } })
  refused("scenario: replicas[1].count: expected a whole number from 1 to 2048, found number 0.5", serve.run,
    scenario { replicas = { { count = 0.5 } } })
  refused("scenario: unknown key 'workloads'; did you mean 'workload'", serve.run, scenario { workloads = 1 })
  for _, value in ipairs { "off", "no", "false", 0 } do
    refused("scenario: deployment.prefix_caching: expected true or false", serve.run,
      scenario { deployment = { prefix_caching = value } })
  end
end)

test("functions of results name their arguments", function()
  local run = serve.run(scenario())
  refused("measure.compare: runs[2]: expected a run or a simulation, found number 5", measure.compare, { run, 5 })
  refused("fit.report: expected what fit.fit gave; its parameters is nil", fit.report, {})
  refused("measure.plot: expected the name of a metric, found a table", measure.plot, serve.open(scenario()), {})
  refused("measure.plot: width: expected a whole number up to 1000, found 100000", measure.plot,
    serve.open(scenario()), "load", { width = 1e5 })
  refused("json:1:6: the number is beyond the range of a double", json.decode, "[1e999]")
end)

test("arguments of any kind are refused at the line of the call", function()
  local run, live = serve.run(scenario()), serve.open(scenario())
  for _, value in ipairs(wrong) do
    for name, call in pairs {
      compare = function() return measure.compare(value) end,
      compare_options = function() return measure.compare({ run, run }, value) end,
      summary = function() return measure.summary(value) end,
      diff = function() return measure.diff(live, value) end,
      plot = function() return measure.plot(value) end,
      plot_view = function() return measure.plot(live, value) end,
      why = function() return measure.why(run, value) end,
      fit = function() return fit.fit(value) end,
      fit_report = function() return fit.report(value) end,
      grid = function() return sweep.grid(value) end,
      search = function() return sweep.search(value) end,
      sweep_report = function() return sweep.report(value) end,
      run = function() return serve.run(value) end,
      set = function() return live:set(value) end,
      model = function() return rooflua.spec.model(value) end,
      hardware = function() return rooflua.spec.hardware(value) end,
      deployment = function() return rooflua.spec.deployment(value) end,
      mfu = function() return rooflua.mfu.open(value) end,
    } do
      local message = message_of(call)
      if message then check_place(message, name .. " " .. described(value)) end
    end
  end
end)

local policy, cost, mfu = rooflua.policy, rooflua.cost, rooflua.mfu

--- A class of the one method, and the line of that method.
local function class(name, method, more)
  local given = { name = "mine", doc = "Of this test." }
  for key, value in pairs(more or {}) do given[key] = value end
  local Mine = policy.define(given)
  Mine[name] = method
  return Mine {}, ("%s:%d: "):format(here, debug.getinfo(method, "S").linedefined)
end

--- The method's line is the first of the message but for the line of this file that runs the scenario.
local function blamed(part, line, more)
  local message = message_of(serve.run, scenario(more))
  test.check(message, "nothing is refused: %s", part)
  local first = message:gsub("^" .. here:gsub("%p", "%%%0") .. ":%d+: (" .. here:gsub("%p", "%%%0") .. ":)", "%1")
  test.check(first:find(line, 1, true) == 1, "expected %s first: %s", line, message)
  test.check(message:find(part, 1, true), "expected '%s' in '%s'", part, message)
  test.check(not message:find "rooflua%.[%w.]+:%d+:" and not message:find "scripts/steps", "%s", message)
end

test("an error in a method of a workload names the method's line", function()
  local function asked(next_request, done)
    return (class("requests", function()
      return { n = 0, next = next_request, done = done }
    end))
  end
  local function of(method) return ("%s:%d: "):format(here, debug.getinfo(method, "S").linedefined) end
  local function few(state)
    state.n = state.n + 1
    if state.n < 3 then return state.n, 5, 5 end
  end
  local function fails() local nothing = ({}).x return nothing.x end
  local function text() return "soon", 5, 5 end
  local function half() return 1, 5, 0.5 end
  local function unknown() return 1, 5, 5, { colour = 3 } end
  blamed("attempt to index local 'nothing'", of(fails), { workload = asked(fails) })
  blamed("request 1: expected arrival_s, prompt_tokens, output_tokens; found text", of(text),
    { workload = asked(text) })
  blamed("request 1: output_tokens: expected a whole number >= 1, found number 0.5", of(half),
    { workload = asked(half) })
  blamed("request 1: unknown field 'colour'", of(unknown), { workload = asked(unknown) })
  blamed("attempt to index local 'nothing'", of(fails), { workload = asked(few, fails) })
  blamed("request 3: expected arrival_s", of(text), { workload = asked(few, text) })
  refused("requests(rng) returned a table whose next is no function but number 5", serve.run,
    scenario { workload = asked(5) })
  refused("requests(rng) returned a table whose done is no function but text", serve.run,
    scenario { workload = asked(few, "x") })
  refused("workload: an error that is not text but a table", serve.run,
    scenario { workload = (class("requests", function() error {} end)) })
end)

test("an error in a user's lookup names the lookup's line, in front of the step model that asks", function()
  for part, lookup in pairs {
    ["attempt to index local 'nothing'"] = function() local nothing = ({}).x return nothing.x end,
    ["unknown field 'nonsense'"] = function(table_) return table_.nonsense end,
    ["expected a positive number"] = function() return -1 end,
    ["expected a number as first result, found text"] = function() return "x" end,
    ["unknown evidence 'guessed'"] = function() return 1e-3, "guessed" end,
    ["an error that is not text but a table"] = function() error {} end,
  } do
    local line = ("%s:%d: "):format(here, debug.getinfo(lookup, "S").linedefined)
    blamed(part, line, { mfu = { gpu = "h200-sxm", lookup = lookup } })
    local instance, its_line = class("lookup", function(_, ...) return lookup(...) end, { returns = "latency_s" })
    local message = message_of(serve.run, scenario { mfu = { gpu = "h200-sxm", lookup = instance } })
    test.check(message:find(part, 1, true), "%s: %s", part, message)
    test.check(message:find(line, 1, true) or message:find(its_line, 1, true), "%s: %s", part, message)
  end
end)

test("check finds what is wrong with the answers of a workload", function()
  for part, method in pairs {
    ["requests(rng) must return a function, a trace, or a table with next; found number 5"] = "return 5",
    ["a table whose next is no function"] = "return { next = 5 }",
    ["an error that is not text but a table"] = "error {}",
    ["expected arrival_s, prompt_tokens, output_tokens; found text"] =
      "return function() return 'x', 5, 5 end",
  } do
    local path = test.file(".lua", ([[
local policy = require "rooflua.policy"
local Mine = policy.define { name = "mine", doc = "Of this test." }
function Mine:requests() %s end
return { rooflua = 1, model = "llama-3.1-8b", hardware = "h200", workload = Mine {} }
]]):format(method))
    local found = require("rooflua.program.check").file(path, {})
    test.equal(found.errors, 1)
    local message = found.findings[1].message
    test.check(message:find(part, 1, true), "expected '%s' in '%s'", part, message)
  end
end)

test("a method whose name is nearly one that is called is refused at its line", function()
  local Vllm = require "schedulers.vllm_v1"
  local function mine(name, method, more)
    return class(name, method, { extends = Vllm, params = more })
  end
  for name, meant in pairs { Key = "key", keys = "key", ky = "key", kye = "key", kez = "key", plann = "plan" } do
    local instance, line = mine(name, function() return 1 end)
    blamed(("nothing calls '%s'; did you mean '%s'?"):format(name, meant), line, { scheduler = instance })
  end
  for _, name in ipairs { "urgency", "is_late", "clef" } do
    serve.run(scenario { scheduler = mine(name, function() return 1 end) })
  end
  local Both = policy.define { name = "both", doc = "Of this test.", extends = Vllm }
  function Both.key() return 1 end
  function Both.keys() return 2 end
  serve.run(scenario { scheduler = Both {} })
end)

test("what a step model records is checked, so that no report adds up text", function()
  for part, given in pairs {
    ["cost.record: flop: expected a number >= 0, found text \"x\""] = { flop = "x" },
    ["cost.record: flop: expected a number >= 0, found nan"] = { flop = 0 / 0 },
    ["cost.record: bytes: expected a number >= 0, found number -1"] = { bytes = -1 },
    ["cost.record: bound: expected text, found number 5"] = { bound = 5 },
  } do
    local function time()
      local time_s = cost.record("all", 0.01, "assumed", 1, given.flop, given.bytes, nil, given.bound)
      return time_s
    end
    blamed(part, ("%s:%d: "):format(here, debug.getinfo(time, "S").linedefined + 1), { steps = (class("time", time)) })
  end
end)

test("a key of the top that is unknown is named with its line", function()
  local path = test.file("sed.lua", 'return {\n  rooflua = 1,\n  model = "llama-3.1-8b",\n  sed = 1,\n}\n')
  test.raises(path .. ":4: unknown key 'sed'; did you mean 'seed'", function()
    require("rooflua.runs.opening").file(path, {})
  end)
end)

test("arguments that no function expects are refused in words", function()
  local database = mfu.open { gpu = "h200-sxm", tables = false }
  local cycle = {}
  cycle.self = cycle
  local sampler = rooflua.lengths.sampler({ distribution = "uniform", min = 1, max = 9 }, "mine")
  refused("mine: expected a random stream, found number 5", sampler, 5)
  refused("lengths: where: expected text, found a table", rooflua.lengths.check, 5, {})
  refused("cost.groups: expected a policy of bucketing, found number 5", cost.groups, 5, {})
  refused("cost.groups: expected a policy of bucketing, found a table", cost.groups, {}, {})
  refused("bucketing mine has no groups method", cost.groups, (class("group", print)), {})
  refused("expected a finite number of at most 1e+30, found 1e+300", cost.gemm, database, 1e300, 1000, 2)
  refused("nested deeper than 100", policy.define, { name = "x", doc = "x", params = cycle })
  refused("params.a.min: expected a number, found a function", policy.define,
    { name = "x", doc = "x", params = { a = { default = 1, doc = "x", min = print } } })
  refused("params.a.unit: expected text, found true", policy.define,
    { name = "x", doc = "x", params = { a = { default = 1, doc = "x", unit = true } } })
  refused("params.a.values: expected a table, found number 3", policy.define,
    { name = "x", doc = "x", params = { a = { default = 1, doc = "x", values = 3 } } })
  test.equal(cost.query_text { [true] = 5, op = "gemm" }, "true=5")
  local live = serve.open(scenario())
  refused("measure.diff: names: expected a table, found number 5", measure.diff, live, live, { names = 5 })
  refused("measure.diff: names: expected text, found number 5", measure.diff, live, live, { names = { 5 } })
end)

test.finish()
