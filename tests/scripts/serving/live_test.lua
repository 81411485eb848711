-- Live simulations: step, inspect, swap policies, fork; and the result of a run.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, json, measure = rooflua.serve, rooflua.json, rooflua.measure

local function scenario(changes)
  return scene({
    hardware = "h200", mfu = { tables = false }, seed = 4, deployment = { kv_blocks = 400 },
    steps = require "steps.kernels" {},
    scheduler = require "schedulers.vllm_v1" { max_num_seqs = 16, max_num_batched_tokens = 512 },
    workload = require "workloads.poisson" {
      rate_per_s = 30, num_requests = 200,
      prompt_tokens = { distribution = "uniform", min = 50, max = 600 },
      output_tokens = { distribution = "uniform", min = 10, max = 100 },
    },
  }, changes)
end

local function summary_text(live) return json.encode(live:result().summary) end

test("stepping to the end is the same as running", function()
  local stepped, whole = serve.open(scenario()), serve.open(scenario())
  while stepped:step() do end
  whole:run()
  test.equal(summary_text(stepped), summary_text(whole))
  test.equal(whole:result().summary.completed, 200)
end)

test("a fork with the same policies has the same future, byte for byte", function()
  local live = serve.open(scenario())
  live:run_until(2)
  local fork = live:fork()
  test.equal(fork.now_s, live.now_s)
  fork:run()
  test.equal(live.now_s, 2)
  live:run()
  test.equal(summary_text(fork), summary_text(live))
end)

test("another scheduler changes the future and not the past", function()
  local live = serve.open(scenario())
  live:run_until(3)
  local fork = live:fork()
  test.equal(summary_text(fork), summary_text(live))
  fork:set { scheduler = require "schedulers.sjf" { max_num_seqs = 4, max_num_batched_tokens = 512 } }
  test.equal(json.encode(fork:replica(1)), json.encode(live:replica(1)))
  fork:run()
  live:run()
  test.check(summary_text(fork) ~= summary_text(live), "the swap changed nothing")
  test.equal(fork:result().summary.completed, 200)
end)

test("another step model is asked from the next plan on", function()
  local live = serve.open(scenario())
  live:run_until(3)
  local fork = live:fork()
  fork:set { steps = require "steps.roofline_v1" {} }
  fork:run()
  live:run()
  test.check(summary_text(fork) ~= summary_text(live), "the swap changed nothing")
end)

