-- What the engine asks of speculators, acceptance and drafters, and what it refuses.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy, serve = rooflua.policy, rooflua.serve

local Steps = policy.define { name = "one_second", doc = "A step takes a second.", params = {} }
function Steps:time() return 1 end

local Workload = policy.define { name = "few", doc = "Ten requests at once.", params = {
  output_tokens = { default = 20, doc = "Length." } } }
function Workload:requests()
  local sent = 0
  return { next = function()
    sent = sent + 1
    if sent <= 10 then return 0, 100, self.output_tokens end
  end }
end

local function speculator(fields)
  local Class = policy.define { name = "mine", doc = "Mine.", depth = fields.depth or 3, params = {} }
  for name, method in pairs(fields) do if type(method) == "function" then Class[name] = method end end
  if not fields.drafts then function Class:drafts() return 3 end end
  return Class {}
end

local function acceptance(curve, fields)
  local Class = policy.define { name = "theirs", doc = "Theirs.", scope = fields and fields.scope, params = {} }
  function Class:curve(request, rng) return curve(request, rng, self) end
  if fields and fields.accept then Class.accept = fields.accept end
  return Class {}
end

local function raises(part, call, ...)
  local given = { ... }
  test.raises(part, function() call(unpack(given)) end)
end

local function half() return { 0.5, 0.5, 0.5 } end

local function run(speculation, changes)
  local given = { model = "llama-3.1-8b", hardware = "h100-sxm", steps = Steps {}, workload = Workload {}, seed = 4,
    speculation = speculation }
  for key, value in pairs(changes or {}) do given[key] = value end
  return serve.run(given).summary
end

test("a scenario without the key has no block, and one with no drafts lands one token a round", function()
  test.equal(run(nil).speculation, nil)
  local none = run { speculator = speculator { drafts = function() return 0 end }, acceptance = acceptance(half) }
  test.equal(none.speculation.tokens_per_round, 1)
  test.equal(none.speculation.rounds, 190)
  test.equal(none.duration_s, run(nil).duration_s)
end)

