--- Replicas in turn, whatever their load.
local policy = require "rooflua.policy"

---@class routers.RoundRobin: rooflua.Router
local RoundRobin = policy.define {
  name = "round_robin",
  doc = "Replicas in turn.",
  source = "the default of most gateways",
  signals = {},
  params = {},
}

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function RoundRobin:route(request, replicas)
  return request.id % #replicas + 1
end

return RoundRobin
