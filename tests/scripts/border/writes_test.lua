-- Policies that write to read-only tables, or give the plan impossible values: the error has their line, names what was
-- assigned or asked, and says what would be right.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy, serve = rooflua.policy, rooflua.serve

local function base()
  return { model = "llama-3.1-8b", hardware = "h200", steps = require "steps.roofline_v1" {}, replicas = 2,
    workload = require "workloads.poisson" { rate_per_s = 50, num_requests = 6, prompt_tokens = 40,
      output_tokens = 4 } }
end

--- The error of a run of `base` with these keys.
local function complaint(changes)
  local given = base()
  for key, value in pairs(changes) do given[key] = value end
  local ok, problem = pcall(serve.run, given)
  return ok and "" or tostring(problem)
end

local function define(name, methods)
  local class = policy.define { name = name, doc = "writes where it may not", params = {} }
  for key, method in pairs(methods) do class[key] = method end
  return class {}
end

local function scheduler(act)
  return { scheduler = define("writer", { plan = function(_, replica, plan)
    act(replica, plan)
    plan:decode_all()
    local waiting = replica:waiting()
    while #waiting > 0 do plan:admit(waiting[1], waiting[1].pending_tokens) end
  end }) }
end

local function says(text, ...)
  test.check(text:find("writes_test.lua:%d+: "), "no line: %s", text)
  for _, part in ipairs { ... } do test.check(text:find(part, 1, true), "'%s' is not in: %s", part, text) end
end

--- Writes one existing and one unknown field of the object that `pick` returns.
local function writes(what, run, pick)
  for _, field in ipairs { "id", "index", "tokens", "now_s", "running", "time_s", "new_field" } do
    local text = complaint(run(function(...)
      local view = pick(...)
      if view ~= nil then view[field] = 7 end
    end))
    says(text, what, "read-only", "'" .. field .. "'")
  end
end

test("a scheduler's views are read-only, and say what was assigned", function()
  writes("a replica is", scheduler, function(replica) return replica end)
  writes("a plan is", scheduler, function(_, plan) return plan end)
  writes("a request is", scheduler, function(replica) return replica:waiting()[1] end)
  writes("a list of requests is", scheduler, function(replica) return replica:waiting() end)
end)

test("a router's views are read-only", function()
  local function router(act)
    return { router = define("writer", { route = function(_, request, replicas)
      act(request, replicas)
      return 1
    end }) }
  end
  writes("a request is", router, function(request) return request end)
  writes("the list of replicas is", router, function(_, replicas) return replicas end)
  writes("signals are", router, function(_, replicas) return replicas[1] end)
end)

test("a step model's batch is read-only", function()
  local function steps(act)
    return { steps = define("writer", { time = function(_, batch)
      act(batch)
      return 1e-3
    end }) }
  end
  writes("a batch is", steps, function(batch) return batch end)
  writes("a batch is", steps, function(batch) return batch.prefills end)
  writes("a batch is", steps, function(batch) return batch.prefills[1] end)
  writes("a batch is", steps, function(batch) return batch.decodes > 0 and batch.decode_contexts or nil end)
end)

test("what a step model is bound to is read-only", function()
  for _, key in ipairs { "model", "hardware", "deployment", "mfu" } do
    local text = complaint { steps = define("writer", {
      bind = function(_, context) context[key].name = "other" end, time = function() return 1e-3 end }) }
    says(text, "read-only", "'name'")
  end
end)

test("a correction returns its seconds, and cannot write to the op", function()
  for _, field in ipairs { "time_s", "evidence", "count", "kind", "mine" } do
    local text = complaint { corrections = { define("writer", { op = function(_, op, time_s)
      op[field] = 0
      return time_s
    end }) } }
    says(text, "an op is read-only", "'" .. field .. "'", "returns")
  end
  local text = complaint { corrections = { define("writer", { step = function(_, batch, time_s)
    batch.tokens = 0
    return time_s
  end }) } }
  says(text, "a batch is read-only", "'tokens'")
end)

local folder = test.folder()
assert(os.execute("mkdir -p " .. folder .. "/gemm/h20") == 0)
local csv = assert(io.open(folder .. "/gemm/h20/data.csv", "w"))
csv:write "m,k,n,latency_us,mfu\n16,4096,4096,10,0.1\n64,4096,4096,20,0.2\n"
csv:close()

test("a lookup cannot write to the table it reads", function()
  for _, pick in ipairs { function(t) return t end, function(t) return t.rows[1] end } do
    local text = complaint { steps = require "steps.kernels" {}, mfu = {
      path = folder, layout = "infersim", gpu = "h20",
      lookup = define("writer", { returns = "latency_s", lookup = function(_, rows)
        pick(rows).latency_s = 1
        return 1e-3, "measured"
      end }) } }
    says(text, "read-only")
  end
end)

test("a plan is asked in whole tokens, of requests, and says what it was asked", function()
  local asked = {
    { "admit", 1.5, "admit", "whole number of tokens", "1.5" }, { "admit", -1, "admit", "-1" },
    { "admit", 0 / 0, "admit", "nan" }, { "admit", math.huge, "admit", "inf" }, { "admit", 1e300, "admit", "1e+300" },
    { "admit", "7", "admit", "text \"7\"" }, { "admit", nil, "admit", "nil" },
    { "admit", 2 ^ 31, "admit", "2147483648" },
  }
  for _, each in ipairs(asked) do
    says(complaint(scheduler(function(replica, plan)
      local first = replica:waiting()[1]
      if first then plan[each[1]](plan, first, each[2]) end
    end)), select(3, unpack(each, 1, 5)))
  end
  says(complaint(scheduler(function(_, plan) plan:admit(nil, 5) end)), "plan:admit: expected a request, found nil")
  says(complaint(scheduler(function(_, plan) plan:admit(3, 5) end)), "plan:admit: expected a request, found number 3")
  says(complaint(scheduler(function(_, plan) plan:decode_all(1.5) end)), "decode_all", "1.5")
  says(complaint(scheduler(function(_, plan) plan:decode_all(-1) end)), "decode_all", "-1")
  for i, name in ipairs { "tokens to hold", "tokens to fit", "spare blocks" } do
    local more = { 0, 0, 0 }
    more[i] = 0.5
    says(complaint(scheduler(function(replica, plan)
      if replica:waiting()[1] then plan:admit(replica:waiting()[1], 40, unpack(more)) end
    end)), "admit", name, "0.5")
  end
  says(complaint(scheduler(function(replica, plan)
    if replica:waiting()[1] then
      plan:admit(replica:waiting()[1], 20)
      plan:prefill(replica:waiting()[1] or replica:prefilling()[1], 2.5)
    end
  end)), "prefill", "2.5")
  says(complaint(scheduler(function(_, plan) plan:wake_at(0 / 0) end)), "wake_at", "nan")
end)

test.finish()
