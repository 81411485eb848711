--- Requests with a common beginning go to the same replica, unless it is much busier than the least busy one.
local index = require "routers.gateways.index"
local policy = require "rooflua.policy"

---@class routers.PrefixAffinity: rooflua.Router
---@field slack integer
---@field index string
local PrefixAffinity = policy.define {
  name = "prefix_affinity",
  doc = "The replica with most of the prompt cached, among those at most `slack` requests busier than the least busy.",
  source = "SGLang router, cache-aware load balancing",
  signals = { "outstanding", "prefix_hit_tokens", "prefix_sent_tokens" },
  params = index.params({
    slack = { default = 32, unit = "requests", min = 0,
      doc = "A replica with more outstanding requests than the least busy one plus this is not taken for its cache.",
      source = "SGLang router: balance_abs_threshold" },
  }, { index = "precise", block_tokens = 64, lru_blocks = 31250, ttl_s = 0 }),
}

function PrefixAffinity:prefix_index() return index.of(self) end

---@param replicas rooflua.Candidates
function PrefixAffinity:route(_, replicas)
  local best, most = replicas.least_outstanding, 0
  local limit = replicas[best].outstanding + self.slack
  if self.index == "approximate" then
    for k = 1, replicas.sent_holders do
      local place = replicas:sent_holder(k)
      local replica = replicas[place]
      if replica.outstanding <= limit then
        local sent = replica.prefix_sent_tokens
        if sent > most then best, most = place, sent end
      end
    end
    return best
  end
  for k = 1, replicas.prefix_holders do
    local place = replicas:prefix_holder(k)
    local replica = replicas[place]
    if replica.outstanding <= limit then
      local hit = replica.prefix_hit_tokens
      if hit > most then best, most = place, hit end
    end
  end
  return best
end

return PrefixAffinity
