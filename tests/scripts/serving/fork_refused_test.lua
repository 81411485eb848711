-- What a fork cannot copy is an error that names the policy and the place, and leaves the simulation as it is.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, policy, json = rooflua.serve, rooflua.policy, rooflua.json

local function scenario(router, more)
  local out = { model = "llama-3.1-8b", hardware = "h100-sxm", seed = 3, replicas = 3, steps = "roofline_v1",
    router = router, workload = require "workloads.poisson" { rate_per_s = 30, num_requests = 60, prompt_tokens = 800,
      output_tokens = 40 } }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local function refused(name, kept, part)
  test(name .. " is an error that names its place", function()
    local Own = policy.define { name = "own", doc = "Keeps something.", signals = {} }
    function Own:start() self.state = { list = { "one", kept() } } end
    function Own:route()
      self.sent = (self.sent or 0) + 1
      return 1
    end
    local live = serve.open(scenario(Own {}))
    live:run_until(0.5)
    test.raises(part, function() live:fork() end)
    live:run() -- it goes on
    test.equal(live:result().summary.completed, 60)
  end)
end

local function suspended()
  local co = coroutine.create(function() coroutine.yield() end)
  coroutine.resume(co)
  return co
end

refused("a coroutine that is suspended", suspended,
  "fork: the policy own keeps a coroutine that is suspended in state.list.2, which cannot be copied")
refused("a coroutine behind a function", function()
  local co = suspended()
  return function() return coroutine.resume(co) end
end, "keeps a coroutine that is suspended in state.list.2.co")
refused("coroutine.wrap", function() return coroutine.wrap(function() coroutine.yield() end) end,
  "keeps a coroutine that is suspended in state.list.2.coroutine")
refused("a foreign object", function() return newproxy(true) end, "keeps a foreign object in state.list.2")
refused("a pointer", function() return require("ffi").new("int *") end,
  "keeps a pointer or a list of C in state.list.2")

test("a coroutine that has ended, and objects that nothing changes, are no error", function()
  local Own = policy.define { name = "own", doc = "Keeps something.", signals = {} }
  function Own:start()
    local ended = coroutine.create(function() end)
    coroutine.resume(ended)
    self.state = { ended, rooflua.spec.model "llama-3.1-8b", rooflua.spec.hardware "l40s", 5LL, json.null, math.sin }
  end
  function Own.route() return 1 end
  local live = serve.open(scenario(Own {}))
  live:run_until(0.5)
  live:fork():run()
end)

test("coroutine.wrap in a file of its own is an error that names its place", function()
  local path = test.file(".lua", [[
local policy = require "rooflua.policy"
local Own = policy.define { name = "own", doc = "Counts.", signals = {} }
function Own:start()
  self.state = { coroutine.wrap(function()
    while true do coroutine.yield(1) end
  end) }
end
function Own:route() return self.state[1]() end
return { model = "llama-3.1-8b", hardware = "h100-sxm", replicas = 3, router = Own {},
  workload = require "workloads.poisson" { rate_per_s = 30, num_requests = 60 } }]])
  local live = serve.open(require("rooflua.sandbox.chunks").load_scenario(path))
  live:run_until(0.5)
  test.raises("the policy own keeps a coroutine that is suspended in state.1.co", function() live:fork() end)
end)

test("a workload that waits in a coroutine is refused by its place", function()
  local Own = policy.define { name = "own", doc = "Counts." }
  function Own.requests()
    return coroutine.wrap(function()
      for n = 1, 60 do coroutine.yield(0.1 * n, 100, 10) end
    end)
  end
  local live = serve.open(scenario("round_robin", { workload = Own {} }))
  live:run_until(0.5)
  test.raises("fork: the workload keeps a coroutine that is suspended", function() live:fork() end)
end)

test.finish()
