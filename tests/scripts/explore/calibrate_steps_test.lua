-- `rooflua calibrate` finds hidden corrections again from the steps of a simulated engine, from every form of log, and
-- says what a log leaves out.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local json = rooflua.json
local calibrate = require "rooflua.explore.fit.calibrate"
local chunks = require "rooflua.sandbox.chunks"
local reading = require "rooflua.schedules.reading"

local file = test.file

local scenario_text = [[
return { rooflua = 1, seed = 3, model = "llama-3.1-8b", hardware = "h200-sxm", engine = "vllm 0.19",
  corrections = { require "corrections.step_overhead" { overhead_s = %s },
    require "corrections.decode_multiplier" { multiplier = %s } },
  workload = require "workloads.poisson" { rate_per_s = 12, num_requests = 40, prompt_tokens = 2500,
    output_tokens = 30 } }
]]
local guess = file(".lua", scenario_text:format("0.001", "1"))
local hidden = { ["corrections.step_overhead.overhead_s"] = 0.0034,
  ["corrections.decode_multiplier.multiplier"] = 1.6 }

--- The trace of a run with the hidden corrections.
local function traced()
  local path = file()
  require("rooflua.serving.full_run").run(require("rooflua.scenario.reader").new "truth",
    chunks.load_scenario(file(".lua", scenario_text:format("0.0034", "1.6"))), { trace_path = path })
  return path
end
local trace = traced()
local steps = reading.of(trace).steps

--- {new tokens, tokens before} of all prompts of a step.
local function prompts_of(step)
  local new, before = 0, 0
  for _, text in ipairs(step.chunks) do
    local context, tokens = text:match "(%d+)%+(%d+)"
    new, before = new + tokens, before + context
  end
  return new, before
end

local function as_forward_pass()
  local lines = { json.encode { worker_id = "a", dp_rank = 0, wall_time = 0, scheduled_requests = json.array {} } }
  for i, step in ipairs(steps) do
    local new, before = prompts_of(step)
    lines[i + 1] = json.encode { version = 1, worker_id = "a", dp_rank = 0, counter_id = i, wall_time = step.time_s,
      scheduled_requests = { num_prefill_requests = step.prefills, sum_prefill_tokens = new,
        sum_prefill_kv_tokens = before, num_decode_requests = step.decodes,
        sum_decode_kv_tokens = step.context_tokens } }
  end
  return file(".jsonl", table.concat(lines, "\n") .. "\n")
end

local function as_csv(more)
  local lines = { "step_time_us,prefill_reqs,prefill_tokens,decode_reqs,decode_context_tokens"
    .. (more and ",mood" or "") }
  for i, step in ipairs(steps) do
    lines[i + 1] = ("%.6f,%d,%d,%d,%d%s"):format(1e6 * step.time_s, step.prefills, prompts_of(step), step.decodes,
      step.context_tokens, more and ",good" or "")
  end
  return file(".csv", table.concat(lines, "\n") .. "\n")
end

local function as_vllm(without_time)
  local lines = {}
  for i, step in ipairs(steps) do
    lines[i] = ("(EngineCore_DP0 pid=2) INFO [core.py:349] Iteration(%d): %d context requests, %d context tokens, %d "
      .. "generation requests, %d generation tokens%s"):format(i, step.prefills, prompts_of(step), step.decodes,
      step.decodes, without_time and "" or (", iteration elapsed time: %.2f ms"):format(1e3 * step.time_s))
  end
  return file(".log", table.concat(lines, "\n") .. "\n")
end

local function fitted(path, options)
  options = options or {}
  options.measured = type(path) == "table" and path or { path }
  options.params = options.params or { "corrections.step_overhead.overhead_s",
    "corrections.decode_multiplier.multiplier=0.5..3" }
  options.evaluations = options.evaluations or 120
  return calibrate.run(guess, options)
end

local function near_hidden(result, relative)
  for _, each in ipairs(result.document.parameters) do test.near(each.after, hidden[each.path], relative, each.path) end
