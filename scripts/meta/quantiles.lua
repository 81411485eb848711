---@meta rooflua.quantiles
--- Quantiles of values that do not count alike.
---@class rooflua.quantiles
local quantiles = {}

--- The smallest value up to which a share of all weights lies; nil where the list is empty.
---@param list { [1]: number, [2]: number }[] values with their weights, in any order; weights of at least 0
---@param share number from 0 to 1
---@return number?
function quantiles.weighted(list, share) end

return quantiles
