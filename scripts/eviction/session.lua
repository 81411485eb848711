--- Whole sessions: what belongs to no session leaves first, then the session that was active longest ago. Of one
--- session the deepest content leaves first, because a prefix is worth nothing without what is in front of it.
local policy = require "rooflua.policy"

---@class eviction.Session: rooflua.Eviction
---@field last table<integer, number>? when each session was active last
local Session = policy.define {
  name = "session",
  doc = "Content without a session leaves first, then the session that was active longest ago, deepest first.",
  source = "own design",
}

local behind_s = 1e7          -- more than the clock can show: sessions leave behind all that has none
local s_per_token = 1e-8      -- orders the content of one instant by its depth

---@param block rooflua.StoredBlock
---@return number key
function Session:key(block)
  local session, deep_s = block.session, s_per_token * block.depth_tokens
  if session == nil then return block.used_s - deep_s end
  local last = self.last
  if not last then
    last = {}
    self.last = last
  end
  if block.now_s > (last[session] or -1) then last[session] = block.now_s end
  return behind_s + last[session] - deep_s
end

return Session
