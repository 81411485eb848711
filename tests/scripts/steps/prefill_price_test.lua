-- What computing a part of a prompt takes, alone: the steps of its chunks.
local test = dofile "tests/scripts/harness.lua"
local cost = require "rooflua.cost"
local prefill_price = require "rooflua.serving.prefill_price"

--- A step model of a constant, a time per token and one per pair of tokens; it counts what it is asked.
local function model()
  local asked = 0
  return { time = function(_, batch)
    asked = asked + 1
    local time_s = 0.001
    for i = 1, #batch.prefills do
      local each = batch.prefills[i]
      time_s = time_s + 1e-5 * each.new_tokens + 1e-9 * each.new_tokens * each.context_tokens
    end
    cost.record("step", time_s, "assumed")
    return time_s
  end, asked = function() return asked end }
end

test("a part that fits into a step takes that step", function()
  local price = prefill_price.of(model(), 1000)
  test.near(price(500, 0), 0.001 + 0.005, 1e-12)
  test.near(price(500, 2000), 0.001 + 0.005 + 0.001, 1e-12)
  test.equal(price(0, 5000), 0)
end)

test("a longer one takes a step for each chunk, each after the one before", function()
  local price = prefill_price.of(model(), 1000)
  test.near(price(2500, 100), price(1000, 100) + price(1000, 1100) + price(500, 2100), 1e-12)
  test.near(price(2000, 0), price(1000, 0) + price(1000, 1000), 1e-12)
  test.near(prefill_price.of(model(), 0)(2500, 100), 0.001 + 0.025 + 1e-9 * 2500 * 100, 1e-12)
end)

test("prices are remembered for all that share a step model", function()
  local steps = model()
  prefill_price.of(steps, 1000)(2500, 0)
  local asked = steps.asked()
  prefill_price.of(steps, 1000)(2500, 0)
  test.equal(steps.asked(), asked)
  test.equal(asked, 3)
end)

test.finish()
