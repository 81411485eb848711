-- Curves of acceptance: what the engine draws with, from what engines publish.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy, random = rooflua.policy, rooflua.random
local curves = require "acceptance.curves.spread"

local function of(name, parameters) return policy.fresh(require("acceptance." .. name)(parameters)) end

local streams = random.streams(7)
local function curve(instance, id)
  return instance:curve({ id = id or 0 }, streams:stream("acceptance.curve", id or 0))
end

--- S_1, S_2, .. of a curve.
local function survival(shares)
  local out, product = {}, 1
  for j, share in ipairs(shares) do
    product = product * share
    out[j] = product
  end
  return out
end

test("published rates are shares of all rounds; curves are shares of the rounds that came so far", function()
  local shares = curve(of("per_position", { rates = { 0.6, 0.3, 0.15, 0, 0 } }))
  for j, expected in ipairs { 0.6, 0.5, 0.5, 0, 0 } do test.near(shares[j], expected, 1e-12, "a_" .. j) end
end)

test("a list that rises is refused, because it is not of all rounds", function()
  local wrong = of("per_position", { rates = { 0.6, 0.5, 0.55 } })
  test.raises("per_position.rates[3]: 0.55 is more than the 0.5 before it", function() curve(wrong) end)
  test.raises("per_position.rates[1]: expected a share", function() curve(of("per_position", { rates = { 1.5 } })) end)
end)

test("every request gets the same table where requests do not differ", function()
  for name, parameters in pairs { per_position = {}, constant = {}, golden = {}, synthetic = {} } do
    local instance = of(name, parameters)
    test.equal(curve(instance, 1), curve(instance, 2), name)
  end
end)

test("requests that differ have the published shares in the mean", function()
  local rates = { 0.6, 0.36, 0.17 }
  local instance, sums, n = of("per_position", { rates = rates, spread = 1 }), { 0, 0, 0 }, 20000
  for id = 1, n do
    for j, value in ipairs(survival(curve(instance, id))) do sums[j] = sums[j] + value / n end
  end
  for j, rate in ipairs(rates) do test.near(sums[j], rate, 0.02, "S_" .. j) end
end)

test("shifts keep shares of 0 and 1", function()
  local shifts = curves.shifts({ 1, 0.5, 0 }, 0.7)
  local drawn = curves.drawn(curves.conditional({ 1, 0.5, 0 }, "x"), shifts, 2)
  test.equal(drawn[1], 1)
  test.equal(drawn[3], 0)
  test.check(drawn[2] > 0.5 and drawn[2] < 1)
end)

test("constant has one share for all drafts", function()
  local shares = curve(of("constant", { rate = 0.25 }))
  test.equal(shares[1], 0.25)
  test.equal(shares[64], 0.25)
end)

test("golden gives the published tokens per round", function()
  -- AL(2) = 2.50 of GLM-5.2, AL(1) = 1.84
  local S = survival(curve(of("golden", { drafter = "glm-5.2" })))
  test.near(1 + S[1], 1.84, 1e-9)
  test.near(1 + S[1] + S[2], 2.50, 1e-9)
end)

test("golden lengths that fall or jump give shares that never rise", function()
  for _, name in ipairs(policy.describe(require "acceptance.golden").params.drafter.values) do
    local before = 1
    for j, value in ipairs(survival(curve(of("golden", { drafter = name })))) do
      test.check(value >= 0 and value <= before + 1e-12, "%s: S_%d = %g after %g", name, j, value, before)
      before = value
    end
  end
end)

test("synthetic accepts whole drafts first and one of them in part", function()
  -- vLLM's example: a length of 2.6 is 1, 0.6, 0
  local shares = curve(of("synthetic", { length = 2.6 }))
  test.equal(#shares, 2)
  test.equal(shares[1], 1)
  test.near(shares[2], 0.6, 1e-12)
  test.equal(#curve(of("synthetic", { length = 1 })), 0)
end)

test("trace repeats its recorded requests in a circle", function()
  local instance = of("trace", { rounds = { { 2, 1 }, { 3 } } })
  test.equal(curve(instance, 0).rounds[1], 2)
  test.equal(curve(instance, 1).rounds[1], 3)
  test.equal(curve(instance, 2), curve(instance, 0))
end)

test("trace reads a column of rounds", function()
  local path = test.file("rounds.csv", 'request,rounds\n0,"2 1 4"\n1,3\n')
  local instance = of("trace", { path = path })
  test.equal(curve(instance, 0).rounds[3], 4)
  test.equal(curve(instance, 1).rounds[1], 3)
  local broken = test.file("broken.csv", "request,rounds\n0,0\n")
  test.raises("rounds: expected whole numbers above 0", function() curve(of("trace", { path = broken })) end)
  test.raises("there is no such file", function() curve(of("trace", { path = "nowhere.csv" })) end)
end)

test("trace refuses rounds without tokens", function()
  test.raises("trace.rounds[1][2]", function() curve(of("trace", { rounds = { { 1, 0 } } })) end)
  test.raises("trace.rounds", function() curve(of("trace", { rounds = {} })) end)
end)

test.finish()
