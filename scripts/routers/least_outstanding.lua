--- The replica with the fewest requests sent and not finished; the router counts them itself.
local policy = require "rooflua.policy"

---@class routers.LeastOutstanding: rooflua.Router
local LeastOutstanding = policy.define {
  name = "least_outstanding",
  doc = "Fewest outstanding requests; ties to the first.",
  source = "least-request load balancing, Envoy and NGINX",
  signals = { "outstanding" },
  params = {},
}

---@param replicas rooflua.Candidates
function LeastOutstanding:route(_, replicas)
  return replicas.least_outstanding
end

return LeastOutstanding
