--- How TensorRT-LLM divides requests among the data-parallel ranks of its engine's attention.
---
---     limit = ceil(requests of all ranks / ranks)      a rank below it, of these the one with the fewest requests
---
--- All ranks see the counts of each step, so that they are exact. Several engines get requests in turn.
local policy = require "rooflua.policy"
local turn = require "routers.engines.turn"

---@class routers.TrtllmDp: rooflua.Router
---@field staleness_s number
---@field sent table<integer, integer> by replica: requests sent since the counts were taken
---@field taken_s number when the counts were taken
local TrtllmDp = policy.define {
  name = "trtllm_dp",
  doc = "The rank with the fewest waiting and running requests, ties to the first; engines in turn.",
  source = "TensorRT-LLM _torch/pyexecutor/scheduler/adp_router.py, DefaultADPRouter; before 1.2 "
    .. "executor_request_queue.py, _schedule_attention_dp_requests",
  signals = { "waiting", "running", "group" },
  params = {
    staleness_s = { default = 0.0, unit = "s", min = 0, doc = "Greatest age of the counts.",
      source = "TensorRT-LLM gathers the counts of all ranks in each step" },
  },
}

---@param replicas rooflua.Candidates
function TrtllmDp:route(_, replicas)
  local ranks = turn.next(self, replicas)
  if not self.sent or self.taken_s ~= replicas.signals_s or self.staleness_s == 0 then
    self.sent, self.taken_s = {}, replicas.signals_s
  end
  local best, fewest = ranks[1], math.huge
  for i = 1, #ranks do
    local rank = replicas[ranks[i]]
    local requests = rank.waiting + rank.running + (self.sent[rank.index] or 0)
    if requests < fewest then best, fewest = ranks[i], requests end
  end
  local index = replicas[best].index
  self.sent[index] = (self.sent[index] or 0) + 1
  return best
end

return TrtllmDp
