--- The replica with the emptiest KV cache, by the last signal that the router received.
local policy = require "rooflua.policy"

---@class routers.LeastKv: rooflua.Router
---@field staleness_s number
local LeastKv = policy.define {
  name = "least_kv",
  doc = "Lowest share of KV blocks in use; ties to the fewest outstanding requests, then to the first.",
  source = "gateway-api-inference-extension, KV-cache scorer",
  signals = { "kv_used_frac", "outstanding" },
  params = {
    staleness_s = { default = 0.05, unit = "s", min = 0,
      doc = "Greatest age of the signal.",
      source = "gateway-api-inference-extension: metrics are refreshed every 50 ms" },
  },
}

---@param replicas rooflua.Candidates
function LeastKv:route(_, replicas)
  local best, lowest = 1, math.huge
  for i = 1, #replicas do
    local replica = replicas[i]
    local used = replica.kv_used_frac
    if used < lowest or (used == lowest and replica.outstanding < replicas[best].outstanding) then
      best, lowest = i, used
    end
  end
  return best
end

return LeastKv
