-- Replicates of intervals that are read between a few simulations (validate/response.lua).
local test = dofile "tests/scripts/harness.lua"
local response = require "rooflua.validate.response"

--- A run whose steps are 75 % op "a" and 25 % op "b". Its E2E grows with the 1.5th power of the factor of steps, and
--- a budget of 2048 tokens makes it twice as long. Simulations are counted.
local function world()
  local count = { simulations = 0, budgets = {} }
  local function simulate(twist)
    count.simulations = count.simulations + 1
    count.budgets[twist.budget or 0] = (count.budgets[twist.budget or 0] or 0) + 1
    local factor
    for i = 1, 1000 do
      local batch = { prefills = { { new_tokens = 10, context_tokens = 3 } }, decodes = i,
        decode_context_tokens = 7 * i }
      factor = twist.correction:step(batch, 1)
    end
    test.near(factor, twist.step, 1e-15, "the factor of steps is that of the correction")
    local e2e_s = (twist.budget == 2048 and 4 or 2) * factor ^ 1.5
    return { e2e_mean = e2e_s, ttft_mean = 0.5 * factor, tpot_mean = 0.01 * factor, throughput = 8 / e2e_s }
  end
  return simulate, count
end

--- What the step model says about a step; op "a" runs three times as long.
local function explain(batch)
  local prefill = batch.prefills[1]
  test.check(#batch.prefills == 1 and prefill.new_tokens == 10 and prefill.context_tokens == 3
    and batch.decode_context_tokens == 7 * batch.decodes, "the step is kept as it was")
  return { { name = "a", kind = "gemm", evidence = "measured", time_s = 0.001, count = 3 },
    { name = "b", kind = "gemm", evidence = "assumed", time_s = 0.001, count = 1 } }
end

local function figures(twists, simulate, more)
  local about = { frontend_s = 0, closed_loop = false, explain = explain }
  for key, value in pairs(more or {}) do about[key] = value end
  return response.figures(twists, simulate, about)
end

--- Replicates with these factors of op "a".
local function twists_of(factors, more)
  local out = {}
  for i, value in ipairs(factors) do
    out[i] = { step = 1, frontend = 1, factor = function(name) return name == "a" and value or 1 end }
    for key, other in pairs(more or {}) do out[i][key] = other end
  end
  return out
end

test("a replicate's figures are those of steps that are longer by its factor", function()
  local simulate, count = world()
  local factors = {}
  for i = 1, 40 do factors[i] = 0.6 + 0.02 * i end
  local found = figures(twists_of(factors), simulate, { closed_loop = true })
  test.equal(count.simulations, response.nodes + 1, "one run for the shares, and one per node")
  for i, value in ipairs(factors) do
    local factor = 0.75 * value + 0.25 -- shares of the time of the steps
    test.near(found[i].e2e_mean, 2 * factor ^ 1.5, 1e-9, "power laws are met exactly")
    test.near(found[i].tpot_mean, 0.01 * factor, 1e-9)
    test.near(found[i].throughput, 4 / factor ^ 1.5, 1e-9)
  end
end)

test("the factor of all steps multiplies those of the ops", function()
  local simulate = world()
  local found = figures(twists_of({ 1, 1.2 }, { step = 1.1 }), simulate)
  test.near(found[1].tpot_mean, 0.011, 1e-9)
  test.near(found[2].tpot_mean, 0.01 * 1.1 * (0.75 * 1.2 + 0.25), 1e-9)
end)

test("the steps that are taken apart are spread over the run", function()
  local simulate, asked = world(), {}
  figures(twists_of { 1 }, simulate, { explain = function(batch)
    asked[#asked + 1] = batch.decodes
    return explain(batch)
  end })
  test.check(#asked >= 32 and #asked < 64, "%d of 1,000 steps", #asked)
  test.check(asked[1] <= 32 and asked[#asked] > 950, "from %d to %d", asked[1], asked[#asked])
end)

test("budgets have runs of their own; equal factors need one", function()
  local simulate, count = world()
  local twists = twists_of { 1, 1.1, 1.2, 1.3, 1, 1 }
  twists[5].budget, twists[6].budget = 2048, 2048
  local found = figures(twists, simulate)
  test.equal(count.budgets[2048], 1)
  test.near(found[5].e2e_mean, 4, 1e-9)
  test.near(found[1].e2e_mean, 2, 1e-9)
end)

test("the front-end delays the first token and the end, and in a closed loop the next request", function()
  local simulate = world()
  for _, closed in ipairs { true, false } do
    local one = figures(twists_of({ 1 }, { frontend = 3 }), simulate, { frontend_s = 0.25, closed_loop = closed })[1]
    test.near(one.ttft_mean, 0.5 + 0.5, 1e-12)
    test.near(one.e2e_mean, 2 + 0.5, 1e-12)
    test.near(one.tpot_mean, 0.01, 1e-12, "no token waits for it")
    test.near(one.throughput, closed and 8 / 2.5 or 4, 1e-12)
  end
end)

test.finish()
