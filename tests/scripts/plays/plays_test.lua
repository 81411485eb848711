-- Plays of workloads in Lua: a chain with delays is a conversation of multi_turn, and mistakes are named.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy = require "rooflua.policy"
local MultiTurn = require "workloads.multi_turn"
local serve, json = rooflua.serve, rooflua.json

--- A workload whose requests(rng) returns this table, made by `make`.
local function workload(make)
  local class = policy.define { name = "plays_of_a_test", doc = "Plays of a test.", params = {} }
  function class:requests(rng) return make(rng) end -- luacheck: ignore 212
  return class {}
end

local function scenario(given, more)
  return scene({ seed = 3, workload = given,
    steps = require "steps.roofline_v1" {}, deployment = { kv_blocks = 4000 } }, more)
end

local still = { exponential = function() return 1.2375 end }

--- The requests of multi_turn with pauses of one length: its draws would be in another order.
local function turns_of(parameters, rng)
  local source = MultiTurn(parameters):requests(rng)
  source.thinking = still
  return source
end

--- The conversations of multi_turn as plays: a request that is answered at once gives the next one, with its pause.
local function conversations(parameters)
  return workload(function(rng)
    local source = turns_of(parameters, rng)
    return {
      shares_content = true, source = source,
      plays = function(state)
        local at, prompt, output, fields = state.source.next(state.source)
        if not at then return nil end
        local play, before = { arrival_s = at, rows = {} }, 0
        local pause
        while at do
          local row = { prompt_tokens = prompt, output_tokens = output, content = {} }
          for key, value in pairs(fields) do row[key] = value end
          row.content = {}
          for i, segment in ipairs(fields.content) do row.content[i] = { segment[1], segment[2] } end
          if before > 0 then row.parents = { { row = before, event = "done", delay_s = pause } } end
          before = before + 1
          play.rows[before] = row
          at, prompt, output, fields = state.source.done(state.source, 0, fields.session, 0, true)
          pause = at
        end
        return play
      end,
    }
  end)
end

local parameters = { sessions = 30, session_rate_per_s = 2, turns = 4, think_time_s = 1.5, system_tokens = 200,
  prompt_tokens = 100, output_tokens = 40 }

local function columns(given)
  local run = serve.open(given)
  run:run()
  local result = run:result()
  result.summary.plays = nil
  return json.encode { result.summary, result.requests }
end

for name, more in pairs { alone = {},
  ["behind a frontend"] = { frontend = { base_s = 0.01, per_output_token_s = 1e-4 } },
  ["two replicas"] = { replicas = 2, router = require "routers.prefix_affinity" {} } } do
  test("a chain with delays is multi_turn byte for byte: " .. name, function()
    local multi_turn = workload(function(rng) return turns_of(parameters, rng) end)
    test.equal(columns(scenario(conversations(parameters), more)), columns(scenario(multi_turn, more)))
  end)
end

test("the summary of a run with plays has their metrics, and no other run has", function()
  local given = conversations(parameters)
  local run = serve.open(scenario(given))
  run:run()
  local summary = run:result().summary
  local plays = summary.plays
  test.equal(plays.completed, 30)
  test.equal(plays.play_turns.mean, 4)
  test.near(plays.reuse, summary.cached_tokens / summary.prompt_tokens, 1e-12)
  test.near(plays.reuse_ideal, plays.reuse, 0.05, "the cache holds all of it")
  local sum = 0
  for _, part in ipairs { "queue_s", "load_s", "prefill_s", "decode_s", "tool_s" } do sum = sum + plays[part].mean end
  test.near(sum, plays.play_s.mean, 1e-9)
  test.near(plays.tool_s.mean, 3 * 1.2375, 1e-9)
  local plain = serve.open(scenario(MultiTurn(parameters)))
  plain:run()
  test.equal(plain:result().summary.plays, nil)
end)

test("done may return a list of requests", function()
  local function made(answer)
    local run = serve.open(scenario(workload(function()
      return { sent = 0, next = function(state)
        if state.sent > 0 then return nil end
        state.sent = 1
        return 0, 100, 10
      end, done = answer }
    end)))
    run:run()
    return run:result().summary
  end
  local function three(state, now_s)
    if state.sent > 1 then return nil end
    state.sent = 4
    return { { now_s, 50, 5 }, { now_s + 1, 60, 6 }, { now_s + 1, 70, 7, { class = 1 } } }
  end
  test.equal(made(three).completed, 4)
  test.raises("its entry 1 is", function() made(function() return { 7 } end) end)
end)

local function plays_of(list, state)
  return workload(function()
    local out = { lanes = 1, at = 0, plays = function(own)
      own.at = own.at + 1
      return list[own.at]
    end }
    for key, value in pairs(state or {}) do out[key] = value end
    return out
  end)
end

local function runs(list, state)
  local run = serve.open(scenario(plays_of(list, state)))
  run:run()
  return run:result()
end

local function row(more)
  local out = { prompt_tokens = 100, output_tokens = 10 }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

test("mistakes name play, row and field", function()
  for message, list in pairs {
    ["play 2: row 1: unknown field 'output_token'"] = { { rows = { row() } }, { rows = { row { output_token = 3 } } } },
    ["play 1: row 2: parents[1].row: there is no row 7; the play has 2"] =
      { { rows = { row(), row { parents = { { row = 7 } } } } } },
    ["play 1: row 2: parents[1]: unknown event 'dome'"] =
      { { rows = { row(), row { parents = { { row = 1, event = "dome" } } } } } },
    ["play 1: row 1: prompt_tokens: expected a whole number >= 1"] = { { rows = { row { prompt_tokens = 0 } } } },
    ["play 1: rows: expected a list"] = { {} },
    ["play 1: unknown field 'row'"] = { { row = {} } },
    ["play 1: arrival_s: expected none"] = { { arrival_s = 1, rows = { row() } } },
    ["play 1: row 1: parents: the row waits for itself"] =
      { { rows = { row { parents = { { row = 2 } } }, row { parents = { { row = 1 } } } } } },
    ["does not say shares_content"] = { { rows = { row { content = { { 1, 100 } } } } } },
  } do
    test.raises(message, function() runs(list) end)
  end
  test.raises("add up to 90 tokens", function()
    runs({ { rows = { row { content = { { 1, 90 } } } } } }, { shares_content = true })
  end)
end)

test("rows after a request that failed are left out and counted", function()
  local result = runs { { rows = { row { prompt_tokens = 200000 }, row { parents = { { row = 1 } } } } } }
  test.equal(result.summary.requests, 1)
  test.check(json.encode(result.left_out):find("after a request that failed", 1, true), json.encode(result.left_out))
end)

test("a prefix of an earlier row is its content", function()
  local first = { { 1, 64 }, { 2, 32 } }
  local function reuse(second)
    return runs({ { rows = { row { prompt_tokens = 96, content = first },
      second } } }, { shares_content = true }).summary.cached_tokens
  end
  local parents = { { row = 1, event = "done" } }
  local whole = row { prompt_tokens = 112, content = { { 1, 64 }, { 2, 32 }, { 3, 16 } }, parents = parents }
  local by_prefix = row { prompt_tokens = 112, prefix = { row = 1 }, content = { { 3, 16 } }, parents = parents }
  test.equal(reuse(by_prefix), reuse(whole))
  test.at_least(reuse(whole), 96)
end)

test.finish()
