-- A fork that runs changes nothing of the simulation that it was made of, whatever a policy of the user's keeps its
-- state in; and it goes on as that one does. What cannot be copied is an error that names the policy and the place.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, policy, json = rooflua.serve, rooflua.policy, rooflua.json

--- A scenario of three replicas, whose router sends request n to the replica that `numbers` says.
local function scenario(router, more)
  local out = { model = "llama-3.1-8b", hardware = "h100-sxm", seed = 3, replicas = 3, steps = "roofline_v1",
    router = router, workload = require "workloads.poisson" { rate_per_s = 30, num_requests = 60, prompt_tokens = 800,
      output_tokens = 40 } }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local function text(live) return json.encode(live:result().summary) end

--- What a run says alone, after a fork of it ran, and what the fork says. make() makes the scenario anew.
local function three(make)
  local alone = serve.open(make())
  alone:run()
  local live = serve.open(make())
  live:run_until(1)
  local fork = live:fork()
  fork:run()
  live:run()
  return text(alone), text(live), text(fork)
end

local function same(name, make)
  test(name, function()
    local alone, live, fork = three(make)
    test.equal(live, alone, "the run that was forked")
    test.equal(fork, alone, "the fork")
  end)
end

--- A router class whose replicas follow from a number that grows: 1, 1, 2, 1, 2, 3, ...
local function router_of(define)
  return function()
    local Own = policy.define { name = "own", doc = "Sends where its numbers say.", signals = {} }
    local bump = define(Own)
    function Own:route(request, replicas)
      local n = bump(self, request)
      return (n * n + math.floor(n / 7)) % #replicas + 1
    end
    return scenario(Own {})
  end
end

local Counter = {}
Counter.__index = Counter
function Counter.new() return setmetatable({ n = 0 }, Counter) end
function Counter:next()
  self.n = self.n + 1
  return self.n
end

same("state in an object with a metatable is the fork's own", router_of(function(Own)
  function Own:start() self.counter = Counter.new() end
  return function(self) return self.counter:next() end
end))

same("state in a metatable is", router_of(function(Own)
  function Own:start() self.counter = setmetatable({}, { __index = { n = 0 } }) end
  return function(self)
    local kept = getmetatable(self.counter).__index
    kept.n = kept.n + 1
    return self.counter.n
  end
end))

same("state in a closure of a field is", router_of(function(Own)
  function Own:start()
    local n = 0
    self.next = function()
      n = n + 1
      return n
    end
  end
  return function(self) return self.next() end
end))

same("closures that hold one variable still hold one", router_of(function(Own)
  function Own:start()
    local n = 0
    self.add, self.now = function() n = n + 1 end, function() return n end
  end
  return function(self)
    self.add()
    return self.now()
  end
end))

same("a local of the policy's file is", router_of(function()
  local n = 0
  return function()
    n = n + 1
    return n
  end
end))

same("a table of the policy's file is", router_of(function()
  local kept = { [1] = { n = 0 } }
  return function()
    kept[1].n = kept[1].n + 1
    return kept[1].n
  end
end))

same("a field of the class is", router_of(function(Own)
  Own.sent = 0
  return function()
    Own.sent = Own.sent + 1
    return Own.sent
  end
end))

same("a method that is called through the class is", router_of(function(Own)
  local n = 0
  function Own.count()
    n = n + 1
    return n
  end
  return function() return Own.count() end
end))

same("a table behind its own key, in itself and under an object is", router_of(function(Own)
  function Own:start()
    local key = {}
    self.by_key, self.key = { [key] = { n = 0 } }, key
    self.by_key.own = self.by_key
  end
  return function(self)
    local kept = self.by_key.own[self.key]
    kept.n = kept.n + 1
    return kept.n
  end
end))

same("a long chain of tables is", router_of(function(Own)
  function Own:start()
    self.last = {}
    local first = self.last
    for _ = 1, 20000 do first = { next = first } end
    self.first, self.last.n = first, 0
  end
  return function(self)
    self.last.n = self.last.n + 1
    return self.last.n
  end
end))

same("an array of C is", router_of(function(Own)
  function Own:start() self.kept = require("ffi").new "int[2]" end
  return function(self)
    self.kept[1] = self.kept[1] + 1
    return self.kept[1]
  end
end))

same("a random stream in a closure draws what it would have drawn", router_of(function(Own)
  function Own:start(rng)
    local stream = rng:stream "own"
    self.draw = function() return stream:integer(1, 100) end
  end
  return function(self) return self.draw() end
end))

local Inner = policy.define { name = "inner", doc = "Counts.", params = { first = { default = 5, doc = "Begin." } } }
function Inner:next()
  self.n = (self.n or self.first) + 1
  return self.n
end

same("a policy that a policy has as a parameter is", function()
  local Own = policy.define { name = "own", doc = "Asks another.", signals = {},
    params = { inner = { default = Inner {}, type = "any", doc = "It." } } }
  function Own:route(_, replicas) return self.inner:next() % #replicas + 1 end
  return scenario(Own { inner = Inner { first = 2 } })
end)

