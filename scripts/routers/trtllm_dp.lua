--- How TensorRT-LLM divides requests among the data-parallel ranks of its engine's attention. All ranks take requests
--- from one queue: in front of each step as many as there are seats left. Of those that come together the longest goes
--- first, each to the rank with the fewest tokens below the limit:
---
---     limit  = ceil(requests of all ranks, with the new ones, / ranks), or the most that a rank has
---     tokens = prompts of all requests of the rank that are not over; of equal ones the rank with fewer requests
---
--- Several engines get requests in turn.
local policy = require "rooflua.policy"
local turn = require "routers.engines.turn"

---@class routers.TrtllmDp: rooflua.Router
---@field load table of each rank {requests, tokens, seats}, with the most requests that it may have
local TrtllmDp = policy.define {
  name = "trtllm_dp",
  doc = "Ranks with one queue: the longest prompt first, to the rank with the fewest tokens; engines in turn.",
  source = "TensorRT-LLM _torch/pyexecutor/py_executor.py, _fetch_new_requests; scheduler/adp_router.py, "
    .. "DefaultADPRouter; before 1.3 executor_request_queue.py",
  signals = { "rank_requests", "rank_tokens", "rank_seats", "outstanding", "group" },
  common_queue = "longest",
}

--- The tokens that a rank has in front of the new requests.
---@param rank rooflua.Signals
function TrtllmDp:tokens_of(rank)
  return rank.rank_tokens
end

--- Whether a rank comes before another one.
function TrtllmDp:precedes(a, b)
  if a.tokens ~= b.tokens then return a.tokens < b.tokens end
  return a.requests < b.requests
end

--- What the ranks have in front of so many new requests.
local function look(self, ranks, together)
  local load, all, most = {}, together, 0
  for i = 1, #ranks do
    local requests = ranks[i].rank_requests
    load[i] = { requests = requests, tokens = self:tokens_of(ranks[i]), seats = ranks[i].rank_seats }
    all, most = all + requests, math.max(most, requests)
  end
  load.limit = math.max(math.ceil(all / #ranks), most)
  return load
end

--- The rank that the next request gets. Where seats of ranks differ, those below the limit may have none: it rises.
local function best_of(self, load)
  local best
  while not best do
    for i = 1, #load do
      local is_open = load[i].requests < load.limit and load[i].seats > 0
      if is_open and (not best or self:precedes(load[i], load[best])) then best = i end
    end
    load.limit = best and load.limit or load.limit + 1
  end
  return best
end

--- Any rank of the engine whose turn it is. Of replicas that step alone, which have no common queue, the one with the
--- fewest requests.
---@param replicas rooflua.Candidates
function TrtllmDp:route(_, replicas)
  local places = turn.next(self, replicas)
  local best = places[1]
  local step_together = #places == 1 or replicas[best].group == replicas[places[2]].group
  if step_together then return best end
  for i = 2, #places do
    if replicas[places[i]].outstanding < replicas[best].outstanding then best = places[i] end
  end
  return best
end

---@param request rooflua.Request
---@param ranks rooflua.Candidates
function TrtllmDp:place(request, ranks)
  if ranks.placed == 0 then self.load = look(self, ranks, ranks.together) end
  local load = self.load
  local best = best_of(self, load)
  load[best].requests, load[best].seats = load[best].requests + 1, load[best].seats - 1
  load[best].tokens = load[best].tokens + request.prompt_tokens
  return best
end

return TrtllmDp