test("a speculator sees the batch and the replica, and learns what landed", function()
  local rows, asked = 0, 0
  local summary = run { acceptance = acceptance(half), speculator = speculator {
    drafts = function(_, batch, replica)
      asked = asked + 1
      test.check(batch.requests == batch.decodes + #batch.prefills)
      test.check(batch.decode_tokens >= batch.decodes and #batch.decode_widths == batch.decodes)
      for i = 1, batch.decodes do test.check(batch.decode_contexts[i] >= 100 and batch.decode_widths[i] == 4) end
      test.check(replica.speculates and #replica:waiting() >= 0)
      return 3
    end,
    landed = function(_, seen)
      rows = rows + seen.rows
      test.check(seen.accepted_at[1] + seen.accepted_at[2] + seen.accepted_at[3] == seen.accepted)
    end } }
  test.check(asked > 5)
  test.equal(rows, summary.speculation.rounds)
end)

test("drafts may differ from request to request", function()
  local summary = run { acceptance = acceptance(half), speculator = speculator {
    draft = function(_, request, k) return request.id % 2 == 0 and k or 0 end } }
  test.check(summary.speculation.drafted_tokens < 2 * summary.speculation.rounds)
  test.check(summary.speculation.drafted_tokens > 0)
end)

test("a curve is asked once per request, with the request's own stream", function()
  local first, asked = {}, 0
  local function curve(request, rng)
    asked, first[request.id] = asked + 1, rng:uniform()
    return { 0.5 }
  end
  run { speculator = speculator {}, acceptance = acceptance(curve) }
  local before = first
  first = {}
  run({ speculator = speculator {}, acceptance = acceptance(curve) }, { async_depth = 1 })
  test.equal(asked, 20)
  for id = 0, 9 do test.equal(first[id], before[id]) end
  test.check(first[0] ~= first[1])
end)

test("recorded rounds stand in for draws", function()
  local function recorded() return { rounds = { 4, 1 } } end
  local summary = run({ speculator = speculator {}, acceptance = acceptance(recorded) }, { async_depth = 1 })
  test.equal(summary.speculation.rounds, 70) -- 19 tokens: 4 1 4 1 4 1 4
  test.equal(summary.speculation.overshoot_tokens, 0)
end)

test("accept replaces the draws of the engine, and u gives those of the engine", function()
  local given = { 0.7, 0.6, 0.5 }
  local function own(_, _, drafted, emitted, u)
    for j = 1, drafted do if not (u(emitted + j - 1) < given[j]) then return j - 1 end end
    return drafted
  end
  local as_engine = run { speculator = speculator {}, acceptance = acceptance(function() return given end) }
  local as_script = run { speculator = speculator {},
    acceptance = acceptance(function() return given end, { accept = own }) }
  test.equal(as_script.speculation.accepted_tokens, as_engine.speculation.accepted_tokens)
  test.equal(as_script.e2e_s.mean, as_engine.e2e_s.mean)
end)

test("a fork goes on with the same luck, and what the speculator has learnt", function()
  local live = serve.open { model = "llama-3.1-8b", hardware = "h100-sxm", steps = Steps {}, workload =
    require "workloads.poisson" { rate_per_s = 2, num_requests = 40, prompt_tokens = 50, output_tokens = 30 }, seed = 4,
    speculation = { speculator = "gate", acceptance = "constant" } }
  live:run_until(8)
  local fork = live:fork()
  live:run()
  fork:run()
  test.equal(fork:result().summary.e2e_s.mean, live:result().summary.e2e_s.mean)
end)

test("what is no number of drafts, no curve and no count is refused with the policy's name", function()
  local good = acceptance(half)
  raises("speculator mine: drafts(batch) must return a whole number from 0 to its depth, 3; found number 4",
    run, { speculator = speculator { drafts = function() return 4 end }, acceptance = good })
  raises("found number 0.5", run,
    { speculator = speculator { drafts = function() return 0.5 end }, acceptance = good })
  raises("found nil", run, { speculator = speculator { drafts = function() end }, acceptance = good })
  raises("acceptance theirs: curve(request, rng): entry 2: found number 1.5",
    run, { speculator = speculator {}, acceptance = acceptance(function() return { 0.5, 1.5 } end) })
  raises("must return a list of probabilities; found nil",
    run, { speculator = speculator {}, acceptance = acceptance(function() end) })
  raises("accept(request, drafted, emitted, u) must return a whole number from 0 to drafted",
    run, { speculator = speculator {}, acceptance = acceptance(half, { accept = function() return 9 end }) })
  raises("speculation.acceptance", run, { speculator = speculator {} })
  raises("speculation", run, { speculator = speculator {}, acceptance = good, draft = 3 })
end)

test("slots that the drafter takes leave the budget smaller", function()
  local Drafter = policy.define { name = "greedy", doc = "Takes slots.", reserve = "k", lookahead = "k", params = {} }
  function Drafter:time() return 0 end
  local function with(budget)
    return run({ speculator = speculator {}, acceptance = acceptance(half), drafter = Drafter {} },
      { scheduler = require "schedulers.vllm_v1" { max_num_seqs = 10, max_num_batched_tokens = budget } })
  end
  test.equal(with(100).completed, 10)
  raises("3 tokens of the budget for each of 10 seats", with, 30)
end)

test("whether a drafter needs the last block of a hit is true or false", function()
  local Drafter = policy.define { name = "greedy", doc = "Takes slots.", params = {} }
  function Drafter:time() return 0 end
  for _, value in ipairs { 1, 0, "yes", "false", {} } do
    Drafter.drops_last_hit = value
    raises("speculation.drafter: greedy: drops_last_hit: expected true or false, found", run,
      { speculator = speculator {}, acceptance = acceptance(half), drafter = Drafter {} })
  end
  Drafter.drops_last_hit = true
  test.equal(run { speculator = speculator {}, acceptance = acceptance(half), drafter = Drafter {} }.completed, 10)
end)

test.finish()
