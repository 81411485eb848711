-- Simulations whose callbacks do anything that a script may do: step, change, copy and close simulations, also the one
-- that asks, run others, keep views, price, yield. No crash, no internal error, and every request of a run that ends is
-- accounted for.
local fuzzer = dofile "tests/fuzz/fuzzer.lua"
local rooflua = require "rooflua"
local serve, policy, cost, mfu = rooflua.serve, rooflua.policy, rooflua.cost, rooflua.mfu
local VllmV1, Poisson = require "schedulers.vllm_v1", require "workloads.poisson"
local Closed = require "workloads.closed_loop"

local database, datasheet = mfu.open "h200-sxm", mfu.open { gpu = "h200-sxm", tables = false }
local schedulers = { "vllm_v1", "vllm_v0", "sglang", "trtllm", "sarathi", "orca", "static_batch", "sjf", "priority" }
local step_models = { "kernels", "roofline_v1", "roofline_v2" }
local routers = { "random", "power_of_two", "round_robin", "weighted" }

local function class(name, extends, methods)
  local out = policy.define { name = name, doc = "A fuzzer's own.", params = {}, extends = extends }
  for key, method in pairs(methods) do out[key] = method end
  return out
end

-- What one case works with: its random numbers, simulations, views that it kept, and how much it may still do.
local random, lives, kept, budget

local act -- act(...): one random thing to do, with the views of the callback

local function keep(value) kept[random:whole(1, 12)] = value end

local function number() return random:chance(0.5) and random:odd_number() or random:whole(0, 300) end

--- A class's method that does random things before it does its work; one that sometimes fails.
local function busy_method(inner)
  return function(self, a, b)
    if budget > 0 and random:chance(0.15) then
      budget = budget - 1
      act(a, b)
    end
    if budget > 0 and random:chance(0.004) then error("a fault of the policy", 0) end
    return inner(self, a, b)
  end
end

