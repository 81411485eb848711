--- Prompt tokens in flight: those of prompts that a router sent and whose first token has not come back, without what
--- the replica was believed to have cached.
---
--- A router sees the first token of a streamed answer and takes the prompt off then. Replicas compute prompts in the
--- order in which they get them, so the prompts in flight are the last ones that were sent: outstanding less those that
--- decode, with those whose first token is on its way.
local in_flight = {}

local Tokens = {}
Tokens.__index = Tokens

function in_flight.new() return setmetatable({ sums = {} }, Tokens) end

--- @param replica rooflua.Signals
function Tokens:of(replica)
  local sums = self.sums[replica.index]
  if not sums then return 0 end
  local under_way = replica.outstanding - replica.decodes + replica.landing_prompts
  local count = #sums
  if under_way <= 0 then return 0 end
  return sums[count] - (sums[count - math.min(under_way, count)] or 0)
end

--- A prompt with so many tokens that are not cached goes to a replica.
function Tokens:add(replica, tokens)
  local sums = self.sums[replica.index]
  if not sums then
    sums = {}
    self.sums[replica.index] = sums
  end
  sums[#sums + 1] = (sums[#sums] or 0) + tokens
end

return in_flight
