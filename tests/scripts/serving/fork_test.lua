-- Forks of runs whose policies keep state of their own: a ratio, a random stream.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, json = rooflua.serve, rooflua.json

local function scenario(scheduler, router, replicas)
  return {
    model = "llama-3.1-8b", hardware = "h200", seed = 4, deployment = { kv_blocks = 260 },
    steps = require "steps.roofline_v1" {}, scheduler = scheduler, router = router, replicas = replicas,
    workload = require "workloads.poisson" {
      rate_per_s = 60, num_requests = 150,
      prompt_tokens = { distribution = "uniform", min = 50, max = 600 },
      output_tokens = { distribution = "uniform", min = 10, max = 100 },
    },
  }
end

--- A fork made in the middle ends like the run it was made from, and that run ends like one without a fork.
local function same_future(given)
  local live, alone = serve.open(given), serve.open(given)
  live:run_until(2)
  local fork = live:fork()
  fork:run()
  live:run()
  alone:run()
  local function text(run) return json.encode(run:result().summary) end
  test.equal(text(live), text(alone), "the run that was forked")
  test.equal(text(fork), text(alone), "the fork")
  test.equal(alone:result().summary.completed, 150)
  return alone:result().summary
end

test("a fork of sglang keeps its ratio and whether its batch is full", function()
  local summary = same_future(scenario(require "schedulers.sglang" {
    new_token_ratio_decay_steps = 5000, default_max_new_tokens = 90 }))
  test.at_least(summary.kv_used_frac_max, 0.9, "use of the cache")
end)

for _, name in ipairs { "vllm_v0", "sarathi", "trtllm", "priority" } do
  test("a fork of " .. name .. " has the same future", function()
    same_future(scenario(require("schedulers." .. name) { max_num_seqs = 16 }))
  end)
end

for _, name in ipairs { "random", "power_of_two", "round_robin", "weighted" } do
  test("a fork of a run with router " .. name .. " has the same future", function()
    same_future(scenario(require "schedulers.vllm_v1" {}, require("routers." .. name) {}, 3))
  end)
end

test.finish()
