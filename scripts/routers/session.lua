--- All requests of a session go to one replica, by a ring of hashes; those without a session to the replica that got
--- the fewest requests lately.
local policy = require "rooflua.policy"
local recent = require "routers.gateways.recent"
local ring = require "routers.gateways.ring"

---@class routers.Session: rooflua.Router
---@field window_s number
local Session = policy.define {
  name = "session",
  doc = "By the session, on a ring of hashes; without one the replica with the fewest requests in a window.",
  source = "vllm-project/production-stack src/vllm_router/routers/routing_logic.py (SessionRouter)",
  signals = {},
  params = {
    window_s = { default = 60, unit = "s", min = 0, exclusive_min = true,
      source = "production-stack: --request-stats-window 60",
      doc = "Requests are counted over so long, for those without a session." },
  },
}

function Session:start(rng)
  self.ring, self.recent = ring.new(rng), recent.new(self.window_s)
end

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function Session:route(request, replicas)
  local session = request.session
  local place = session and session >= 0 and self.ring:place(replicas, session) or self.recent:fewest(replicas)
  self.recent:add(replicas[place].index, replicas.now_s)
  return place
end

return Session
