--- The replica with the emptiest KV cache, by the last signal that the router received.
local members = require "routers.gateways.members"
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

--- The replicas with the lowest share of KV blocks in use.
local function emptiest(replicas)
  local places, lowest = {}, math.huge
  for i = 1, #replicas do
    local used = replicas[i].kv_used_frac
    if used < lowest then places, lowest = {}, used end
    if used == lowest then places[#places + 1] = i end
  end
  return places
end

---@param replicas rooflua.Candidates
function LeastKv:route(_, replicas)
  local of_all = members.key(replicas) -- replicas for prompts and those for decodes are looked at apart
  self.known = self.known or {}
  local known = self.known[of_all]
  if not known or known.taken_s ~= replicas.signals_s or self.staleness_s == 0 then
    known = { taken_s = replicas.signals_s, places = emptiest(replicas) }
    self.known[of_all] = known
  end
  local places = known.places
  local best = places[1]
  local fewest = replicas[best].outstanding
  for k = 2, #places do
    local outstanding = replicas[places[k]].outstanding
    if outstanding < fewest then best, fewest = places[k], outstanding end
  end
  return best
end

return LeastKv
