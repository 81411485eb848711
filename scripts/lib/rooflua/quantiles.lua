--- Quantiles of values that do not count alike.
local core = require "rooflua.base.core"

local quantiles = {}

local function is_number(value) return type(value) == "number" and value == value end

--- The smallest value up to which a share of all weights lies; nil where the list is empty.
---@param list table[] {value, weight}, in any order; weights of at least 0
---@param share number from 0 to 1
function quantiles.weighted(list, share)
  if not is_number(share) or share < 0 or share > 1 then
    core.fail("quantiles.weighted: share: expected a number from 0 to 1, found %s", core.describe(share))
  end
  local sorted, all, sum = {}, 0, 0
  for i, pair in ipairs(core.plain(core.table(list, "quantiles.weighted: list"))) do
    if type(pair) ~= "table" or not is_number(pair[1]) or not is_number(pair[2]) or pair[2] < 0 then
      core.fail("quantiles.weighted: list[%d]: expected {value, weight}, a weight of at least 0", i)
    end
    sorted[i] = pair
  end
  table.sort(sorted, function(a, b) return a[1] < b[1] end)
  for _, pair in ipairs(sorted) do all = all + pair[2] end
  for _, pair in ipairs(sorted) do
    sum = sum + pair[2]
    if sum >= share * all then return pair[1] end
  end
end

return quantiles
