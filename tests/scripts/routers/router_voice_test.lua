-- Routers refuse requests and hear of their ends; what policies tell of a run stands in its result.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy, serve = rooflua.policy, rooflua.serve

local function scenario(more)
  return scene({ hardware = "h200-sxm", workload = require "workloads.poisson" {
    rate_per_s = 100, num_requests = 100, prompt_tokens = 300, output_tokens = 40 } }, more)
end

local Bounded = policy.define {
  name = "bounded",
  doc = "Refuses a request where `most` are in flight, and counts by what it hears.",
  refuses = true,
  params = { most = { default = 4, unit = "requests", min = 1, integer = true, doc = "Most requests in flight." } },
}
function Bounded:start() self.open, self.refused, self.peak, self.heard = 0, 0, 0, 0 end
function Bounded:route(_, replicas)
  if self.open >= self.most then
    self.refused = self.refused + 1
    return false
  end
  self.open = self.open + 1
  self.peak = math.max(self.peak, self.open)
  return 1 + self.open % #replicas
end
function Bounded:on_done(request)
  test.equal(request.outcome == "completed", request.ttft_s ~= nil)
  self.heard = self.heard + 1
  if request.outcome == "completed" then self.open = self.open - 1 end
end
function Bounded:summary() return { refused = self.refused, peak = self.peak, heard = self.heard, open = self.open } end

for _, replicas in ipairs { 1, 3 } do
  test(("a router refuses requests and hears of all ends, with %d replicas"):format(replicas), function()
    local result = serve.run(scenario { router = Bounded {}, replicas = replicas })
    local summary, told = result.summary, result.policies.router
    test.at_least(told.refused, 10)
    test.equal(summary.failed.refused, told.refused)
    test.equal(summary.completed + told.refused, 100)
    test.equal(told.heard, 100)
    test.equal(told.open, 0)
    test.equal(told.peak, 4)
  end)
end

test("the report, the document, the rows and the page say that the router refused", function()
  local path = test.file(".lua", [[
local policy = require "rooflua.policy"
local Odd = policy.define { name = "odd", doc = "Refuses every other request.", refuses = true }
function Odd:route(request) return request.id % 2 == 0 and 1 end
return { rooflua = 1, model = "llama-3.1-8b", hardware = "h200-sxm", router = Odd {},
  workload = require "workloads.constant" { rate_per_s = 50, num_requests = 20, prompt_tokens = 30,
    output_tokens = 3 } }
]])
  local json, rows, page = test.file ".json", test.file ".csv", test.file ".html"
  local pipe = io.popen(("%s run %s --quiet --json %s --requests %s --html %s 2>&1"):format(
    os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua", path, json, rows, page))
  local text = pipe:read "*a"
  pipe:close()
  test.check(text:find("10 of 20 completed (10 refused)", 1, true), "%s", text)
  local function read(name) return assert(io.open(name)):read "*a" end
  test.check(read(json):find '"refused": 10')
  test.equal(select(2, read(rows):gsub(",refused,", "")), 10)
  test.check(read(page):find ">refused<")
end)

test("a fork hears for itself", function()
  local live = serve.open(scenario { router = Bounded {} })
  live:run_until(0.5)
  local fork = live:fork()
  local before = live:result().policies.router.heard
  fork:run()
  test.equal(live:result().policies.router.heard, before)
  test.equal(fork:result().policies.router.heard, 100)
  live:run()
  test.equal(live:result().policies.router.heard, 100)
end)

test("refusing is declared, and a computed prompt is not refused", function()
  local Silent = policy.define { name = "silent", doc = "Refuses without a word." }
  function Silent:route() return false end -- luacheck: ignore self
  test.raises("say refuses = true in policy.define", function()
    serve.run(scenario { router = Silent {}, replicas = 2 })
  end)
  local Late = policy.define { name = "late", doc = "Refuses decodes.", refuses = true }
  function Late:route(_, replicas) return #replicas == 1 and 1 end -- luacheck: ignore self
  test.raises("a request whose prompt is computed", function()
    serve.run(scenario { router = Late {}, replicas = { { role = "prefill" }, { role = "decode", count = 2 } } })
  end)
  test.raises("refuses: expected true or false", function()
    policy.define { name = "maybe", doc = "Declares a word.", refuses = "sometimes" }
  end)
end)

test("a follow-up of a refused request may come again", function()
  local result = serve.run(scenario { router = Bounded {}, workload = require "workloads.closed_loop" { clients = 8,
    num_requests = 60, prompt_tokens = 300, output_tokens = 40 } })
  local summary = result.summary
  test.equal(summary.completed + summary.failed.refused, 60)
  test.at_least(summary.completed, 4)
end)

test("schedulers and step models tell of each replica; what no document holds is refused", function()
  local VllmV1 = require "schedulers.vllm_v1"
  local Counting = policy.define { name = "counting", doc = "Counts its plans.", extends = VllmV1 }
  function Counting:plan(replica, plan)
    self.plans = (self.plans or 0) + 1
    VllmV1.plan(self, replica, plan)
  end
  function Counting:summary() return { plans = self.plans, nested = { 1, 2, "three" } } end
  local result = serve.run(scenario { scheduler = Counting {}, replicas = 2 })
  test.equal(#result.policies.schedulers, 2)
  test.at_least(result.policies.schedulers[2].plans, 10)
  test.equal(result.policies.schedulers[1].nested[3], "three")
  test.equal(result.policies.router, nil)
  test.equal(serve.run(scenario {}).policies, nil)
  for message, answer in pairs { ["expected a table"] = 3, ["not finite"] = { math.huge }, ["function"] = { print } } do
    local Bad = policy.define { name = "bad", doc = "Tells nonsense.", extends = VllmV1 }
    function Bad:summary() return answer end -- luacheck: ignore self
    test.raises(message, function() serve.run(scenario { scheduler = Bad {} }) end)
  end
end)

test("a report reads it, in the program and with jobs", function()
  local path = test.file(".lua", [[
local policy = require "rooflua.policy"
local Counting = policy.define { name = "counting", doc = "Counts.", extends = require "schedulers.vllm_v1",
  params = { by = { default = 1, integer = true, doc = "Step." } } }
function Counting:key() self.keys = (self.keys or 0) + self.by return 0 end
function Counting:summary() return { keys = self.keys } end
return { rooflua = 1, model = "llama-3.1-8b", hardware = "h200-sxm", scheduler = Counting {},
  workload = require "workloads.constant" { rate_per_s = 50, num_requests = 20, prompt_tokens = 30, output_tokens = 3 },
  vary = { ["scheduler.by"] = { 1, 2 } },
  report = function(results)
    return "keys " .. results[1].policies.schedulers[1].keys .. " " .. results[2].policies.schedulers[1].keys
  end }
]])
  local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
  for _, jobs in ipairs { 1, 2 } do
    local pipe = assert(io.popen(("%s run %s --quiet --jobs %d 2>&1"):format(program, path, jobs)))
    local text = pipe:read "*a"
    pipe:close()
    test.check(text:find "keys 20 40", "%s", text)
  end
end)

test.finish()
