-- Autoscalers in whole runs: each changes a figure in the direction that its source claims, and what is wrong is named.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local serve = require "rooflua.serve"
local Diurnal = require "workloads.diurnal"

local function scenario(own, more)
  local entry = { max = 6, start = { init_s = 20 } }
  for key, value in pairs(own) do entry[key] = value end
  return scene({ model = "qwen3-8b", seed = 3, router = "least_outstanding",
    replicas = { entry },
    workload = Diurnal { rate_per_s = 12, swing = 0.9, period_s = 600, peak_s = 300, num_requests = 7000,
      prompt_tokens = 1500, output_tokens = 200 } }, more)
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

test("an autoscaler that never acted is told, where it might have", function()
  local function notes_of(own)
    return table.concat(serve.run(scenario(own, { workload = Diurnal { rate_per_s = 1, num_requests = 60 } })).notes,
      "\n")
  end
  local text = "the autoscaler of pool 1 never acted: 1 replica all the time"
  test.check(notes_of { autoscaler = require "autoscalers.hpa" {} }:find(text, 1, true))
  test.check(not notes_of { autoscaler = require "autoscalers.hpa" {}, max = 1 }:find("never acted", 1, true))
end)

test("a load that ends early in its period is told", function()
  local function notes_of(workload)
    return table.concat(serve.run(scene({ workload = workload })).notes or {}, "\n")
  end
  local Day, Poisson = require "workloads.day", require "workloads.poisson"
  local text = "%% of its period of 86400 s: it has nothing of the rest"
  test.check(notes_of(Diurnal { rate_per_s = 1, num_requests = 60 }):find(text))
  test.check(notes_of(Day { of = Poisson { rate_per_s = 1, num_requests = 60 } }):find(text))
  test.check(not notes_of(Diurnal { rate_per_s = 1, num_requests = 60, period_s = 50 }):find("its period", 1, true))
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

test("what a gate holds counts for KEDA, and an HPA on the queues of replicas does not see it", function()
  local function peak(policy)
    return run({ autoscaler = policy { metric = "waiting", target = 8 } },
      { admission = require "admission.concurrency" { max_concurrency = 8 } }).pools[1].replicas_peak
  end
  test.equal(peak(require "autoscalers.hpa"), 1)
  test.check(peak(require "autoscalers.keda") > 2)
end)

test("KEDA scales to none and back: a request that comes then waits for a start", function()
  local s = run({ min = 0, autoscaler = require "autoscalers.keda" { target = 16, cooldown_s = 60, polling_s = 15 } },
    { workload = require "workloads.poisson" { rate_per_s = 0.002, num_requests = 4, prompt_tokens = 100,
      output_tokens = 10 } })
  test.equal(s.completed, 4)
  test.equal(s.pools[1].replicas_least, 0)
  test.check(s.ttft_s.max > 20, "the longest TTFT is %g s", s.ttft_s.max)
end)

test("KEDA takes the largest of its triggers, and names what is wrong in one", function()
  local Keda = require "autoscalers.keda"
  local function with(given) return run { autoscaler = Keda(given) } end
  local loose, kv = { target = 1000 }, { metric = "kv_used_frac", target = 0.02 }
  local alone, tight = with(loose), with(kv)
  test.equal(alone.pools[1].starts, 0)
  test.check(tight.pools[1].starts > 0, "KV use starts none")
  local both = with { target = 1000, triggers = { kv } }
  test.equal(both.pools[1].starts, tight.pools[1].starts)
  test.equal(both.ttft_s.p99, tight.ttft_s.p99)
  local backlog = with { metric = "backlog_s", target = 0.05, prefill_tokens_per_s = 15000 }
  test.check(backlog.pools[1].starts > 0, "a backlog starts none")
  for part, given in pairs {
    ["prefill_tokens_per_s is missing"] = { metric = "backlog_s" },
    ["prefill_tokens_per_s changes nothing"] = { prefill_tokens_per_s = 1 },
    ["triggers[1].metric: unknown metric 'kv'"] = { triggers = { { metric = "kv", target = 1 } } },
    ["triggers[1].target"] = { triggers = { { metric = "waiting" } } },
    ["unknown key 'threshold'"] = { triggers = { { metric = "waiting", target = 1, threshold = 2 } } },
  } do
    test.raises(part, function() with(given) end)
  end
end)

test("a pool says what it costs where a price is known, and in how many seconds the SLO was missed", function()
  local own = { autoscaler = require "autoscalers.target" { target = 16 } }
  local s = run(own, { slo = { ttft_s = 0.1 } })
  local pool, price = s.pools[1], require("rooflua.tables.prices").of("h100-sxm").typical
  test.near(pool.dollars, pool.gpu_hours * price, 1e-9)
  test.near(pool.dollars_per_million_output_tokens, pool.dollars / s.output_tokens * 1e6, 1e-6)
  test.check(pool.slo_missed_frac > 0 and pool.slo_missed_frac < 1, "missed %g", pool.slo_missed_frac)
  test.check(run(own, { slo = { ttft_s = 0.05 } }).pools[1].slo_missed_frac > pool.slo_missed_frac, "a tighter SLO")
  test.equal(run(own, { slo = { ttft_s = 1000 } }).pools[1].slo_missed_frac, 0)
  local without = run(own, { hardware = "h800" }).pools[1]
  test.check(without.dollars == nil and without.slo_missed_frac == nil, "neither a price nor an SLO is known")
end)

test("a drawing has the replicas over time, and a trace their states", function()
  local path = test.folder() .. "/trace.json"
  local own = { autoscaler = require "autoscalers.scheduled" { times = { 0, 200, 450 }, replicas = { 1, 4, 2 } } }
  local given = scenario(own)
  local result = require("rooflua.serving.full_run").run(require("rooflua.serving.live").reader(given), given,
    { sketch = true, trace_path = path, document = true })
  local json = require "rooflua.json"
  local timeline = json.decode(result.sketch).timeline
  local most, least, starting = 0, 9, 0
  for i, ready in ipairs(timeline.ready) do
    most, least = math.max(most, ready), math.min(least, ready)
    starting = math.max(starting, timeline.starting[i])
  end
  test.near(most, 4, 1e-9)
  test.near(least, 1, 1e-9)
  test.check(starting > 2, "%g start at once", starting)
  local marks = {}
  for _, event in ipairs(json.decode(assert(io.open(path)):read "*a").traceEvents) do
    local key = event.ph .. " " .. tostring(event.name)
    marks[key] = (marks[key] or 0) + 1
  end
  test.equal(marks["b starting"], result.summary.pools[1].starts)
  test.equal(marks["e starting"], marks["b starting"])
  test.equal(marks["i draining"], 2)
end)

test("mistakes are named", function()
  local hpa = require "autoscalers.hpa" {}
  test.raises("replicas[1].min", function() run { max = 2, min = 3, autoscaler = hpa } end)
  test.raises("autoscaler", function() run { max = 2 } end)
  test.raises("start", function() run { autoscaler = hpa, start = { init = 3 } } end)
  test.raises("link", function() run { autoscaler = hpa, start = { image_bytes = 1e9 } } end)
end)

test.finish()
