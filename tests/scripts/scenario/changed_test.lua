-- rooflua.changed: a scenario with keys set as `--set` sets them.
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local rooflua = require "rooflua"

local function scenario()
  return { model = "llama-3.1-8b", hardware = "h100-sxm", engine = "vllm 0.19",
    workload = require "workloads.poisson" { rate_per_s = 4, num_requests = 20, prompt_tokens = 100,
      output_tokens = 8 } }
end

test("keys, parameters and policies are set, and the given scenario stays what it is", function()
  local given = scenario()
  local out = rooflua.changed(given, { "deployment.tp=2", "workload.rate_per_s=12", "scheduler=sjf" })
  test.equal(out.deployment.tp, 2)
  test.equal(policy.parameters(out.workload).rate_per_s, 12)
  test.equal(policy.parameters(given.workload).rate_per_s, 4)
  test.equal(given.deployment, nil)
  local now, before = rooflua.serve.run(out).summary, rooflua.serve.run(given).summary
  test.equal(now.completed, 20)
  test.check(now.duration_s < before.duration_s, "three times the rate takes as long: %g s", now.duration_s)
end)

test("what is no set is refused in words", function()
  test.raises("expected key=value", function() rooflua.changed(scenario(), { "deployment.tp" }) end)
  test.raises("set 1: expected text", function() rooflua.changed(scenario(), { 3 }) end)
  test.raises("is set already", function() rooflua.changed(scenario(), { "seed=1", "seed=2" }) end)
  test.raises("the sets", function() rooflua.changed(scenario(), nil) end)
end)

test.finish()
