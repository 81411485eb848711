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
  local best, fewest = 1, replicas[1].outstanding
  for i = 2, #replicas do
    local outstanding = replicas[i].outstanding
    if outstanding < fewest then best, fewest = i, outstanding end
  end
  return best
end

return LeastOutstanding
