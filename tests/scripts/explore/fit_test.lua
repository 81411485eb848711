-- Fits find known parameters again, and the error on left-out data is measured on data that the fit did not see.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local fit, serve, cost, json = rooflua.fit, rooflua.serve, rooflua.cost, rooflua.json
local changes = require "rooflua.applied.changes"
local Prepared = require "rooflua.machine.prepared"
local Reader = require "rooflua.scenario.reader"

local kernels = require "steps.kernels"

local base = { model = "llama-3.1-8b", hardware = "h200", async_depth = 1 }

local function steps_with(parameters)
  local given = {}
  for key, value in pairs(base) do given[key] = value end
  given.steps = kernels(parameters)
  return Prepared.steps(Prepared.of(Reader.new "test", given)), given
end

--- Steps as a machine with these parameters would measure them.
local function measured(parameters, noise)
  local steps = steps_with(parameters)
  local rng = rooflua.random.streams(3):stream "noise"
  local out = {}
  for i, decodes in ipairs { 1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 224, 256 } do
    local batch = { decodes = decodes, decode_context_tokens = decodes * (200 + 150 * i) }
    if i % 3 == 0 then batch.prefills = { { new_tokens = 64 * i, context_tokens = 0 } } end
    local time_s = steps:time(cost.batch(batch))
    batch.time_s = time_s * (1 + (noise or 0) * rng:normal(0, 1))
    out[i] = batch
  end
  return out
end

local planted = { host_step_s = 1.9e-3, host_request_s = 9e-6 }

local function planted_fit(more)
  local _, given = steps_with {}
  local options = { given, evaluations = 150, target = measured(planted),
    params = { ["steps.host_step_s"] = { 1e-4, 1e-2, log = true }, ["steps.host_request_s"] = { 0, 1e-4 } } }
  for key, value in pairs(more or {}) do options[key] = value end
  return fit(options)
end

test("planted step parameters are found again, and the error goes to nothing", function()
  local result = planted_fit()
  test.near(result.values["steps.host_step_s"], planted.host_step_s, 5e-3)
  test.near(result.values["steps.host_request_s"], planted.host_request_s, 1e-2)
  test.at_least(result.error.before, 0.05)
  test.at_least(1e-3, result.error.after)
  test.at_least(1e-2, result.error.left_out)
  test.equal(result.start["steps.host_step_s"], 700e-6, "before: what the step model says by itself")
end)

test("a number of the hardware is found again, also where kernels are modelled by it", function()
  local function given(memory_bytes_per_s)
    return { model = "llama-3.1-8b", async_depth = 1, steps = kernels {},
      hardware = { from = "h200", memory_bytes_per_s = memory_bytes_per_s } }
  end
  local steps, target = Prepared.steps(Prepared.of(Reader.new "test", given(3e12))), {}
  for i, decodes in ipairs { 1, 8, 64 } do
    target[i] = { decodes = decodes, decode_context_tokens = decodes * 500 }
    target[i].time_s = steps:time(cost.batch { decodes = decodes, decode_context_tokens = decodes * 500 })
  end
  local path = "hardware.memory_bytes_per_s"
  local result = fit { given(4.8e12), target = target, params = { [path] = { 1e12, 6e12 } }, groups = false }
  test.near(result.values[path], 3e12, 1e-2)
end)

test("every algorithm finds them, and the median as well", function()
  for _, algorithm in ipairs { "sbplx", "bobyqa", "nelder_mead" } do
    local result = planted_fit { algorithm = algorithm, groups = false }
    test.near(result.values["steps.host_step_s"], planted.host_step_s, 0.02, algorithm)
  end
  local result = planted_fit { objective = "median", groups = false }
  test.near(result.values["steps.host_step_s"], planted.host_step_s, 0.02, "median")
end)

test("the median does not follow a few wild measurements", function()
  local _, given = steps_with {}
  local target = measured(planted)
  target[3].time_s, target[8].time_s = target[3].time_s * 20, target[8].time_s * 30
  local result = fit { given, target = target, objective = "median", groups = false,
    params = { ["steps.host_step_s"] = { 1e-4, 1e-2, log = true } } }
  test.near(result.values["steps.host_step_s"], planted.host_step_s, 0.2)
end)

test("the same fit gives the same bytes", function()
  local function text()
    local result = planted_fit()
    return json.encode { result.values, result.error, result.groups }
  end
  test.equal(text(), text())
end)

test("bounds are kept, and a value at its bound is said to be there", function()
  local result = planted_fit { params = { ["steps.host_step_s"] = { 1e-4, 1e-3 } } }
  test.near(result.values["steps.host_step_s"], 1e-3, 1e-3)
  test.at_least(1e-3, result.values["steps.host_step_s"])
  test.equal(result.parameters[1].at_bound, true)
  test.check(fit.report(result):find "at its bound")
end)

