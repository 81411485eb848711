---@meta rooflua.backoff
--- Delays between attempts of a client.
---@class rooflua.backoff
local backoff = {}

--- min(most_s, delay_s factor^attempt), times 1 - jitter u with u uniform in [0, 1).
---@param given { delay_s: number, factor: number, most_s: number, jitter: number }
---@param attempt integer that ended, from 0
---@param draws rooflua.RandomStream
---@return number delay_s
function backoff.delay_s(given, attempt, draws) end

return backoff
