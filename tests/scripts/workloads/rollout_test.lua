-- Rollouts whose answers are counted by hand: what a batch waits for, and what becomes of the rest of it.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy = require "rooflua.policy"
local Rollout = require "workloads.rollout"
local serve, json = rooflua.serve, rooflua.json

--- Every third prompt is filtered, beginning with the first.
local function filter(own)
  own.drawn = own.drawn + 1
  return own.drawn % 3 == 1 and 0.1 or 0.9
end

--- Rollouts whose answers have these lengths, one after the other.
local function rollouts(parameters, lengths)
  local class = policy.define { name = "listed_rollouts", doc = "Rollouts of a test.", params = {} }
  function class:requests(rng) -- luacheck: ignore 212
    local state = Rollout(parameters):requests(rng)
    state.lengths, state.drawn = lengths, 0
    state.outputs = state
    if state.filtered_share > 0 then state.filters = { drawn = 0, uniform = filter } end
    state.output = function(own)
      own.drawn = own.drawn % #own.lengths + 1
      return own.lengths[own.drawn]
    end
    return state
  end
  return class {}
end

--- All that is sent at once is computed in one step, and every answer gets a token in each step.
local function opened(parameters, lengths, more)
  local with = { prompts = 2, samples = 1, batches = 2, over_sampling = 1.5, prompt_tokens = 100 }
  for key, value in pairs(parameters) do with[key] = value end
  local scenario = scene({ seed = 3, workload = rollouts(with, lengths),
    scheduler = require "schedulers.vllm_v1" { max_num_batched_tokens = 8192 },
    steps = require "steps.roofline_v1" {}, deployment = { kv_blocks = 4000, block_size = 16 } }, more)
  return serve.open(scenario)
end

local function ran(...)
  local run = opened(...)
  run:run()
  return run:result()
end

local function check(result, expected)
  local summary = result.summary
  test.equal(summary.requests, expected.requests, "requests")
  test.equal(summary.completed, expected.completed, "completed")
  test.equal(summary.failed and summary.failed.cancelled, expected.cancelled, "cancelled")
  test.equal(summary.wasted_prompt_tokens, expected.wasted_prompt, "wasted prompt tokens")
  test.equal(summary.wasted_output_tokens, expected.wasted_output, "wasted output tokens")
  test.equal(summary.output_tokens, expected.output, "output tokens")
  if expected.prompt then test.equal(summary.prompt_tokens, expected.prompt, "prompt tokens") end
  if expected.cached then test.equal(summary.cached_tokens, expected.cached, "cached tokens") end
end

test("the rest finishes beside the next batch", function()
  check(ran({ rest = "finish" }, { 2, 4, 10 }), { requests = 6, completed = 6, output = 32, prompt = 600, cached = 0 })
end)

test("the rest is dropped when two prompts of three are answered", function()
  -- With the fourth token two answers are whole; the third has four of ten.
  check(ran({ rest = "drop" }, { 2, 4, 10 }), { requests = 6, completed = 4, cancelled = 2, wasted_prompt = 200,
    wasted_output = 8, output = 12, prompt = 400, cached = 0 })
end)

test("the rest is continued after what it has, and takes the place of a prompt", function()
  -- The third answer stops with 4 of 5. The second batch sends it, 104 tokens long, and two new prompts, for 2 and 4
  -- tokens. It ends with the first step, and the answer of 2 with the second; that of 4 has 2 then.
  local expected = { requests = 6, completed = 4, cancelled = 2, wasted_prompt = 200, wasted_output = 6,
    output = 2 + 4 + 1 + 2, prompt = 100 + 100 + 104 + 100, cached = 0 }
  local result = ran({ rest = "continue" }, { 2, 4, 5 })
  check(result, expected)
  test.check(table.concat(result.notes, "\n"):find("4 tokens of answers that were aborted went on", 1, true),
    table.concat(result.notes, "\n"))
  expected.cached = 96 -- whole blocks of the 104 tokens, of which 103 are left from the first batch
  expected.wasted_prompt = 200
  check(ran({ rest = "continue", keep_kv = true }, { 2, 4, 5 }), expected)
end)

test("a batch needs whole prompts, or as many answers", function()
  -- Of 3 prompts with 2 answers each the second and the third are whole with the fourth token. The answer of 9 tokens
  -- has 4; the answers of one prompt share its KV.
  local lengths = { 2, 9, 3, 3, 4, 4 }
  check(ran({ samples = 2, batches = 1, rest = "drop" }, lengths), { requests = 6, completed = 5, cancelled = 1,
    wasted_prompt = 4, wasted_output = 4, output = 16 })
  -- Four answers are there with the first of two that end together; the other one has ended, too.
  check(ran({ samples = 2, batches = 1, rest = "drop", whole_prompts = false }, lengths), { requests = 6, completed = 5,
    cancelled = 1, wasted_prompt = 4, wasted_output = 4, output = 16 })
  -- The second prompt has no whole answer yet when four answers of the two others are there.
  lengths = { 3, 3, 5, 9, 4, 4 }
  check(ran({ samples = 2, batches = 1, rest = "drop", whole_prompts = false }, lengths), { requests = 6, completed = 4,
    cancelled = 2, wasted_prompt = 104, wasted_output = 8, output = 14 })
end)

