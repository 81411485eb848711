--- How a vLLM front-end divides requests among the data-parallel ranks of its engine.
---
---     score = waiting_weight * waiting + running        the rank with the lowest
---
--- The counts come from the engine at most every 100 ms. In between, each request that the front-end sends counts as
--- one that waits. Several engines, each with a front-end, get requests in turn.
local policy = require "rooflua.policy"
local lowest = require "routers.engines.lowest"
local turn = require "routers.engines.turn"

---@class routers.VllmDp: rooflua.Router
---@field waiting_weight number
---@field staleness_s number
---@field rotate boolean
---@field start_at table<integer, integer> by engine: the place of the rank that the search begins at
---@field added table<integer, integer> by replica: requests sent since the counts were taken
---@field taken_s number when the counts were taken
local VllmDp = policy.define {
  name = "vllm_dp",
  doc = "The rank with the lowest 4 * waiting + running, from counts up to 100 ms old; engines in turn.",
  source = "vLLM v1/engine/core_client.py (DPLBAsyncMPClient), coordinator.py",
  signals = { "waiting", "running", "group" },
  params = {
    waiting_weight = { default = 4, unit = "1", min = 0, source = "vLLM core_client.py",
      doc = "What a waiting request counts; a running one counts 1." },
    staleness_s = { default = 0.1, unit = "s", min = 0, doc = "Greatest age of the counts.",
      source = "vLLM coordinator.py: stats are published at most every 100 ms" },
    rotate = { default = true, source = "vLLM 0.27 and later; before, the search begins at the first rank",
      doc = "Whether the search for the lowest score begins one rank further each time, so that ties go round." },
  },
}

--- The place from which the ranks of this engine are searched.
local function begin(self, engine, count)
  if not self.rotate then return 0 end
  self.start_at = self.start_at or {}
  local place = self.start_at[engine] or 0
  self.start_at[engine] = (place + 1) % count
  return place % count
end

local function score_of(self, rank)
  return self.waiting_weight * (rank.waiting + (self.added[rank.index] or 0)) + rank.running
end

local function scores_of(self, ranks, replicas)
  local scores = {}
  for i = 1, #ranks do scores[i] = score_of(self, replicas[ranks[i]]) end
  return lowest.of(scores)
end

---@param replicas rooflua.Candidates
function VllmDp:route(_, replicas)
  if not self.scores or self.taken_s ~= replicas.signals_s or self.staleness_s == 0 then
    self.scores, self.added, self.taken_s = {}, {}, replicas.signals_s
  end
  local ranks, engine = turn.next(self, replicas)
  local scores = self.scores[engine]
  if not scores then
    scores = scores_of(self, ranks, replicas)
    self.scores[engine] = scores
  end
  local best = lowest.place(scores, begin(self, engine, #ranks) + 1)
  local rank = replicas[ranks[best]]
  self.added[rank.index] = (self.added[rank.index] or 0) + 1
  lowest.set(scores, best, score_of(self, rank))
  return ranks[best]
end

return VllmDp
