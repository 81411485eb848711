-- Prices of encoder passes. They follow from the items alone, so that the forks of a simulation share what is
-- remembered of them (serving/twins.lua).
local encoding = {}

--- @param price fun(items: table[]): table of rooflua.machine.encoder
--- @return fun(items: table[]): table the same, which forks share
function encoding.shared(price)
  return function(items) return price(items) end
end

return encoding
