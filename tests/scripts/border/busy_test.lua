-- A simulation is busy while it asks a policy; a simulation inside a policy of another one leaves that one alone.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, policy, cost = rooflua.serve, rooflua.policy, rooflua.cost
local VllmV1, Poisson = require "schedulers.vllm_v1", require "workloads.poisson"

local function class(name, extends, methods)
  local out = policy.define { name = name, doc = "A test's own.", params = {}, extends = extends }
  for key, method in pairs(methods) do out[key] = method end
  return out
end

--- A result as text, also with figures that do not exist (nan).
local function text_of(value)
  if type(value) ~= "table" then return ("%.17g"):format(tonumber(value) or -1) .. tostring(value) end
  local parts, keys = {}, {}
  for key in pairs(value) do keys[#keys + 1] = tostring(key) end
  table.sort(keys)
  for i, key in ipairs(keys) do
    local each = value[key]
    if each == nil then each = value[tonumber(key)] end
    parts[i] = key .. "=" .. text_of(each)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- A small scenario; `changes` replace keys of it.
local function scenario(changes)
  return scene({ hardware = "h200-sxm", seed = 2, deployment = { kv_blocks = 24 },
    scheduler = VllmV1 { max_num_seqs = 8, max_num_batched_tokens = 64 },
    workload = Poisson { rate_per_s = 500, num_requests = 40, prompt_tokens = 50, output_tokens = 20 } }, changes)
end

--- Scenarios in which act() is called in one kind of callback, by the name that messages have for it.
local function callbacks(act)
  local Plans = class("plans", VllmV1, { plan = function(self, r, p) act() return VllmV1.plan(self, r, p) end })
  local Keys = class("keys", VllmV1, { key = function(_, request) act() return request.id end })
  local Victims = class("victims", VllmV1, { victim = function(_, r)
    act()
    local running = r:running()
    return running[#running]
  end })
  local limits = { max_num_seqs = 8, max_num_batched_tokens = 64 }
  local Times = class("times", nil, { time = function() act() return 1e-3 end })
  local Routes = class("routes", nil, { route = function(_, _, candidates) act() return #candidates end })
  local Observes = class("observes", nil, { on_step = function() act() end, value = function() return 1 end })
  local Ends = class("ends", nil, { on_done = function() act() end, value = function() return 1 end })
  local Values = class("values", nil, { value = function() act() return 1 end })
  local Stream = class("stream", nil, { requests = function()
    return { n = 0, next = function(state)
      act()
      if state.n >= 40 then return nil end
      state.n = state.n + 1
      return state.n * 1e-3, 50, 20
    end, done = function() act() end }
  end })
  return {
    ["its scheduler (plan)"] = scenario { scheduler = Plans(limits) },
    ["its scheduler (key)"] = scenario { scheduler = Keys(limits) },
    ["its scheduler (plan) for a victim"] = scenario { scheduler = Victims(limits) },
    ["its step model (time)"] = scenario { steps = Times {} },
    ["its router (route)"] = scenario { router = Routes {}, replicas = 2 },
    ["one of its metrics (on_step)"] = scenario { metrics = { mine = Observes {} } },
    ["one of its metrics (on_done)"] = scenario { metrics = { mine = Ends {} } },
    ["one of its metrics (value)"] = scenario { metrics = { mine = Values {} } },
    ["its workload (next)"] = scenario { workload = Stream {} },
  }
end

local methods = {
  run = function(live) live:run() end, run_until = function(live) live:run_until(1) end,
  step = function(live) live:step() end, fork = function(live) live:fork() end,
  set = function(live) live:set { scheduler = "sjf" } end, result = function(live) live:result() end,
  replica = function(live) live:replica(1) end, request = function(live) live:request(0) end,
  steps = function(live) live:steps() end, ended = function(live) live:ended() end,
  last_step = function(live) live:last_step(1) end, abort = function(live) live:abort(0) end,
}

test("a callback that uses the simulation that asks it gets an error that names both, at its own line", function()
  for method, call in pairs(methods) do
    local live, problem
    local function act()
      if not live or problem then return end
      local ok, found = pcall(call, live)
      test.check(not ok, "%s was not refused", method)
      problem = found
    end
    for name, given in pairs(callbacks(act)) do
      live, problem = nil, nil
      live = serve.open(given)
      live:run()
      test.equal(live:result().summary.completed, 40, name .. ": completed")
      test.check(problem, "%s: no callback", name)
      local expected = "live:" .. method .. ": this simulation is busy: it asks "
        .. name:gsub(" for a victim$", "")
      test.check(problem:find(expected, 1, true), "%s: found '%s'", name, problem)
      test.check(problem:find "^tests/scripts/border/busy_test.lua:%d+: ", "%s: found '%s'", name, problem)
    end
  end
end)

test("an error of a refused call ends the run with the line of the policy", function()
  local live
  local Again = class("again", VllmV1, { plan = function() live:run() end })
  live = serve.open(scenario { scheduler = Again {} })
  local ok, problem = pcall(live.run, live)
  test.check(not ok and problem:find("live:run: this simulation is busy: it asks its scheduler (plan)", 1, true),
    "found %s", tostring(problem))
end)

test("a callback may read the clock of its simulation", function()
  local live, read
  local Reads = class("reads", VllmV1, { plan = function(self, r, p)
    read = live.now_s
    test.equal(read, r.now_s)
    return VllmV1.plan(self, r, p)
  end })
  live = serve.open(scenario { scheduler = Reads {} })
  live:run()
  test.check(read > 0)
end)

test("a simulation that runs inside any callback leaves the one around it as it is", function()
  local function text(given)
    local result = serve.run(given)
    return text_of { result.summary, result.totals }
  end
  local Last = class("last", VllmV1, { victim = function(_, r) local x = r:running() return x[#x] end })
  local First = class("first", VllmV1, { victim = function(_, r) return r:running()[1] end })
  local Slower = class("slower", nil, { op = function(_, _, time_s) return 3 * time_s end })
  local limits = { max_num_seqs = 8, max_num_batched_tokens = 64 }
  local inner = scenario { scheduler = First(limits), corrections = { Slower {} },
    workload = Poisson { rate_per_s = 500, num_requests = 3, prompt_tokens = 50, output_tokens = 20 } }
  local alone = {}
  for name, given in pairs(callbacks(function() end)) do alone[name] = text(given) end
  local times = 0
  local function nested()
    times = times + 1
    if times % 25 == 1 then serve.run(inner) end
    if times % 25 == 2 then -- a failing one
      pcall(serve.run, scenario { scheduler = class("fails", First, { plan = function() error "mine" end }) {} })
    end
  end
  for name, given in pairs(callbacks(nested)) do test.equal(text(given), alone[name], name) end
  test.at_least(times, 9)
  -- victims, with what is priced by the shipped step model
  local before = text(scenario { scheduler = Last(limits) })
  local Outer = class("outer", Last, { plan = function(self, r, p) nested() return VllmV1.plan(self, r, p) end })
  test.equal(text(scenario { scheduler = Outer(limits) }), before, "victims of the scheduler around")
end)

test("what a step model prices around a nested run keeps its evidence, its corrections and its batch", function()
  local Half = class("half", nil, { op = function(_, op, time_s)
    return op.name == "mine" and time_s / 2 or time_s
  end })
  local function model(between)
    return class("between", nil, { time = function(_, batch)
      local first = cost.record("mine", 4e-3, "measured")
      between()
      local tokens = batch.tokens
      for i = 1, #batch.prefills do tokens = tokens + batch.prefills[i].context_tokens end
      return first + cost.record("mine", 4e-3, "modelled") + tokens * 1e-6
    end }) {}
  end
  local function text(between)
    return text_of(serve.run(scenario { steps = model(between), corrections = { Half {} } }).summary)
  end
  local alone = text(function() end)
  local n = 0
  test.equal(text(function()
    n = n + 1
    if n % 10 == 1 then serve.run(scenario()) end
  end), alone)
  test.check(n > 10)
  n = 0
  test.equal(text(function()
    n = n + 1
    local tree = cost.explain(function() return cost.record("other", 1, "assumed") end)
    test.equal(tree.time_s, 1)
  end), alone, "an explanation adds nothing to the step around it")
  test.check(n > 10)
end)

test("an explanation does not collect the rows of a simulation that runs inside it", function()
  local tree = cost.explain(function()
    local first_s = cost.record("a", 1, "measured")
    local Twice = class("twice", nil, { op = function(_, _, time_s) return 2 * time_s end })
    serve.run(scenario { corrections = { Twice {} } })
    return first_s + cost.record("b", 2, "measured")
  end)
  test.equal(#tree.rows, 2)
  test.equal(#tree.corrections, 0)
  test.equal(tree.evidence.measured, 1)
  test.equal(tree.time_s, 3)
end)

test("simulations inside each other's policies are counted", function()
  local Deep
  Deep = class("deep", VllmV1, { plan = function() serve.run(scenario { scheduler = Deep {} }) end })
  local ok, problem = pcall(serve.run, scenario { scheduler = Deep {} })
  test.check(not ok and problem:find("16 simulations run inside each other's policies", 1, true), "found %s",
    tostring(problem))
end)

test("a batch that was kept is stale after an error, too", function()
  local kept, prefill
  local Keeps = class("keeps", nil, { time = function(_, batch)
    kept, prefill = batch, batch.prefills[1]
    error "mine"
  end })
  local live = serve.open(scenario { steps = Keeps {} })
  test.check(not pcall(live.run, live))
  live:close()
  for _, read in ipairs { function() return kept.tokens end, function() return kept.decode_context_max end,
    function() return kept.decode_contexts[1] end, function() return prefill.new_tokens end,
    function() return #kept.prefills end } do
    local ok, problem = pcall(read)
    test.check(not ok and problem:find("used after its step", 1, true), "found %s", tostring(problem))
  end
end)

test("a scheduler whose key is an error is not set", function()
  local Bad = class("bad", VllmV1, { key = function() error "mine" end })
  local live, alone = serve.open(scenario()), serve.open(scenario())
  live:run_until(0.02)
  alone:run_until(0.02)
  test.check(#live:waiting() > 0)
  test.check(not pcall(live.set, live, { scheduler = Bad {} }))
  collectgarbage()
  live:run()
  alone:run()
  test.equal(text_of(live:result().summary), text_of(alone:result().summary))
end)

-- Coroutines ---------------------------------------------------------------------------------------------

local function collect_threads()
  for _ = 1, 200 do
    for _ = 1, 100 do coroutine.create(function() end) end
    collectgarbage "step"
  end
  collectgarbage()
end

test("a simulation that was opened, stepped or forked in a coroutine outlives it", function()
  local expected = text_of(serve.run(scenario()).summary)
  local live = coroutine.wrap(function() return serve.open(scenario()) end)()
  collect_threads()
  coroutine.wrap(function() live:step(5) end)()
  collect_threads()
  local fork = coroutine.wrap(function() return live:fork() end)()
  collect_threads()
  live:run()
  fork:run()
  test.equal(text_of(live:result().summary), expected)
  test.equal(text_of(fork:result().summary), expected)
end)

test("two coroutines step two simulations in turns", function()
  local expected = text_of(serve.run(scenario()).summary)
  local lives, threads = {}, {}
  for i = 1, 2 do
    threads[i] = coroutine.wrap(function()
      lives[i] = serve.open(scenario())
      repeat coroutine.yield(true) until not lives[i]:step()
      return false
    end)
  end
  local more = true
  while more do
    more = threads[1]()
    threads[2]()
  end
  for i = 1, 2 do test.equal(text_of(lives[i]:result().summary), expected) end
end)

test("a callback cannot yield out of its simulation", function()
  local Yields = class("yields", VllmV1, { plan = function() coroutine.yield() end })
  local ok, problem = coroutine.resume(coroutine.create(function() serve.run(scenario { scheduler = Yields {} }) end))
  test.check(not ok and problem:find "yield", "found %s", tostring(problem))
end)

test.finish()
