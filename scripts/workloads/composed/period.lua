--- What a load says of itself that ends long before its period does.
local period = {}

local least_part = 0.5

--- Sentences for notes of a run: none where the load covers half of its period or more.
---@param end_s number of the last arrival
---@param period_s number
---@param keys string what to change
function period.notes(end_s, period_s, keys)
  if end_s <= 0 or end_s >= least_part * period_s then return {} end
  return { ("the load ends after %.0f s, in the first %.3g %% of its period of %.0f s: it has nothing of the rest (%s)")
    :format(end_s, 100 * end_s / period_s, period_s, keys) }
end

return period
