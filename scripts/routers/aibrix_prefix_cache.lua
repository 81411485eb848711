--- AIBrix's router by prefix cache: the replica that was sent most of the prompt, unless it has many more requests than
--- the mean; where loads are far apart only the least loaded ones are looked at.
local policy = require "rooflua.policy"

local source = "vllm-project/aibrix pkg/plugins/gateway/algorithms/prefix_cache.go"

---@class routers.AibrixPrefixCache: rooflua.Router
---@field deviation_factor number
---@field imbalance_factor number
---@field imbalance_min_gap integer
---@field block_tokens integer
---@field lru_blocks integer
---@field ttl_s number
local AibrixPrefixCache = policy.define {
  name = "aibrix_prefix_cache",
  doc = "AIBrix: the replica that was sent most of the prompt, within a deviation of the mean load; ties are drawn.",
  source = source,
  signals = { "outstanding", "prefix_sent_tokens" },
  params = {
    deviation_factor = { default = 1, unit = "1", min = 0,
      source = source .. ": AIBRIX_PREFIX_CACHE_STANDARD_DEVIATION_FACTOR",
      doc = "A replica is passed over above the mean load by more than so many standard deviations." },
    imbalance_factor = { default = 2, unit = "1", min = 0,
      source = source .. ": AIBRIX_PREFIX_CACHE_LOAD_IMBALANCE_FACTOR",
      doc = "Loads are far apart where the most is above this times (mean + 1)." },
    imbalance_min_gap = { default = 8, unit = "requests", min = 0, integer = true,
      source = source .. ": AIBRIX_PREFIX_CACHE_LOAD_IMBALANCE_MIN_GAP",
      doc = "Loads are far apart only with at least so many requests between the most and the least." },
    block_tokens = { default = 32, unit = "tokens", min = 1, integer = true,
      source = "aibrix prefixcacheindexer/hash.go: 128 characters", doc = "Tokens of a block of the index." },
    lru_blocks = { default = 200000, unit = "blocks", min = 1, integer = true,
      source = "aibrix prefixcacheindexer/hash.go: AIBRIX_PREFIX_CACHE_BLOCK_NUMBER, of all replicas together there",
      doc = "Blocks that the index remembers of each replica." },
    ttl_s = { default = 1200, unit = "s", min = 0,
      source = "aibrix prefixcacheindexer/hash.go: eviction after 20 minutes",
      doc = "What the index has not used for so long is forgotten; 0 = nothing is." },
  },
}

function AibrixPrefixCache:start(rng) self.draws = rng:stream "router" end

function AibrixPrefixCache:prefix_index()
  return { kind = "approximate", block_tokens = self.block_tokens, capacity_blocks = self.lru_blocks,
    max_prefix_tokens = 2 ^ 31 - 1, ttl_s = self.ttl_s }
end

--- Requests of each replica, their mean and standard deviation, the least and the most.
local function loads_of(replicas)
  local count, sum, squares, low, high = #replicas, 0, 0, math.huge, 0
  for i = 1, count do
    local load = replicas[i].outstanding
    sum, squares = sum + load, squares + load * load
    low, high = math.min(low, load), math.max(high, load)
  end
  local mean = sum / count
  return mean, math.sqrt(math.max(0, squares / count - mean * mean)), low, high
end

--- The place of the lowest pair of numbers, drawn among equal ones; nil where there is none.
local function Lowest(draws)
  local best, first, second, equal
  return function(place, a, b)
    if not best or a < first or a == first and b < second then
      best, first, second, equal = place, a, b, 1
    elseif a == first and b == second then
      equal = equal + 1
      if draws:integer(1, equal) == 1 then best = place end
    end
  end, function() return best end
end

---@param replicas rooflua.Candidates
function AibrixPrefixCache:route(_, replicas)
  local mean, deviation, low, high = loads_of(replicas)
  local far_apart = high > self.imbalance_factor * (mean + 1) and high - low >= self.imbalance_min_gap
  local limit = far_apart and low or mean + self.deviation_factor * deviation
  local offer, taken = Lowest(self.draws)
  for k = 1, replicas.sent_holders do
    local place = replicas:sent_holder(k)
    local load = replicas[place].outstanding
    if load <= limit then offer(place, -replicas[place].prefix_sent_tokens, load) end
  end
  if taken() then return taken() end
  for i = 1, #replicas do offer(i, replicas[i].outstanding, 0) end
  return taken()
end

return AibrixPrefixCache
