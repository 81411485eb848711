-- Errors name the user's line and key, never a line of the library, whatever a key or an argument holds.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local schema = require "rooflua.scenario.schema"
local serve, measure, fit, sweep, json = rooflua.serve, rooflua.measure, rooflua.fit, rooflua.sweep, rooflua.json

local here = debug.getinfo(1, "S").source:sub(2)

local function scenario(more)
  local out = { model = "llama-3.1-8b", hardware = "h200-sxm", workload = require "workloads.poisson" { rate_per_s = 50,
    num_requests = 3, prompt_tokens = 10, output_tokens = 3 } }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
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
  refused("scenario: deployment.max_model_len: expected a whole number >= 1, found text \"x\"", serve.run,
    scenario { deployment = { max_model_len = "x" } })
  refused("scenario: deployment: tp: expected a number, found text \"two\"", serve.run,
    scenario { deployment = { tp = "two" } })
  refused("scenario: replicas[1]: expected a table, found number 1", serve.run, scenario { replicas = { 1 } })
  refused("scenario: replicas[1].role: unknown role 'both '", serve.run, scenario { replicas = { { role = "both " } } })
  refused("scenario: replicas[1].count: expected a whole number >= 1, found number 0.5", serve.run,
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

test.finish()
