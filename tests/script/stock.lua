-- Uses the library in another interpreter, through the installed C module. The output is compared with the output
-- of `rooflua lua` for the same file.
local rooflua = require "rooflua"
local cost, serve, spec, json = rooflua.cost, rooflua.serve, rooflua.spec, rooflua.json

local function refused(what, ...)
  local ok, message = pcall(...)
  assert(not ok, what .. ": was not refused")
  assert(type(message) == "string", what .. ": the error is not text")
  print(what, message)
end

-- One step, priced and explained.
local model, hardware = spec.model "llama-3.1-8b", spec.hardware "h200-sxm"
local deployment = spec.deployment { model = model, hardware = hardware }
print("kv_blocks", deployment.kv_blocks)
local steps = require("rooflua.policy").fresh(require "steps.kernels" {})
steps:bind { model = model, hardware = hardware, deployment = deployment, mfu = rooflua.mfu.open "h200-sxm",
  async_depth = 1 }
local tree = cost.explain(function()
  return steps:time(cost.batch { decodes = 64, decode_context_tokens = 64 * 2048 })
end)
print("step", ("%.17g"):format(tree.time_s), #tree.rows)

-- A whole run, and live: step by step.
local scenario = {
  model = "llama-3.1-8b", hardware = "h200-sxm", steps = require "steps.kernels" {}, seed = 7,
  scheduler = require "schedulers.vllm_v1" { max_num_batched_tokens = 512 },
  workload = require "workloads.poisson" { rate_per_s = 40, num_requests = 300 },
}
local run = serve.run(scenario)
print("run", json.encode(run.summary))
local live = serve.open(scenario)
live:run_until(2)
print("live", ("%.17g"):format(live.now_s), #live:waiting())
live:run()
assert(json.encode(live:result().summary) == json.encode(run.summary), "live and whole differ")

-- Errors are Lua errors, with the script's line.
refused("model", spec.model, "llama-3.1-8c")
refused("parameter", function() return require "schedulers.vllm_v1" { max_num_seq = 3 } end)
refused("scenario", serve.run, { model = "llama-3.1-8b" })
refused("scheduler", function()
  local Broken = require("rooflua.policy").define { name = "broken", doc = "Raises.", params = {} }
  function Broken:plan() error "on purpose" end
  serve.run { model = scenario.model, hardware = scenario.hardware, steps = scenario.steps, scheduler = Broken {},
    workload = scenario.workload }
end)
print "all there"
