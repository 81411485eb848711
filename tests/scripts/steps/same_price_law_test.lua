-- One price: of every step of random runs, a run, its explanation, a list of batches (kind "price") and what programs
-- ask (rooflua.machine.prices.time) have the same one, whichever corrections apply and whoever brings them.
local cost = require "rooflua.cost"
local ledger = require "rooflua.border.ledger"
local laws = dofile "tests/scripts/steps/work_laws.lua"
local policy = require "rooflua.policy"
local Prepared = require "rooflua.machine.prepared"
local prices = require "rooflua.machine.prices"
local Reader = require "rooflua.scenario.reader"
local serve = require "rooflua.serve"
local test = dofile "tests/scripts/harness.lua"

local function near(found, wanted) return math.abs(found - wanted) <= 1e-9 * wanted end

local corrections = {
  function(roll) return require "corrections.launch_overhead" { launch_s = roll.upto(1, 50) * 1e-6 } end,
  function(roll) return require "corrections.decode_multiplier" { multiplier = roll.upto(2, 5) / 2 } end,
  function() return require "corrections.prefill_divisor" { divisor = 1.8 } end,
  function() return require "corrections.bandwidth_efficiency" { efficiency = 0.8 } end,
  function() return require "corrections.network" { latency_s = 5e-6 } end,
  function() return require "corrections.step_overhead" { overhead_s = 1e-3 } end,
}

local function scenario(seed)
  local given, roll = laws.scenario(seed)
  given.corrections = {}
  for i = 1, roll.upto(0, 2) do given.corrections[i] = roll.one(corrections)(roll) end
  given.deployment.pp = nil -- between stages a step is sent, which a list of batches counts, too
  -- Prompts as long as a step's budget, a token shorter or longer, and short ones.
  local budget = roll.one { 512, 2048, 8192 }
  given.deployment.max_num_batched_tokens = budget
  local prompt = roll.one { budget - 1, budget, budget + 1, 2 * budget, roll.upto(1, 3000) }
  given.workload = require "workloads.constant" { rate_per_s = roll.octave(20), num_requests = 6,
    prompt_tokens = prompt, output_tokens = roll.upto(1, 12) }
  return given
end

--- The batch of a step that has ended.
local function batch_of(step)
  local contexts, prefills = {}, {}
  for i, context in ipairs(step.decode_contexts) do contexts[i] = context end
  for i, each in ipairs(step.prefill_work) do
    prefills[i] = { new_tokens = each.new_tokens, context_tokens = each.context_tokens, completes = each.completes,
      left_tokens = each.left_tokens }
  end
  return cost.batch { prefills = prefills, decode_contexts = contexts, decode_widths = step.decode_widths,
    draft_rows = step.draft_rows, draft_tokens = step.draft_tokens, draft_passes = step.draft_passes,
    group = step.group }
end