test("an answer that is continued twice gets all its tokens once", function()
  local result = ran({ batches = 5, prompts = 1, over_sampling = 2, rest = "continue" }, { 1, 7, 2, 3, 1 })
  -- Batch 1: 1, and 1 of 7. Batch 2: 6 are left, and 2: 2 more. Batch 3: 4 are left, and 3: 3 more. Batch 4: 1 is left,
  -- and 1: both end. Batch 5: 1, and 1 of 7.
  check(result, { requests = 10, completed = 6, cancelled = 4, wasted_prompt = 400 + 1 + 3, wasted_output = 7,
    output = 1 + 2 + 3 + 1 + 1 + 1 })
end)

test("a limit holds for the whole answer, and a budget for one batch", function()
  check(ran({ batches = 2, rest = "continue", max_output_tokens = 3 }, { 1, 2, 9 }), { requests = 6, completed = 4,
    cancelled = 2, wasted_prompt = 200, wasted_output = 3, output = 1 + 2 + 1 + 1 })
  local result = ran({ batches = 2, over_sampling = 1, budget_tokens = 4 }, { 3, 9 })
  check(result, { requests = 5, completed = 5, output = 3 + 4 + 4 + 3 + 4 })
  test.equal(result.left_out.total or result.left_out[1].total, 4)
end)

test("prompts that are filtered do not count, and more are sent when too few are under way", function()
  -- The first prompt is filtered with its second token. One is under way, and two are needed: two more are sent. With
  -- the fourth token of the third prompt two count, and the fourth has 4 of 5.
  local given = { batches = 1, over_sampling = 1, filtered_share = 0.5 }
  check(ran(given, { 2, 3, 4, 5 }), { requests = 4, completed = 4, output = 14 })
  given.rest = "drop"
  check(ran(given, { 2, 3, 4, 5 }), { requests = 4, completed = 3, cancelled = 1, wasted_prompt = 100,
    wasted_output = 4, output = 9 })
  -- Of three that are sent one is filtered: two are under way, as many as are needed.
  given.over_sampling = 1.5
  check(ran(given, { 2, 3, 4, 5 }), { requests = 3, completed = 3, output = 9 })
end)

test("behind a frontend the client aborts when it sees the last token, and a fork goes on in the same way", function()
  local late = { frontend = { per_output_token_s = 10 } } -- all answers have ended by then
  check(ran({ rest = "drop" }, { 2, 4, 10 }, late), { requests = 6, completed = 6, output = 32 })
  for _, rest in ipairs { "drop", "continue" } do
    local run = opened({ rest = rest, batches = 4, samples = 3 }, { 20, 41, 80, 13, 55 })
    local forks = {}
    for i = 1, 12 do
      run:step(9)
      forks[i] = run:fork()
    end
    run:run()
    for _, fork in ipairs(forks) do
      fork:run()
      test.equal(json.encode(fork:result().summary), json.encode(run:result().summary))
    end
  end
end)

test("what would change nothing is refused", function()
  test.raises("workload.rest: without over_sampling",
    function() opened({ rest = "drop", over_sampling = 1 }, { 1 }) end)
  test.raises("workload.filtered_share: prompts are filtered",
    function() opened({ filtered_share = 0.1, whole_prompts = false }, { 1 }) end)
  test.raises("workload.keep_kv: no answer is continued", function() opened({ keep_kv = true }, { 1 }) end)
end)

test("a workload cancels sessions: what is no session is refused, and cancels needs done", function()
  local function run_of(state)
    local class = policy.define { name = "cancelling", doc = "Cancels.", params = {} }
    function class:requests() return state end -- luacheck: ignore 212
    local run = serve.open { model = "llama-3.1-8b", hardware = "h100-sxm", workload = class {},
      steps = require "steps.roofline_v1" {} }
    run:run()
    return run:result()
  end
  local function state(session, more)
    local out = { sent = 0, told = false, next = function(own)
      own.sent = own.sent + 1
      if own.sent < 4 then return 0, 100, 10 * own.sent, { session = own.sent } end
    end, done = function() end, cancels = function(own)
      if own.told then return nil end
      own.told = true
      return session
    end }
    for key, value in pairs(more or {}) do out[key] = value end
    return out
  end
  test.equal(run_of(state(3)).summary.failed.cancelled, 1)
  test.equal(run_of(state(9)).summary.completed, 3, "a session that there is not")
  test.raises("cancels: expected the number of a session", function() run_of(state "three") end)
  test.raises("cancels: expected the number of a session", function() run_of(state(1.5)) end)
  local without = state(3)
  without.done = nil
  test.raises("a table with cancels and without done", function() run_of(without) end)
  test.raises("classes: expected a list of names", function() run_of(state(3, { classes = "chat" })) end)
end)

test.finish()