test("a look at a replica adds up", function()
  local live = serve.open(scenario())
  live:run_until(1.5)
  local replica = live:replica(1)
  test.check(#replica.running > 0 and #replica.running <= 16, "%d seats", #replica.running)
  test.equal(replica.total_blocks, 400)
  local context = 0
  for _, request in ipairs(replica.running) do
    if request.phase == "decode" then context = context + request.context_tokens end
    test.equal(live:request(request.id).prompt_tokens, request.prompt_tokens)
  end
  test.equal(replica.decode_context_tokens, context)
end)

test("why accounts for every second of a request", function()
  local text, document = measure.why(scenario(), 100)
  test.check(text:find "decode", "no decode in the report:\n%s", text)
  local sum = 0
  for key, value in pairs(document) do
    if type(value) == "number" and key:find "_s$" and key ~= "e2e_s" then sum = sum + value end
  end
  test.near(sum, document.e2e_s, 1e-12)
end)

test("a live simulation accounts for a request as a run that follows it does", function()
  local live = serve.open(scenario())
  live:run_until(3)
  local checked = 0
  for _, each in ipairs(live:ended()) do
    if each.id % 9 == 0 then
      local text, document = live:why(each.id)
      local _, followed = measure.why(scenario(), each.id)
      test.equal(json.encode(document), json.encode(followed))
      test.check(#document.ops > 0 and text:find "attention", "no operations in\n%s", text)
      checked = checked + 1
    end
  end
  test.check(checked > 2, "%d requests", checked)
end)

test("it does so over swaps and forks, and says so where it cannot", function()
  local live = serve.open(scenario())
  live:run_until(1)
  live:set { scheduler = "sjf" }
  live:step(40)
  local fork = live:fork()
  fork:set { steps = "roofline_v2" }
  fork:run()
  local swapped = 0
  for _, each in ipairs(fork:ended()) do
    if each.id % 20 == 19 then
      local _, document = fork:why(each.id)
      test.check(document.followed == nil and #document.ops > 0, "request %d was not followed", each.id)
      swapped = swapped + 1
    end
  end
  test.check(swapped > 5, "%d requests", swapped)
  require("rooflua.serving.live").replace_policies(live, function() end)
  live:run()
  local ended = live:ended()
  local _, early = live:why(ended[1].id)
  test.check(early.followed == nil, "it ended before policies were read again")
  local text, document = live:why(ended[#ended].id)
  test.equal(document.followed, false)
  test.check(text:find "are not known" and text:find "end to end", "%s", text)
end)

test("why tells the operations of the kernel model and what was waited for, and changes nothing", function()
  local given = scenario { async_depth = 2 }
  local ids, done = {}, serve.run(given).summary
  for id = 20, 199, 30 do ids[#ids + 1] = id end
  for _, id in ipairs(ids) do
    local text, why = measure.why(given, id)
    local of = { prefill = 0, recompute = 0, decode = 0, decode_mixed = 0 }
    local seen = {}
    for _, row in ipairs(why.ops) do
      of[row.phase] = of[row.phase] + row.time_s
      seen[row.op] = true
      test.near(row.share, row.time_s / why.e2e_s, 1e-12)
    end
    for phase, time_s in pairs(of) do test.near(time_s, why[phase .. "_s"], 1e-12, phase) end
    for _, op in ipairs { "qkv", "gate_up", "attention_decode", "lm_head" } do
      test.check(seen[op], "no %s among the operations of request %d", op, id)
      test.check(text:find(op, 1, true), "no %s in the report", op)
    end
    local waited, behind = 0, 0
    for _, time_s in pairs(why.waited or {}) do waited = waited + time_s end
    for _, row in ipairs(why.behind or {}) do behind = behind + row.time_s end
    test.near(waited, why.queue_prefill_s + why.queue_decode_s + why.preempted_s, 1e-12)
    test.near(behind, waited, 1e-12)
  end
  test.equal(json.encode(serve.run(given).summary), json.encode(done))
end)

test("a correction is part of the operation it corrects, a step correction an operation of its own", function()
  local policy = require "rooflua.policy"
  local Half = policy.define { name = "half", doc = "Half of the qkv.", params = {} }
  function Half:op(op, time_s) return op.name == "qkv" and time_s / 2 or time_s end
  local Slow = policy.define { name = "slow", doc = "A tenth more.", params = {} }
  function Slow:step(_, time_s) return time_s * 1.1 end
  local function prefill(corrections)
    local _, why = measure.why(scenario { corrections = corrections,
      steps = require "steps.kernels" { eager_operation_s = 0 } }, 0)
    local out = { whole = why.prefill_s }
    for _, row in ipairs(why.ops) do
      if row.phase == "prefill" then out[row.op] = row.time_s end
    end
    return out
  end
  local plain, half, slow = prefill(nil), prefill { Half {} }, prefill { Slow {} }
  test.check(half.qkv < plain.qkv, "qkv was not corrected")
  test.near(plain.qkv - half.qkv, plain.whole - half.whole, 1e-6)
  test.near(half.gate_up, plain.gate_up, 1e-6)
  test.near(slow.slow, 0.1 * plain.whole, 1e-6)
  test.near(slow.qkv, plain.qkv, 1e-6)
end)

test("runs are compared metric by metric", function()
  local rows = measure.compare { serve.run(scenario()), serve.run(scenario { seed = 5 }) }
  test.equal(rows[1][1], "metric")
  test.check(#rows > 8, "only %d rows", #rows)
end)

test("prefill and decode can live on different replicas", function()
  local live = serve.open(scenario {
    replicas = { { role = "prefill" }, { role = "decode", count = 2 } },
    router = require "routers.least_outstanding" {},
  })
  live:run()
  local split = live:result().summary
  test.equal(split.completed, 200)
  test.equal(#split.replicas, 3)
  local slow = serve.run(scenario {
    replicas = { { role = "prefill" }, { role = "decode", count = 2 } },
    router = require "routers.least_outstanding" {},
    network = { bytes_per_s = 1e9, alpha_s = 0.01 },
  }).summary
  test.check(slow.ttft_s.mean > split.ttft_s.mean + 0.01, "a slow network costs nothing")
end)

test("sessions hit their own history in the cache", function()
  local shared = scenario { deployment = {}, workload = require "workloads.multi_turn" { sessions = 20, turns = 4 } }
  local cached = serve.run(shared).summary
  shared.deployment = { prefix_caching = false }
  local cold = serve.run(shared).summary
  test.equal(cached.completed, 80)
  test.equal(cold.cached_tokens, 0)
  test.check(cached.cached_tokens > 10000, "only %d cached tokens", cached.cached_tokens)
end)

test("the frontend's delay is in every TTFT", function()
  local plain = serve.run(scenario { workload = require "workloads.constant" { rate_per_s = 1, num_requests = 20 } })
  local late = serve.run(scenario {
    workload = require "workloads.constant" { rate_per_s = 1, num_requests = 20 },
    frontend = { base_s = 0.5, per_output_token_s = 0.25 },
  })
  test.near(late.summary.ttft_s.mean, plain.summary.ttft_s.mean + 0.75, 1e-9)
  test.near(late.summary.tpot_s.mean, plain.summary.tpot_s.mean, 1e-9)
end)

test("a run that cannot be is refused with the key that is wrong", function()
  local function message(changes)
    local ok, problem = pcall(serve.open, scenario(changes))
    test.check(not ok, "it was accepted")
    return tostring(problem)
  end
  test.check(message { deployment = { kv_blocks = 0 } }:find "kv_blocks", "kv_blocks")
  test.check(message { async_depth = 3 }:find "async_depth", "async_depth")
  test.check(message { frontend = { base_s = -1 } }:find "frontend", "frontend")
  test.check(message { slo = { ttft = 1 } }:find "ttft_s", "slo")
  test.check(message { replicas = { { role = "prefil" } } }:find "prefill", "role")
  test.check(message { replicas = 0 }:find "replicas", "replicas")
end)

test.finish()
