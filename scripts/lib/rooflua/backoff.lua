--- Delays between attempts that grow by a factor and are drawn at random in part.
local backoff = {}

--- min(most_s, delay_s factor^attempt), times 1 - jitter u with u uniform in [0, 1).
---@param given { delay_s: number, factor: number, most_s: number, jitter: number }
---@param attempt integer that ended, from 0
---@param draws rooflua.RandomStream
---@return number delay_s
function backoff.delay_s(given, attempt, draws)
  local whole_s = math.min(given.most_s, given.delay_s * given.factor ^ attempt)
  return whole_s * (1 - given.jitter * draws:uniform())
end

return backoff
