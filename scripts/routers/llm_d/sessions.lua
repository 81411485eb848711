--- The replica of the last request of each session, of as many sessions as were seen last: gateways keep it in the
--- client's header, which costs them nothing.
local sessions = {}

local most = 65536

local Sessions = {}
Sessions.__index = Sessions

function sessions.new() return setmetatable({ young = {}, old = {}, count = 0 }, Sessions) end

--- The index of the replica; nil: it is not known.
function Sessions:last(session) return self.young[session] or self.old[session] end

function Sessions:set(session, index)
  if not self.young[session] then self.count = self.count + 1 end
  self.young[session] = index
  if self.count < most then return end
  self.old, self.young, self.count = self.young, {}, 0
end

return sessions