--- Every step of a run: its batch and its prices as it ran and as it is explained.
local function steps_of(given)
  local live, out = serve.open(given), {}
  while live:step(1) do
    local step = live:last_step(1)
    if step and step.end_s == live.now_s and step.prefill_tokens + step.decodes > 0 then -- an idle rank has no price
      local explained = live:explain(1)
      out[#out + 1] = { batch = batch_of(step), ran = explained.was_s, explained = explained.time_s }
    end
  end
  live:close()
  return out
end

--- The first disagreement, or nil.
local function disagreement(given)
  local list, alone = steps_of(given), {}
  for key, value in pairs(given) do alone[key] = value end
  alone.workload, alone.replicas = nil, nil
  local prepared = Prepared.of(Reader.new "test", alone)
  local bound = { steps = Prepared.steps(prepared) }
  for i = #list, 1, -1 do -- in another order than the run has: what is remembered must not matter
    local step = list[i]
    local others = { explained = step.explained, listed = prices.price_batch(prepared, bound, step.batch).time_s,
      asked = prices.time(prepared, bound, step.batch) }
    others.again = prices.time(prepared, bound, step.batch)
    for what, time_s in pairs(others) do
      if not near(time_s, step.ran) then
        return ("a step of %d tokens ran %.9g s, %s %.9g s"):format(step.batch.tokens, step.ran, what, time_s), #list
      end
    end
  end
  return nil, #list
end

test("a step has one price, whoever asks for it", function()
  local steps, runs, refused, seed = 0, 0, 0, 5000
  while runs < 60 do
    seed = seed + 1
    local given = scenario(seed)
    local ok, problem, count = pcall(disagreement, given)
    if ok then
      runs, steps = runs + 1, steps + count
      test.equal(problem, nil, ("seed %d (%s on %s, %s, %s): %s"):format(seed, given.model, given.hardware,
        given.engine, given.steps.name, tostring(problem)))
    else
      refused = refused + 1
      if refused > 600 then error(problem, 0) end
    end
  end
  print(("%d steps of %d runs; %d scenarios refused"):format(steps, runs, refused))
end)

--- Each replica is priced by its own engine, whose rules bring corrections, and not by that of the first one.
test("replicas of two engines have the prices that each has alone", function()
  local function of(list)
    local live = serve.open { rooflua = 1, seed = 1, model = "llama-3.1-70b", hardware = "h200-sxm", replicas = list,
      router = require "routers.round_robin" {}, workload = require "workloads.constant" { rate_per_s = 0.05,
        num_requests = 2, prompt_tokens = 1000, output_tokens = 40 } }
    live:run()
    local out = {}
    for _, request in ipairs(live:ended()) do out[list[request.replica].engine] = request.e2e_s end
    return out
  end
  local sglang = { engine = "sglang 0.5.9", deployment = { tp = 8 } }
  local vllm = { engine = "vllm 0.19", deployment = { tp = 8 } }
  local one, other = of { sglang, vllm }, of { vllm, sglang }
  for _, engine in ipairs { "sglang 0.5.9", "vllm 0.19" } do test.near(one[engine], other[engine], 1e-12) end
end)

-- What a file remembers outlives a variant: its prices belong to the corrections under which they were remembered.
test("a price that is remembered under some corrections is not used under others", function()
  local asked = 0
  local remembered = cost.memoize(function(tokens)
    asked = asked + 1
    return cost.record("op", tokens, "modelled")
  end)
  local function under(list) return ledger.with_corrections(list, remembered, 5) end
  local Twice = policy.define { name = "twice", doc = "Twice as long.", params = {} }
  function Twice:op(_, time_s) return 2 * time_s end -- luacheck: ignore self
  local twice, four = { Twice {} }, { Twice {}, Twice {} }
  for _ = 1, 3 do
    test.equal(under {}, 5)
    test.equal(under(twice), 10)
    test.equal(under(four), 20)
  end
  test.equal(asked, 3)
end)

test("what corrections of an engine's rule add is assumed; those of the scenario leave the evidence", function()
  local function shares(given)
    given.rooflua, given.model, given.hardware = 1, "llama-3.1-70b", "h200-sxm"
    given.engine, given.deployment = given.engine or "sglang 0.5.9", { tp = 8 }
    local prepared = Prepared.of(Reader.new "test", given)
    local batch = cost.batch { decodes = 16, decode_context_tokens = 32768 }
    local priced, unasked_s = prices.price_batch(prepared, { steps = Prepared.steps(prepared) }, batch), 0
    for _, row in ipairs(priced.rows) do
      if row.name == "norm_apart" then
        unasked_s = unasked_s + row.time_s * row.count
        test.equal(row.evidence, "assumed")
      end
    end
    return priced.evidence.assumed, unasked_s / priced.time_s
  end
  local with, part = shares {}
  test.equal(part > 0.1, true)
  local without = shares { engine = "vllm 0.19" }
  test.equal(with > part and with < part + without + 0.05, true)
end)

test.finish()
