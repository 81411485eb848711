-- The arithmetic of measured clusters: errors, caps, gains, noise, means over deployments.
local test = dofile "tests/scripts/harness.lua"
local score = require "rooflua.validate.clusters.score"
local totals = require "rooflua.validate.clusters.totals"

local ln = math.log

test("an error is the logarithm of a ratio, the same for half and double, and never above ln 10", function()
  test.near(score.error(2, 1), ln(2), 1e-12)
  test.near(score.error(1, 2), ln(2), 1e-12)
  test.equal(score.error(3, 3), 0)
  for _, simulated in ipairs { 1000, 0.001, 0, -1, 0 / 0, math.huge } do
    test.equal(score.error(simulated, 1), ln(10), tostring(simulated))
  end
  test.equal(score.error(nil, 1), ln(10))
  test.near(score.shown(ln(1.25)), 0.25, 1e-12)
end)

local function sides(treatment, reference) return { throughput = treatment }, { throughput = reference } end

local function gain(kind, measured, simulated)
  local mt, mr = sides(measured[1], measured[2])
  local st, sr = sides(simulated[1], simulated[2])
  return score.gains(kind, { measured = mt, simulated = st }, { measured = mr, simulated = sr })[1]
end

test("the error of a gain is the difference of two gains", function()
  local one = gain("tiers", { 150, 100 }, { 30, 10 })
  test.near(one.error, ln(2), 1e-12)
  test.equal(one.is_right, true)
  test.near(gain("tiers", { 150, 100 }, { 10, 30 }).error, ln(4.5), 1e-12)
  test.equal(gain("tiers", { 150, 100 }, { 10, 30 }).is_right, false)
end)

test("gains within the noise are none on both sides, and small ones have no direction", function()
  local one = gain("tiers", { 103, 100 }, { 100, 102 })
  test.equal(one.error, 0)
  test.equal(one.is_right, nil)
  test.near(gain("agents", { 103, 100 }, { 100, 100 }).error, ln(1.03), 1e-9, "agents repeat within 0.5 percent")
  test.equal(gain("tiers", { 108, 100 }, { 108, 100 }).is_right, nil)
end)

test("a pair of which one side did not run is wrong", function()
  local one = score.gains("tiers", { measured = { ttft = 2 }, simulated = {} },
    { measured = { ttft = 1 }, simulated = { ttft = 1 } })[1]
  test.equal(one.error, ln(10))
  test.equal(one.is_right, false)
end)

test("deployments have the same weight, whatever the number of their rows", function()
  local list = { { deployment = "a", value = 1 }, { deployment = "a", value = 3 }, { deployment = "b", value = 6 } }
  test.near((score.over_deployments(list)), 4, 1e-12)
  local figures = score.figures(list)
  test.near(figures.mean, math.exp(4) - 1, 1e-12)
  test.near(figures.median, math.exp(3) - 1, 1e-12)
  test.equal(figures.rows, 3)
end)

local function row(more)
  local out = { id = "x", kind = "tiers", deployment = "d", pair = "p", arm = "cpu", arm_role = "treatment",
    quality = "A", counts = true, measured = { total_tok_s = 120, ttft_mean_s = 1 } }
  for name, value in pairs(more) do out[name] = value end
  return out
end

test("rows of quality C and D, and pairs with them, stand beside", function()
  local answers = {
    totals.answer(row { arm_role = "reference", measured = { total_tok_s = 100, ttft_mean_s = 2 } },
      { total_tok_s = 100, ttft_mean_s = 2 }),
    totals.answer(row { id = "y" }, { total_tok_s = 120, ttft_mean_s = 1 }),
    totals.answer(row { id = "z", quality = "C", counts = false }, nil, "cannot"),
  }
  local of = totals.document(answers).tiers
  test.equal(of.rows, 2)
  test.equal(of.gain.pairs, 1)
  test.near(of.gain.error, 0, 1e-12)
  test.equal(of.gain.direction, 1)
  test.equal(of.beside.rows, 1)
  test.equal(of.beside.gain.pairs, 1)
  test.near(of.beside.all.mean, 9, 1e-9)
  test.equal(of.beside.gain.direction, 0)
  test.equal(totals.document(answers).routers, nil, "a kind without rows is absent")
end)

test("a row is compared in the first of the columns that have a metric", function()
  local answer = totals.answer(row { measured = { requests_s = 3, output_tok_s = 7, e2e_p50_s = 4 } },
    { requests_s = 30, output_tok_s = 7, e2e_p50_s = 2, e2e_mean_s = 100 })
  test.equal(answer.errors.throughput, 0)
  test.near(answer.errors.e2e, ln(2), 1e-12)
  test.equal(answer.errors.ttft, nil)
end)

test.finish()