local Plans = class("plans", VllmV1, { plan = busy_method(VllmV1.plan) })
local Keys = class("keys", VllmV1, { key = busy_method(function(_, request) return request.prompt_tokens end) })
local Victims = class("victims", VllmV1, { victim = busy_method(function(_, replica)
  local running = replica:running()
  return running[random:whole(1, #running)]
end) })
local Times = class("times", nil, { time = busy_method(function(_, batch)
  return cost.record("all", 1e-3 + batch.tokens * 1e-6, "assumed")
end) })
local Kernels = require "steps.kernels"
local Routes = class("routes", nil, { route = busy_method(function(_, _, list) return random:whole(1, #list) end) })
local Metric = class("metric", nil, { on_step = busy_method(function() end), on_done = busy_method(function() end),
  value = busy_method(function() return 1 end) })
local Correct = class("correct", nil, { op = busy_method(function(_, _, time_s) return time_s end),
  step = busy_method(function(_, _, time_s) return time_s end) })
local next_request = busy_method(function(state)
  if state.n >= state.most then return nil end
  state.n = state.n + 1
  return state.n * state.gap_s, 1 + state.n * 37 % 200, 1 + state.n * 13 % 40
end)
local Stream = class("stream", nil, { requests = function(_, streams)
  return { n = 0, most = random:whole(1, 40), gap_s = 1e-3, streams = streams.arrivals, next = next_request,
    done = busy_method(function() end) }
end })

local function workload()
  if random:chance(0.3) then return Stream {} end
  if random:chance(0.2) then return Closed { clients = random:whole(1, 6), num_requests = 20 } end
  return Poisson { rate_per_s = random:pick { 5, 50, 500 }, num_requests = random:whole(1, 40),
    prompt_tokens = random:whole(1, 200), output_tokens = random:whole(1, 40) }
end

local function scheduler()
  if random:chance(0.4) then return random:pick(schedulers) end
  return random:pick { Plans, Keys, Victims } { max_num_seqs = random:whole(1, 8),
    max_num_batched_tokens = random:whole(16, 128) }
end

local function steps()
  if random:chance(0.4) then return random:pick(step_models) end
  return random:chance(0.1) and Kernels {} or Times {}
end

local function scenario()
  local out = { model = "llama-3.1-8b", hardware = "h200-sxm", seed = random:whole(0, 9), scheduler = scheduler(),
    steps = steps(), workload = workload() }
  if random:chance(0.9) then out.mfu = random:chance(0.3) and database or datasheet end
  if random:chance(0.6) then out.deployment = { kv_blocks = random:whole(20, 40) } end
  if random:chance(0.3) then out.metrics = { mine = Metric {} } end
  if random:chance(0.2) then out.corrections = { Correct {} } end
  if random:chance(0.3) then
    out.replicas, out.router = random:whole(1, 3), random:chance(0.5) and Routes {} or random:pick(routers)
  end
  return out
end

local function a_live() return lives[random:whole(1, 4)] end
local function put(live) lives[random:whole(1, 4)] = live end

local actions = {
  function() put(serve.open(scenario())) end,
  function() put(serve.open(scenario(), { remember = random:chance(0.5) })) end,
  function() a_live():step(random:whole(1, 30)) end,
  function() a_live():step(number()) end,
  function() a_live():run_until(number()) end,
  function() local live = a_live() live:run_until(live.now_s + random:fraction()) end,
  function() put(a_live():fork()) end,
  function() a_live():close() end,
  function() a_live():result() end,
  function() a_live():set { scheduler = scheduler() } end,
  function() a_live():set { steps = steps() } end,
  function() a_live():abort(random:pick { number(), random:whole(0, 40) }) end,
  function() a_live():abort(random:whole(0, 20), random:pick { "expired", "replica_lost", "completed" }) end,
  function() a_live():replica(number()) end,
  function() a_live():request(number()) end,
  function() a_live():waiting(1) a_live():steps() a_live():ended() a_live():last_step(1) end,
  function() a_live():explain(1) end,
  function() a_live():why(random:whole(0, 20)) end,
  function() a_live():plays() a_live():why_play(number()) end,
  function() return a_live().now_s end,
  function() serve.run(scenario()) end,
  function()
    cost.explain(function()
      cost.record("one", 1, "assumed")
      act()
      return cost.gemm(database, number(), 4096, number())
    end)
  end,
  function() cost.gemm(database, number(), number(), number(), "bf16", number()) end,
  function() database:decode(32, 8, 128, number(), number(), 1) database:prefill(32, 8, 128, number(), 1) end,
  function() cost.batch { decodes = number(), decode_context_tokens = number() } end,
  function() cost.batch { decode_contexts = { number(), number() } }:bounded_tokens(number()) end,
  function() cost.batch { decodes = 3, decode_context_tokens = 50 }:chunk_tokens(number()) end,
  function() coroutine.wrap(act)() end,
  function() coroutine.wrap(function() act() coroutine.yield() end)() end,
  function() coroutine.yield() end,
  function() collectgarbage() end,
  function() local live = a_live() lives = {} collectgarbage() live:step() end,
  function(a, b) keep(a) keep(b) end,
  function(a) keep(a:waiting()[1]) keep(a:running()[1]) end,
  function(a) keep(a.prefills[1]) keep(a.decode_contexts) return a.decode_context_max end,
  function(a) return a:bounded_tokens(number()), a:chunk_tokens(number()) end,
  function(a, b) b:admit(a:waiting()[number()], number(), number(), number(), number()) end,
  function(a, b) b:preempt(a:running()[1]) end,
  function(_, b) b:decode_all(number()) end,
  function(a, b) b:prefill(a:prefilling()[1], number()) end,
  function(_, b) b:reject(kept[random:whole(1, 12)]) b:wake_at(number()) end,
  function() local old = kept[random:whole(1, 12)] return old.tokens, old.prompt_tokens, old[1], #old end,
  function() local old = kept[random:whole(1, 12)] return old.new_tokens, old.decode_context_max end,
  function() local old = kept[random:whole(1, 12)] old:decode_all() end,
}

--- One thing, whose error is one that a user may see.
function act(a, b) fuzzer.try("an action", random:pick(actions), a, b) end

--- Requests in are requests out.
local function check_ended(live, result)
  local summary = result.summary
  local ended = 0
  for _, key in ipairs { "completed", "rejected", "starved", "exceeds_kv_cache", "exceeds_max_model_len",
    "unfinished", "refused", "never_admitted", "expired", "timed_out", "cancelled", "replica_lost" } do
    ended = ended + (summary[key] or 0)
  end
  local arrived = result.totals.arrived
  if ended > arrived then error(("%d requests ended, %d arrived"):format(ended, arrived), 0) end
  local ok, remembered = pcall(live.steps, live) -- it may remember none
  for _, step in ipairs(ok and remembered or {}) do
    if not (step.end_s >= step.start_s) then error("a step ends before it starts", 0) end
  end
end

fuzzer.main(function(numbers)
  random, lives, kept, budget = numbers, {}, {}, 25
  for _ = 1, 3 do fuzzer.try("open", function() put(serve.open(scenario())) end) end
  for _ = 1, 12 do
    budget = 25
    act()
  end
  for i = 1, 4 do
    budget = 10
    local live = lives[i]
    if live and fuzzer.try("the end of a run", live.run_until, live, 50) then
      local ok, result = fuzzer.try("the result", live.result, live)
      if ok then check_ended(live, result) end
    end
  end
end)
