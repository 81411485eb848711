-- What variants of one scenario share, and that sharing it changes no result.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy = require "rooflua.policy"
local Prepared = require "rooflua.machine.prepared"
local Reader = require "rooflua.scenario.reader"
local sweep, json = rooflua.sweep, rooflua.json

local function scenario(more)
  return scene({ hardware = "h200-sxm", seed = 3,
    workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 30, prompt_tokens = 300,
      output_tokens = 20 } }, more)
end

--- Two variants of one scenario, prepared, and their bound step models.
local function two(first, second)
  local reader = Reader.new "scenario"
  local a, b = Prepared.of(reader, scenario(first)), Prepared.of(reader, scenario(second))
  return a, b, Prepared.steps(a), Prepared.steps(b)
end

test("variants share model, GPU, tables and the step model, where these are the same", function()
  local a, b, one, other = two()
  test.check(rawequal(a.model, b.model) and rawequal(a.hardware, b.hardware) and rawequal(a.mfu, b.mfu), "read twice")
  test.check(rawequal(one, other), "bound twice")
end)

test("another parameter, deployment, GPU or lookup is another step model", function()
  for name, more in pairs {
    parameter = { steps = require "steps.kernels" { overlap = 0.9 } }, deployment = { deployment = { tp = 2 } },
    gpu = { hardware = "l40s" }, lookup = { mfu = "nearest" }, tables = { mfu = { tables = false } },
    model = { model = "qwen3-8b" }, depth = { async_depth = 1 },
    constants = { mfu = { model = { gemm_math = 0.5 } } },
  } do
    local _, _, one, other = two(nil, more)
    test.check(not rawequal(one, other), name .. " was not looked at")
  end
end)

test("two scenarios share nothing", function()
  local a, b = Prepared.of(Reader.new "scenario", scenario()), Prepared.of(Reader.new "scenario", scenario())
  test.check(not rawequal(a.mfu, b.mfu))
end)

test("a step model that may remember things, and a lookup in Lua, are one per variant", function()
  local Own = policy.define { name = "own", doc = "As shipped.", extends = require "steps.kernels" }
  local _, _, one, other = two({ steps = Own {} }, { steps = Own {} })
  test.check(not rawequal(one, other), "a class that extends ours is not ours")
  local Lookup = policy.define { name = "own", doc = "A second.", params = {} }
  function Lookup.lookup() return 1, "assumed" end
  local a, b = two({ mfu = { lookup = Lookup {} } }, { mfu = { lookup = Lookup {} } })
  test.check(not rawequal(a.mfu, b.mfu))
end)

test("a correction keeps the step model apart", function()
  local Twice = policy.define { name = "twice", doc = "Twice the time.", params = {} }
  function Twice:step(_, time_s) return 2 * time_s end
  local _, _, one, other = two({ corrections = { Twice {} } }, { corrections = { Twice {} } })
  test.check(not rawequal(one, other))
end)

test("variants that differ in their load have the same machine, with schedulers of their own", function()
  local replicas = require "rooflua.serving.replicas"
  local function made(reader, more) return replicas.of(reader, scenario(more))[1] end
  local reader = Reader.new "scenario"
  local workload = require "workloads.poisson" { rate_per_s = 2 }
  local one = made(reader)
  local other = made(reader, { workload = workload, seed = 4, slo = { ttft_s = 1 }, replicas = 2 })
  test.check(rawequal(one.deployment, other.deployment), "built twice")
  test.check(not rawequal(one.scheduler, other.scheduler), "one scheduler for both")
  test.check(not rawequal(one.prepared, other.prepared), "one list of notes for both")
  test.equal(one.config.seed, 3)
  test.equal(other.config.seed, 4)
  for name, more in pairs {
    parameter = { scheduler = require "schedulers.vllm_v1" { max_num_seqs = 7 } },
    deployment = { deployment = { tp = 2 } },
    engine = { engine = "sglang 0.5.9" },
    steps = { steps = require "steps.kernels" { overlap = 0.9 } },
    speculation = { speculation = { speculator = "fixed", acceptance = require "acceptance.constant" {} } },
  } do
    test.check(not rawequal(made(reader, more).deployment, one.deployment), name .. " was not looked at")
  end
  local same = { deployment = { tp = 1, max_model_len = 4096 }, scheduler = require "schedulers.vllm_v1" {} }
  local again = { deployment = { tp = 1, max_model_len = 4096 }, scheduler = require "schedulers.vllm_v1" {} }
  test.check(rawequal(made(reader, same).deployment, made(reader, again).deployment), "tables that say the same")
end)

test("only what was used last is kept", function()
  local reader, first = Reader.new "scenario", nil
  for tokens = 1, 12 do
    local deployment = { max_num_batched_tokens = 256 * tokens }
    local steps = Prepared.steps(Prepared.of(reader, scenario { deployment = deployment }))
    first = first or steps
  end
  test.equal(#reader.shared.steps, 8)
  local again = Prepared.steps(Prepared.of(reader, scenario { deployment = { max_num_batched_tokens = 256 } }))
  test.check(not rawequal(first, again))
end)

test("a run is the same by itself, first or last of a sweep", function()
  local vary = { ["deployment.tp"] = { 1, 2 }, hardware = { "h200-sxm", "l40s" }, ["workload.rate_per_s"] = { 4, 40 },
    mfu = { "latency_log", "nearest" } }
  local together = sweep.grid { scenario(), vary = vary }
  test.equal(#together, 16)
  for i, run in ipairs(together) do
    local alone = {}
    for key, value in pairs(run.parameters) do alone[key] = { value } end
    test.equal(json.encode(sweep.grid { scenario(), vary = alone }[1].summary), json.encode(run.summary), "run " .. i)
  end
  test.equal(json.encode((sweep.grid { scenario(), vary = vary, jobs = 3 })), json.encode((together)))
end)

test.finish()