test("the error on a group left out is that of a fit which did not see it", function()
  -- two machines that disagree: a fit to both halves the error of each; left out, each has the whole error
  local slow, fast = measured { host_step_s = 4e-3 }, measured { host_step_s = 1e-3 }
  local target = {}
  for _, each in ipairs(slow) do
    each.group = "slow"
    target[#target + 1] = each
  end
  for _, each in ipairs(fast) do
    each.group = "fast"
    target[#target + 1] = each
  end
  local _, given = steps_with {}
  local result = fit { given, target = target, params = { ["steps.host_step_s"] = { 1e-4, 1e-2, log = true } } }
  test.equal(#result.groups, 2)
  test.near(result.groups[1].values["steps.host_step_s"], 1e-3, 1e-2, "without slow")
  test.near(result.groups[2].values["steps.host_step_s"], 4e-3, 1e-2, "without fast")
  test.at_least(result.error.left_out, 1.2 * result.error.after)
end)

test("a list of names takes the declared ranges", function()
  local result = planted_fit { params = { "steps.host_step_s", "steps.host_request_s" } }
  test.near(result.values["steps.host_step_s"], planted.host_step_s, 1e-2)
end)

test("a step model by itself and a correction can be fitted", function()
  local target = measured { host_step_s = 0 }
  for _, each in ipairs(target) do each.time_s = each.time_s + 3e-3 end
  local result = fit { kernels { host_step_s = 0 }, model = "llama-3.1-8b", hardware = "h200", async_depth = 1,
    corrections = { require "corrections.step_overhead" {} }, target = target,
    params = { ["corrections.step_overhead.overhead_s"] = { 0, 0.02 } } }
  test.near(result.values["corrections.step_overhead.overhead_s"], 3e-3, 1e-3)
end)

local function run_scenario(host_step_s)
  return { model = "llama-3.1-8b", hardware = "h200", seed = 2, async_depth = 1,
    steps = kernels { host_step_s = host_step_s },
    workload = require "workloads.poisson" { rate_per_s = 4, num_requests = 60, prompt_tokens = 400,
      output_tokens = 40 } }
end

test("measured runs give the parameter back", function()
  local target = {}
  for i, rate in ipairs { 2, 5, 9 } do
    local given = run_scenario(2e-3)
    given = changes.set(Reader.new "test", given, "workload.rate_per_s", rate)
    local summary = serve.run(given).summary
    target[i] = { group = "rate " .. rate, set = { ["workload.rate_per_s"] = rate },
      metrics = { ttft_s_mean = summary.ttft_s.mean, ["tpot_s.p50"] = summary.tpot_s.p50 } }
  end
  local result = fit { run_scenario(700e-6), target = target, evaluations = 60,
    params = { ["steps.host_step_s"] = { 1e-4, 1e-2, log = true } } }
  test.near(result.values["steps.host_step_s"], 2e-3, 1e-2)
  test.equal(#result.groups, 3)
  test.at_least(0.02, result.error.left_out)
  test.near(serve.run(result.scenario).summary.tpot_s.p50, target[1].metrics["tpot_s.p50"], 0.2)
end)

test("any function can be fitted", function()
  local target = {}
  for x = 1, 10 do target[x] = { x = x, value = 3 + 2 * x } end
  local result = fit { function(values, seen) return values.a + values.b * seen.x end, target = target,
    evaluations = 2000, params = { a = { 0, 10, start = 9 }, b = { 0, 10, start = 9 } } }
  test.near(result.values.a, 3, 1e-2)
  test.near(result.values.b, 2, 1e-2)
end)

--- Two machines in a row: the time of the faster one has no effect, so the error is flat in most of the box.
local function behind_a_wall(evaluations)
  local target = {}
  for x = 1, 6 do target[x] = { x = x, value = x * 61 + 5 } end
  return fit { function(values, seen) return seen.x * math.max(50, values.host) + values.base end, target = target,
    groups = false, evaluations = evaluations,
    params = { host = { 0.7, 70, start = 7, log = true }, base = { 0, 1000, start = 0 }, idle = { 1, 9, start = 3 } } }
end

test("a valley after a plain is found, and what has no effect is not called known", function()
  local result = behind_a_wall(150)
  test.near(result.values.host, 61, 0.02)
  test.at_least(0.02, result.error.after)
  for _, each in ipairs(result.parameters) do test.equal(each.no_effect, each.path == "idle") end
  local short = behind_a_wall(8)
  test.equal(short.converged, false)
  for _, each in ipairs(short.parameters) do test.equal(each.no_effect, each.path ~= "base") end
  test.check(fit.report(short):find "host .- no effect near this value: not known from these data")
end)

test("parameters that only act together are marked, each with the other; one that acts alone is not", function()
  local target = {}
  for x = 1, 8 do target[x] = { x = x, value = 3 + 2 * x } end
  local result = fit { function(values, seen) return values.a + values.b + values.c * seen.x end, target = target,
    groups = false, params = { a = { 0, 5 }, b = { 0, 5 }, c = { 0, 5 } } }
  local alike = {}
  for _, each in ipairs(result.parameters) do alike[each.path] = each.alike end
  test.equal(alike.a, "b")
  test.equal(alike.b, "a")
  test.equal(alike.c, nil)
  test.check(fit.report(result):find "a .- acts like b: only both together are known")
end)

test("a value next to the end of its range counts as at its bound", function()
  local result = fit { function(values, seen) return values.a * seen.x end, groups = false,
    target = { { x = 1, value = 9 }, { x = 2, value = 18 } }, params = { a = { 0.1, 8, start = 1, log = true } } }
  test.equal(result.parameters[1].at_bound, true)
  local inside = fit { function(values, seen) return values.a * seen.x end, groups = false,
    target = { { x = 1, value = 7 }, { x = 2, value = 14 } }, params = { a = { 0.1, 8, start = 1, log = true } } }
  test.equal(inside.parameters[1].at_bound, false)
end)

test("mistakes are found before anything is run, and say what would be right", function()
  local _, given = steps_with {}
  local function raises(part, options)
    options[1] = options[1] or given
    options.target = options.target or measured {}
    test.raises(part, function() fit(options) end)
  end
  raises("did you mean 'steps.host_step_s'", { params = { "steps.host_steps" } })
  raises("above max", { params = { ["steps.host_step_s"] = { 2, 1 } } })
  raises("nothing to vary", { params = { ["steps.host_step_s"] = { 1, 1 } } })
  raises("leaves the declared range", { params = { ["steps.host_step_s"] = { -1, 1 } } })
  raises("is not a number", { params = { ["steps.small_kernel_tables"] = { 0, 1 } } })
  raises("no data", { params = { "steps.host_step_s" }, target = {} })
  raises("time_s", { params = { "steps.host_step_s" }, target = { { decodes = 1 } } })
  raises("above 0", { params = { "steps.host_step_s" }, target = { { decodes = 1, time_s = 0 } } })
  raises("'ttft_s_p99'?", { params = { "steps.host_step_s" },
    target = { { metrics = { ttft_s_p98 = 1 } } } })
  raises("did you mean 'median'", { params = { "steps.host_step_s" }, objective = "medium" })
  raises("did you mean 'sbplx'", { params = { "steps.host_step_s" }, algorithm = "sbplex" })
  raises("did you mean 'max_num_seqs'", { params = { "steps.host_step_s" },
    target = { { metrics = { ttft_s_p99 = 1 }, set = { ["scheduler.max_nun_seqs"] = 1 } } } })
  raises("expected parameters", { params = {} })
  raises("unknown key 'parms'", { parms = {} })
  raises("has no group", { params = { "steps.host_step_s" },
    target = { { decodes = 1, decode_context_tokens = 9, time_s = 1, group = "a" },
      { decodes = 1, decode_context_tokens = 9, time_s = 1 } } })
end)

test("a fit where every prediction is no number says which parameters, which case and what was found", function()
  for _, bad in ipairs { 0 / 0, math.huge } do
    for _, jobs in ipairs { 0, 1 } do
      local ok, text = pcall(fit, { function() return bad end, evaluations = 30,
        params = { a = { 0, 1 }, b = { 0, 1 } }, target = { { name = "run 7", value = 1 }, { value = 2 } },
        jobs = jobs > 0 and jobs or nil })
      test.check(not ok and tostring(text):find "none of %d+ values of a, b gave a finite error", "%s", text)
      test.check(tostring(text):find("target[1] (run 7): predicted " .. tostring(bad), 1, true), "%s", text)
    end
  end
end)

test("values without a prediction count as the worst, are counted, and the best of the others is found", function()
  local function predict(values, seen)
    if values.a > 0.5 then return 0 / 0 end
    return values.a * seen.x
  end
  local target = {}
  for x = 1, 10 do target[x] = { x = x, value = 0.4 * x } end
  local result = fit { predict, target = target, params = { a = { 0, 1, start = 0.9 } }, evaluations = 200 }
  test.near(result.values.a, 0.4, 1e-3)
  test.check(result.hopeless > 0 and result.hopeless < result.evaluations)
  test.equal(result.error.before, nil, "the start has no error")
  local text = fit.report(result)
  test.check(text:find(result.hopeless .. " evaluations gave no finite error", 1, true), "%s", text)
  test.check(text:find("target[1]: predicted", 1, true), "%s", text)
end)

test("a search that was stopped by its budget says so, one that ended by itself too", function()
  local short = planted_fit { evaluations = 12, groups = false }
  test.equal(short.converged, false)
  test.check(fit.report(short):find "converged: no %(%d+ evaluations%): the search was still moving")
  local long = planted_fit { evaluations = 3000, groups = false }
  test.equal(long.converged, true)
  test.check(fit.report(long):find "converged: yes %(%d+ evaluations%)")
end)

test("worker processes change nothing: the fit is the same for any number of them", function()
  local function text(jobs)
    local result = planted_fit { evaluations = 60, jobs = jobs }
    return json.encode { result.values, result.error, result.groups, result.evaluations, result.converged }
  end
  local alone = text(nil)
  for _, jobs in ipairs { 1, 3 } do test.equal(text(jobs), alone, jobs) end
end)

test("an error inside the objective is told as it is", function()
  test.raises("no idea", function()
    fit { function() error "no idea" end, target = { { value = 1 } }, params = { a = { 0, 1 } } }
  end)
end)

test.finish()