same("what two policies hold together is the fork's own, and still one", function()
  local shared = Counter.new()
  local Own = policy.define { name = "own", doc = "Counts.", signals = {} }
  function Own:route(_, replicas) return shared:next() % #replicas + 1 end
  local Plan = policy.define { name = "plan", doc = "Counts, too.", extends = require "schedulers.vllm_v1" }
  function Plan:plan(replica, plan)
    shared:next()
    require("schedulers.vllm_v1").plan(self, replica, plan)
  end
  return scenario(Own {}, { scheduler = Plan {} })
end)

same("a workload that is a function is forked", function()
  local Own = policy.define { name = "own", doc = "Counts." }
  function Own:requests(rng)
    local n, stream = 0, rng:stream "own"
    return function()
      n = n + 1
      if n <= 60 then return 0.04 * n, stream:integer(10, 2000), 20 end
    end
  end
  return scenario("round_robin", { workload = Own {} })
end)

same("a workload whose state has objects and functions is", function()
  local Own = policy.define { name = "own", doc = "Counts." }
  function Own:requests(rng)
    local counter, stream = Counter.new(), rng:stream "own"
    return { counter = counter, draw = function() return stream:integer(10, 2000) end, next = function(state)
      local n = state.counter:next()
      if n <= 60 then return 0.04 * n, state.draw(), 20 end
    end }
  end
  return scenario("round_robin", { workload = Own {} })
end)

same("a metric's state is", function()
  local Own = policy.define { name = "own", doc = "Counts.", unit = "1" }
  local seen = Counter.new()
  function Own.on_done() seen:next() end
  function Own.value() return seen.n end
  local out = scenario("round_robin", { metrics = { own = Own {} } })
  return out
end)

for _, name in ipairs { "roofline_v1", "kernels" } do
same("a step model's and a correction's are, beside what " .. name .. " keeps", function()
  local Parent = require("steps." .. name)
  local Own = policy.define { name = "own", doc = "Slower by and by.", extends = Parent }
  local steps = 0
  function Own:time(batch)
    steps = steps + 1
    return (1 + steps / 100) * Parent.time(self, batch)
  end
  function Own.summary() return { steps = steps } end
  local Late = policy.define { name = "late", doc = "Later by and by." }
  function Late:step(_, time_s)
    self.n = (self.n or 0) + 1
    return time_s + 1e-5 * self.n
  end
  return scenario("round_robin", { steps = Own {}, corrections = { Late {} } })
end)
end

same("a simulation that a policy keeps is forked with it", router_of(function(Own)
  function Own:start()
    self.other = serve.open(scenario "round_robin", { remember = false })
  end
  return function(self)
    self.other:step()
    return math.floor(1e6 * self.other.now_s)
  end
end))

test("a policy that knows its simulation knows its fork in the fork", function()
  local Own, live = policy.define { name = "own", doc = "Looks.", signals = {} }, nil
  local seen = {}
  function Own:route()
    self.seen = live.now_s
    return 1
  end
  function Own:summary() return { seen = self.seen or 0 } end
  live = serve.open(scenario(Own {}))
  live:run_until(0.5)
  local fork = live:fork()
  fork:run()
  seen[1], seen[2] = fork:result().policies.router.seen, live:result().policies.router.seen
  test.check(seen[1] > 1 and seen[2] < 0.5, "%g, %g", seen[1], seen[2])
end)

test("a simulation keeps its policies, and a fork of a fork is a fork", function()
  local make = router_of(function(Own)
    local n = 0
    function Own:start() self.counter = Counter.new() end
    return function(self)
      n = n + 1
      return self.counter:next() + n
    end
  end)
  local alone, live = serve.open(make()), serve.open(make())
  alone:run()
  for time_s = 0.3, 1.5, 0.3 do
    live:run_until(time_s)
    local fork = live:fork()
    fork:run_until(time_s + 0.2)
    fork:fork():run()
    fork:run()
    test.equal(text(fork), text(alone), "a fork at " .. time_s)
  end
  live:run()
  test.equal(text(live), text(alone))
end)

--- The same of a policy in a file of its own beside a scenario, as `run` and the prompt load it.
local function of_file(body)
  local folder = test.folder()
  os.execute(("mkdir -p %s/routers"):format(folder))
  local function write(name, content)
    local handle = assert(io.open(folder .. "/" .. name, "w"))
    handle:write(content)
    handle:close()
  end
  write("routers/own.lua", ([[
local policy = require "rooflua.policy"
local Own = policy.define { name = "own", doc = "Counts.", signals = {} }
%s
return Own
]]):format(body))
  write("s.lua", [[return { model = "llama-3.1-8b", hardware = "h100-sxm", seed = 3, replicas = 3,
  steps = "roofline_v1", router = require "routers.own" {},
  workload = require "workloads.poisson" { rate_per_s = 30, num_requests = 60,
    prompt_tokens = 800, output_tokens = 40 } }]])
  local chunks = require "rooflua.sandbox.chunks"
  chunks.forget_own()
  chunks.forget()
  return chunks.load_scenario(folder .. "/s.lua")
end

same("locals of a policy's own file are", function()
  return of_file [[
local sent, kept = 0, setmetatable({ n = 0 }, { __index = { next = function(self)
  self.n = self.n + 1
  return self.n
end } })
function Own:route(_, replicas)
  sent = sent + 1
  return (sent * sent + math.floor(kept:next() / 7)) % #replicas + 1
end]]
end)

test.finish()
