--- Requests with a common beginning go to the same replica, unless it is much busier than the least busy one.
local policy = require "rooflua.policy"

---@class routers.PrefixAffinity: rooflua.Router
---@field slack integer
local PrefixAffinity = policy.define {
  name = "prefix_affinity",
  doc = "The replica with most of the prompt cached, among those at most `slack` requests busier than the least busy.",
  source = "SGLang router, cache-aware load balancing",
  signals = { "outstanding", "prefix_hit_tokens" },
  params = {
    slack = { default = 32, unit = "requests", min = 0,
      doc = "A replica with more outstanding requests than the least busy one plus this is not taken for its cache.",
      source = "SGLang router: balance_abs_threshold" },
  },
}

---@param replicas rooflua.Candidates
function PrefixAffinity:route(_, replicas)
  local least, fewest = 1, math.huge
  for i = 1, #replicas do
    local outstanding = replicas[i].outstanding
    if outstanding < fewest then least, fewest = i, outstanding end
  end
  local best, most = least, 0
  for i = 1, #replicas do
    local replica = replicas[i]
    local hit = replica.prefix_hit_tokens
    if hit > most and replica.outstanding <= fewest + self.slack then best, most = i, hit end
  end
  return best
end

return PrefixAffinity
