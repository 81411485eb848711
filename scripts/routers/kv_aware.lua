--- production-stack's router by cached KV: the replica with the longest cached beginning, if that leaves few tokens to
--- compute; else the session's replica, or the one that got the fewest requests lately.
---
--- What is cached counts in the GPU and, where there are tiers, in their stores. LMCache's controller is asked for each
--- request, so that its answer is current unless events take a time.
local policy = require "rooflua.policy"
local recent = require "routers.gateways.recent"
local ring = require "routers.gateways.ring"

local source = "vllm-project/production-stack src/vllm_router/routers/routing_logic.py (KvawareRouter)"

---@class routers.KvAware: rooflua.Router
---@field threshold integer
---@field window_s number
---@field lag_s number
---@field loss number
local KvAware = policy.define {
  name = "kv_aware",
  doc = "The replica with the longest cached prefix, if at most `threshold` tokens are left; else by session.",
  source = source,
  signals = { "prefix_hit_tokens", "tier_hit_tokens" },
  params = {
    threshold = { default = 2000, unit = "tokens", min = 0, source = source .. ": kv_aware_threshold",
      doc = "The cached prefix decides where at most so many tokens of the prompt are not cached." },
    window_s = { default = 60, unit = "s", min = 0, exclusive_min = true,
      source = "production-stack: --request-stats-window 60",
      doc = "Requests are counted over so long, for those without a session." },
    lag_s = { default = 0, unit = "s", min = 0, doc = "Events of cached blocks arrive so much later." },
    loss = { default = 0, unit = "1", min = 0, max = 1,
      doc = "Share of events of cached blocks that never arrive, drawn by the seed." },
  },
}

function KvAware:start(rng)
  self.ring, self.recent = ring.new(rng), recent.new(self.window_s)
end

function KvAware:prefix_index() return { kind = "precise", lag_s = self.lag_s, loss = self.loss } end

--- The first of the replicas that hold most of the prompt, and how much that is.
local function holder(replicas)
  local best, most = nil, 0
  for i = 1, #replicas do
    local replica = replicas[i]
    local tokens = replica.prefix_hit_tokens + replica.tier_hit_tokens
    if tokens > most then best, most = i, tokens end
  end
  return best, most
end

local function place_of(self, request, replicas)
  local best, most = holder(replicas)
  if best and most >= math.max(request.prompt_tokens - self.threshold, 0) then return best end
  local session = request.session
  if session and session >= 0 then return self.ring:place(replicas, session) end
  return self.recent:fewest(replicas)
end

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function KvAware:route(request, replicas)
  local place = place_of(self, request, replicas)
  self.recent:add(replicas[place].index, replicas.now_s)
  return place
end

return KvAware
