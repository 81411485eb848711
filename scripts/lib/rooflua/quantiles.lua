--- Quantiles of values that do not count alike.
local core = require "rooflua.base.core"
local statistics = require "rooflua.base.statistics"

local quantiles = {}

local function is_number(value) return type(value) == "number" and value == value end

--- The smallest value up to which a share of all weights lies; nil where the list is empty.
---@param list table[] {value, weight}, in any order; weights of at least 0
---@param share number from 0 to 1
function quantiles.weighted(list, share)
  if not is_number(share) or share < 0 or share > 1 then
    core.fail("quantiles.weighted: share: expected a number from 0 to 1, found %s", core.describe(share))
  end
  local own = {}
  for i, pair in ipairs(core.plain(core.table(list, "quantiles.weighted: list"))) do
    if type(pair) ~= "table" or not is_number(pair[1]) or not is_number(pair[2]) or pair[2] < 0 then
      core.fail("quantiles.weighted: list[%d]: expected {value, weight}, a weight of at least 0", i)
    end
    own[i] = pair
  end
  return statistics.weighted(own, share)
end

return quantiles
