--- Which replicas a router may choose from, as a number: what a router keeps by places holds while it is the same.
--- Replicas come and go with autoscalers and faults. Of many replicas only the number, the first and the last are
--- looked at, so that the question costs the same for any number of them.
local members = {}

local few = 64

--- @param replicas rooflua.Candidates
--- @return number
function members.key(replicas)
  local count = #replicas
  if count > few then return (replicas[1].index * 4096 + replicas[count].index) * 4096 + count end
  local key = count
  for i = 1, count do key = (key * 31 + replicas[i].index) % 140737488355213 end
  return key
end

return members
