--- How a vLLM front-end divides requests among the data-parallel ranks of its engine from 0.27 on.
---
---     score = max(outstanding, waiting + running) + waiting_weight * waiting * max(0, kv_used_frac - kv_floor)
---
--- The rank with the lowest score. What it has sent and not got back it knows itself; the other counts come from the
--- engine at most every 100 ms. Several engines, each with a front-end, get requests in turn.
local policy = require "rooflua.policy"
local turn = require "routers.engines.turn"

local max = math.max

---@class routers.VllmDpLoad: rooflua.Router
---@field waiting_weight number
---@field kv_floor number
---@field staleness_s number
---@field start_at table<integer, integer> by engine: the place of the rank that the search begins at
local VllmDpLoad = policy.define {
  name = "vllm_dp_load",
  doc = "The rank with the fewest requests, where waiting ones count more as its KV cache fills; engines in turn.",
  source = "vLLM v1/engine/core_client.py (DPLBAsyncMPClient), pull request 49204",
  signals = { "outstanding", "waiting", "running", "kv_used_frac", "group" },
  params = {
    waiting_weight = { default = 6, unit = "1", min = 0, source = "vLLM core_client.py",
      doc = "What a waiting request counts besides, times the used part of the KV cache above kv_floor." },
    kv_floor = { default = 0.5, unit = "1", min = 0, max = 1, source = "vLLM core_client.py",
      doc = "Used part of the KV cache from which on waiting requests count more." },
    staleness_s = { default = 0.1, unit = "s", min = 0, doc = "Greatest age of the counts that the engine tells.",
      source = "vLLM coordinator.py: stats are published at most every 100 ms" },
  },
}

local function score_of(self, rank)
  local filled = max(0, rank.kv_used_frac - self.kv_floor)
  return max(rank.outstanding, rank.waiting + rank.running) + self.waiting_weight * rank.waiting * filled
end

--- The place from which the ranks of an engine are searched: one further each time, so that ties go round.
local function begin(self, engine, count)
  self.start_at = self.start_at or {}
  local place = self.start_at[engine] or 0
  self.start_at[engine] = (place + 1) % count
  return place % count
end

---@param replicas rooflua.Candidates
function VllmDpLoad:route(_, replicas)
  local ranks, engine = turn.next(self, replicas)
  local first, best, lowest = begin(self, engine, #ranks), nil, math.huge
  for i = 0, #ranks - 1 do
    local place = ranks[(first + i) % #ranks + 1]
    local score = score_of(self, replicas[place])
    if score < lowest then best, lowest = place, score end
  end
  return best
end

return VllmDpLoad