end

test("hidden corrections are found within 1 % from a trace, and left-out steps are as near", function()
  local result = fitted(trace)
  near_hidden(result, 0.01)
  test.check(result.document.error.before > 0.1 and result.document.error.left_out < 0.01)
  test.equal(result.document.measured[1].steps, #steps)
  test.check(result.text:find "quarter 4" and result.text:find "overhead_s = 0%.0034")
  test.check(not result.text:find "assumed")
end)

test("forward-pass metrics and a table give the same corrections", function()
  for _, path in ipairs { as_forward_pass(), as_csv() } do
    local result = fitted(path)
    near_hidden(result, 0.01)
    test.check(result.text:find("single prompts are not in it", 1, true), "%s", result.text)
  end
end)

test("vLLM's log has no contexts: those of the workload stand for them, which is told", function()
  local result = fitted(as_vllm())
  near_hidden(result, 0.03)
  test.check(result.text:find("contexts of decodes are not in it: 2515 tokens each", 1, true), "%s", result.text)
end)

test("columns that nothing reads are told", function()
  test.check(fitted(as_csv(true), { evaluations = 4 }).text:find("columns that are not read: mood", 1, true))
end)

local function refused(path, words)
  local ok, problem = pcall(fitted, path, { evaluations = 4 })
  test.check(not ok and tostring(problem):find(words, 1, true), "expected '%s', found %s", words, tostring(problem))
end

test("what is no log of one engine's times is refused, with what is wrong", function()
  refused(as_vllm(true), "does not say how long its steps took")
  refused({ trace, file(".csv", "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s\n0,10,2,0.1,0.2\n") },
    "is a log of steps, and")
  refused(file(".csv", "step_time_us,prefill_tokens,decodes\n10,0,-1\n"), "column 'decodes': expected a number >= 0")
  refused(file(".csv", "step_time_us,prefill_tokens,decodes\n0,0,1\n"), "no step has a time")
  refused(file(".csv", "step_time_us,prefill_tokens\n10,5\n"), "a table of steps needs a column 'decodes' (found: ")
  refused(file(".jsonl", '{"wall_time": 1, "worker_id": "a", "scheduled_requests": {"num_decode_requests": 1}}\n'
    .. '{"wall_time": 1, "worker_id": "b", "scheduled_requests": {"num_decode_requests": 1}}\n'), "several workers")
  refused(file(".jsonl", '{"wall_time": -1, "scheduled_requests": {"num_decode_requests": 1}}\n'),
    "wall_time: expected a number >= 0")
end)

test("recorded steps of an engine: what is left out is no farther off than before", function()
  local rows, head = {}, nil
  for line in io.lines(test.shared "truth/blis_stepml/consecutive_steps.csv") do
    if not head then head = line elseif line:find("codellama-34b", 1, true) then rows[#rows + 1] = line end
  end
  local scenario = file(".lua", [[return { rooflua = 1, model = "codellama-34b", hardware = "h100-sxm",
    engine = "vllm 0.15.1", deployment = { tp = 2 },
    corrections = { require "corrections.step_overhead" { overhead_s = 0.0001 },
      require "corrections.decode_multiplier" {} },
    workload = require "workloads.poisson" { rate_per_s = 8, num_requests = 50, prompt_tokens = 574,
      output_tokens = 247 } }]])
  local log = file(".csv", head .. "\n" .. table.concat(rows, "\n") .. "\n")
  local result = calibrate.run(scenario, { measured = { log }, evaluations = 60, params = {
    "corrections.step_overhead.overhead_s=0..0.003", "corrections.decode_multiplier.multiplier=0.3..4" } })
  test.equal(result.document.measured[1].steps, 716)
  test.check(result.document.error.left_out < 0.03 and result.document.error.left_out < result.document.error.before,
    "%g before, %g left out", result.document.error.before, result.document.error.left_out)
end)

test.finish()
