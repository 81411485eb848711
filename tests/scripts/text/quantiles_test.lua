-- Quantiles of values with weights, against the list in which every value stands as often as its weight says.
local test = dofile "tests/scripts/harness.lua"
local quantiles = require "rooflua.quantiles"
local random = require "rooflua.random"

test("a value with weight w counts as w values", function()
  local stream = random.streams(5):stream "quantiles"
  for _ = 1, 200 do
    local list, all = {}, {}
    for i = 1, stream:integer(1, 8) do
      local value, weight = stream:integer(-3, 3), stream:integer(0, 4)
      list[i] = { value, weight }
      for _ = 1, weight do all[#all + 1] = value end
    end
    table.sort(all)
    for _, share in ipairs { 0.05, 0.25, 0.5, 0.9, 1 } do
      if #all > 0 then
        test.equal(quantiles.weighted(list, share), all[math.ceil(share * #all - 1e-9)], "share " .. share)
      end
    end
  end
end)

test("share 0 is the smallest value, the order does not count, and the list stays as it is", function()
  local list = { { 3, 1 }, { 1, 2 }, { 2, 1 } }
  test.equal(quantiles.weighted(list, 0), 1)
  test.equal(quantiles.weighted(list, 0.5), 1)
  test.equal(quantiles.weighted(list, 0.51), 2)
  test.equal(quantiles.weighted(list, 1), 3)
  test.equal(list[1][1], 3)
  test.equal(quantiles.weighted({}, 0.5), nil)
end)

test("what is no list of values with weights is refused", function()
  local function refuses(part, ...)
    local list, share = ...
    test.raises(part, function() quantiles.weighted(list, share) end)
  end
  refuses("share: expected a number from 0 to 1", { { 1, 1 } }, 1.5)
  refuses("share: expected a number from 0 to 1", { { 1, 1 } }, 0 / 0)
  refuses("list[2]: expected {value, weight}", { { 1, 1 }, { 2, -1 } }, 0.5)
  refuses("list[1]: expected {value, weight}", { 1 }, 0.5)
  refuses("quantiles.weighted: list", "text", 0.5)
end)

test.finish()
