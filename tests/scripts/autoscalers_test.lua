-- Autoscalers in whole runs: each changes a figure in the direction that its source claims, and what is wrong is named.
local test = dofile "tests/scripts/harness.lua"
local serve = require "rooflua.serve"
local Diurnal = require "workloads.diurnal"

local function scenario(own, more)
  local entry = { max = 6, start = { init_s = 20 } }
  for key, value in pairs(own) do entry[key] = value end
  local out = { model = "qwen3-8b", hardware = "h100-sxm", seed = 3, router = "least_outstanding",
    replicas = { entry },
    workload = Diurnal { rate_per_s = 12, swing = 0.9, period_s = 600, peak_s = 300, num_requests = 7000,
      prompt_tokens = 1500, output_tokens = 200 } }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local function run(own, more) return serve.run(scenario(own, more)).summary end

local fixed = { autoscaler = require "autoscalers.scheduled" { replicas = { 2 } }, count = 2 }

test("a pool whose autoscaler changes nothing is as many replicas as ever", function()
  local pool, plain = run(fixed), run({}, { replicas = 2 })
  test.equal(pool.ttft_s.p99, plain.ttft_s.p99)
  test.equal(pool.e2e_s.mean, plain.e2e_s.mean)
  test.equal(pool.pools[1].starts, 0)
  test.equal(pool.pools[1].replicas_peak, 2)
end)

test("every autoscaler completes all requests, and starts some where the load grows", function()
  for name, policy in pairs {
    target = require "autoscalers.target" { target = 16 },
    hpa = require "autoscalers.hpa" { metric = "outstanding", target = 16 },
    keda = require "autoscalers.keda" { target = 16 },
    wva = require "autoscalers.wva" { kv_spare_trigger = 0.6, interval_s = 30 },
    planner_load = require "autoscalers.planner_load" { kv_up = 0.1, kv_down = 0.02, interval_s = 30 },
    planner_sla = require "autoscalers.planner_sla" { prefill_tokens_per_s = 10000, decode_tokens_per_s = 1000,
      interval_s = 30 },
    scheduled = require "autoscalers.scheduled" { times = { 0, 200, 450 }, replicas = { 1, 4, 2 } },
  } do
    local s = run { autoscaler = policy }
    test.equal(s.completed, 7000, name)
    test.check(s.pools[1].starts > 0, "%s started none", name)
    test.check(s.pools[1].replicas_peak > 1, "%s stayed at one", name)
    test.check(s.pools[1].start_s.min >= 20, "%s: a start took %g s", name, s.pools[1].start_s.min)
  end
end)

test("a longer start is a longer lag, and a longer tail", function()
  local function with(init_s)
    return run { autoscaler = require "autoscalers.target" { target = 16 }, start = { init_s = init_s } }
  end
  local fast, slow = with(1), with(120)
  test.check(slow.pools[1].lag_s.mean > fast.pools[1].lag_s.mean, "lag %g, %g", slow.pools[1].lag_s.mean,
    fast.pools[1].lag_s.mean)
  test.check(slow.ttft_s.p99 > fast.ttft_s.p99, "p99 %g, %g", slow.ttft_s.p99, fast.ttft_s.p99)
end)

test("KEDA scales to none and back: who comes then waits for a start", function()
  local s = run({ min = 0, autoscaler = require "autoscalers.keda" { target = 16, cooldown_s = 60, polling_s = 15 } },
    { workload = require "workloads.poisson" { rate_per_s = 0.002, num_requests = 4, prompt_tokens = 100,
      output_tokens = 10 } })
  test.equal(s.completed, 4)
  test.equal(s.pools[1].replicas_least, 0)
  test.check(s.ttft_s.max > 20, "the longest TTFT is %g s", s.ttft_s.max)
end)

test("mistakes are named", function()
  local hpa = require "autoscalers.hpa" {}
  test.raises("replicas[1].min", function() run { max = 2, min = 3, autoscaler = hpa } end)
  test.raises("autoscaler", function() run { max = 2 } end)
  test.raises("start", function() run { autoscaler = hpa, start = { init = 3 } } end)
  test.raises("link", function() run { autoscaler = hpa, start = { image_bytes = 1e9 } } end)
end)

test.finish()
