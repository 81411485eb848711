-- What policies answer is checked where it enters, and the error names the line of the method that answered.
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local VllmV1 = require "schedulers.vllm_v1"

local here = debug.getinfo(1, "S").source:sub(2)

--- A policy class with these methods.
local function class(methods, extends)
  local made = policy.define { name = "mine", doc = "Answers as the test says.", extends = extends }
  for name, method in pairs(methods) do made[name] = method end
  return made
end

local function run(scenario)
  scenario.model, scenario.hardware = "llama-3.1-8b", "h200-sxm"
  scenario.workload = require "workloads.poisson" { rate_per_s = 200, num_requests = 40, prompt_tokens = 300,
    output_tokens = 40 }
  return serve.run(scenario).summary
end

--- The run fails at the line where `method` is written, with this message.
local function refused(method, message, scenario)
  local line = ("%s:%d: "):format(here, debug.getinfo(method, "S").linedefined)
  local ok, problem = pcall(run, scenario)
  test.check(not ok, "nothing is refused: %s", message)
  test.check(tostring(problem):find(line, 1, true), "expected %s in %s", line, tostring(problem))
  test.check(tostring(problem):find(message, 1, true), "expected %s in %s", message, tostring(problem))
end

test("prefills that a bucketing loses, doubles or miscounts are refused", function()
  local function of(prefills, change)
    local group = { requests = #prefills, new_tokens = 0, seq_len = 300, members = {} }
    for i = 1, #prefills do
      group.members[i], group.new_tokens = i, group.new_tokens + prefills[i].new_tokens
    end
    change(group)
    return { group }
  end
  local function changed(change) return function(_, prefills) return of(prefills, change) end end
  for _, each in ipairs {
    { "prefills are in no group", function() return {} end },
    { "expected a list of groups, found nil", function() end },
    { "expected a list of groups, found text \"x\"", function() return "x" end },
    { "[1]: expected a table, found number 3", function() return { 3 } end },
    { "[1].seq_len: expected a number > 0, found nil", changed(function(group) group.seq_len = nil end) },
    { "[1].seq_len: expected a number > 0, found nan", changed(function(group) group.seq_len = 0 / 0 end) },
    { "[1].members: expected a list of indices", changed(function(group) group.members = nil end) },
    { "prefills are in no group", changed(function(group)
      group.members, group.requests, group.new_tokens = {}, 0, 0
    end) },
    { "[1].members[1]: expected an index from 1 to", changed(function(group) group.members[1] = 0 end) },
    { "[1].requests: expected", changed(function(group) group.requests = group.requests + 1 end) },
    { "[1].new_tokens: expected", changed(function(group) group.new_tokens = 1 end) },
    { "is in two groups", function(_, prefills)
      local group = of(prefills, function() end)[1]
      return { group, group }
    end },
  } do
    local Mine = class { groups = each[2] }
    refused(each[2], each[1], { steps = require "steps.roofline_v2" { bucketing = Mine {} } })
  end
end)

test("the shipped groupings are accepted, in scenarios too", function()
  for _, name in ipairs { "exact", "pow2", "fused", "quantile" } do
    test.equal(run { steps = require "steps.roofline_v2" {}, bucketing = name }.completed, 40, name)
  end
end)

local function scheduler(methods)
  return { scheduler = class(methods, VllmV1) { max_num_seqs = 16 }, deployment = { kv_blocks = 60 } }
end

test("victims that do not run are refused", function()
  for message, victim in pairs {
    ["victim(replica) returned nil"] = function() end,
    ["victim(replica) returned number 3"] = function() return 3 end,
    ["only a running request can be preempted"] = function(_, replica)
      return replica:waiting()[1] or replica:running()[1]
    end,
  } do
    refused(victim, message, scheduler { victim = victim })
  end
end)

test("keys that order nothing are refused", function()
  for message, key in pairs {
    ["key(request) must return a finite number; found nil"] = function() end,
    ["key(request) must return a finite number; found nan"] = function() return 0 / 0 end,
    ["key(request) must return a finite number; found text"] = function() return "first" end,
  } do
    refused(key, message, scheduler { key = key })
  end
end)

test("replicas that are not there are refused", function()
  for message, route in pairs {
    ["route returned 0; expected a whole number from 1 to 2"] = function() return 0 end,
    ["route returned 1.5; expected"] = function() return 1.5 end,
    ["route returned a table; expected"] = function() return {} end,
  } do
    refused(route, message, { replicas = 2, router = class { route = route } {} })
  end
end)

test("times that are none are refused", function()
  for message, answer in pairs { ["found nil"] = function() end, ["found number -1"] = function() return -1 end } do
    refused(answer, "step model mine: time(batch) must return seconds", { steps = class { time = answer } {} })
    refused(answer, message, { corrections = { class { step = answer } {} } })
  end
  local op = function() return "soon" end
  refused(op, "op(op, time_s) returned text \"soon\" for", { corrections = { class { op = op } {} } })
end)

test.finish()
