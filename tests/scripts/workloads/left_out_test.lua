-- Requests that a workload has but does not send are reported: of traces, conversations and scripts of users.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local serve = require "rooflua.serve"
local sweep = require "rooflua.sweep"
local trace = require "rooflua.trace"

local header = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
local burst = header .. "5,a,40,4,44,x\n6,a,40,0,40,x\n7,b,41,5,46,x\n8,b,40,0,40,x\n"

local function scenario(workload)
  return { model = "llama-3.1-8b", hardware = "h200", workload = workload }
end

--- The only entry of a list.
local function only(list)
  test.equal(type(list), "table", "left_out")
  test.equal(#list, 1, "sources")
  return list[1]
end

test("an opened trace says what it is and what of it is not replayed", function()
  local path = test.file(".csv", burst)
  local about = trace.describe(trace.open(path))
  test.equal(about.format, "burstgpt")
  test.equal(about.file, path)
  test.equal(about.rows, 4)
  test.equal(about.requests, 2)
  local left = only(about.left_out)
  test.equal(json.encode(left.reasons), '[{"count":2,"first_line":3,"why":"failed when recorded"}]')
  test.equal(left.count, 2)
  test.equal(left.total, 4)
  local whole = trace.describe(trace.open(test.file(".csv", "arrival_s,prompt_tokens,output_tokens\n0,5,5\n")))
  test.equal(whole.left_out, nil, "left_out of a trace without such rows")
  test.raises("expected a trace", function() trace.describe {} end)
end)

test("a run says so, and so does every run of a sweep and a live simulation", function()
  local path = test.file(".csv", burst)
  local given = scenario(require "workloads.trace" { path = path })
  local result = serve.run(given)
  test.equal(result.summary.requests, 2)
  test.equal(only(result.left_out).source, path)
  local runs = sweep.grid { given, vary = { seed = { 1, 2 } } }
  for _, run in ipairs(runs) do test.equal(only(run.left_out).count, 2) end
  local live = serve.open(given)
  local fork = live:fork()
  fork:run()
  test.equal(only(fork:result().left_out).count, 2)
  test.equal(serve.run(scenario(require "workloads.poisson" { num_requests = 2 })).left_out, nil)
end)

-- Turns of 100 + 50 tokens: the third would pass 400, and two more would have followed. Nine sessions.
test("conversations that end early say how many turns were not asked", function()
  local result = serve.run(scenario(require "workloads.multi_turn" { sessions = 9, turns = 4, prompt_tokens = 100,
    output_tokens = 50, max_context_tokens = 400 }))
  local left = only(result.left_out)
  test.equal(left.source, "multi_turn")
  test.equal(left.total, 36)
  test.equal(left.count, 18)
  test.equal(result.summary.requests + left.count, left.total, "turns")
  test.equal(json.encode(left.reasons), '[{"count":18,"why":"past max_context_tokens"}]')
  local whole = serve.run(scenario(require "workloads.multi_turn" { sessions = 3, turns = 2 }))
  test.equal(whole.left_out, nil)
end)

test("turns after one that failed are counted", function()
  local given = scenario(require "workloads.multi_turn" { sessions = 2, turns = 3, prompt_tokens = 5000,
    output_tokens = 10 })
  given.deployment = { max_model_len = 6000 }
  local result = serve.run(given)
  local left = only(result.left_out)
  test.equal(json.encode(left.reasons), '[{"count":2,"why":"after a turn that failed"}]')
  test.equal(result.summary.requests + left.count, 6)
end)

local Choosy = policy.define { name = "choosy", doc = "Sends every second request.", params = {} }
function Choosy:requests()
  return { sent = 0, next = function(state)
    if state.sent >= 3 then return nil end
    state.sent = state.sent + 1
    local left = state.left_out
    left.total, left.reasons.odd = left.total + 2, left.reasons.odd + 1
    return state.sent, 10, 2
  end, left_out = { source = "choosy", unit = "requests", total = 0, reasons = { odd = 0, never = 0 } } }
end

test("a workload of a user says it by a field of its state", function()
  local left = only(serve.run(scenario(Choosy {})).left_out)
  test.equal(left.total, 6)
  test.equal(json.encode(left.reasons), '[{"count":3,"why":"odd"}]')
  local run = native.serve_open({ replicas = { { kv_blocks = 100 } } }, { require "schedulers.vllm_v1" {} },
    { { steps = { time = function() return 1 end } } }, nil,
    { next = function() end, left_out = { source = "x", unit = "rows", total = "many", reasons = {} } })
  test.raises("left_out.total: expected a number", function() native.serve_left_out(run) end)
end)

test("the turns of every session that began are counted, and a session has at most 32767", function()
  local MultiTurn = require "workloads.multi_turn"
  local source = MultiTurn { sessions = 2, turns = { distribution = "uniform", min = 1, max = 9 } }
    :requests(random.streams(3))
  source.next(source)
  source.next(source)
  test.equal(source.left_out.total, source.open[0].turns + source.open[1].turns)
  test.raises("workload.turns: expected at most 32767", function()
    local long = MultiTurn { turns = 40000 }:requests(random.streams(1))
    long.next(long)
  end)
end)

test.finish()
