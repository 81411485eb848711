--- How SGLang's data-parallel controller divides requests among the ranks of its engine.
---
---     round_robin      ranks in turn
---     total_requests   the rank with the fewest waiting and running requests
---     total_tokens     the rank with the fewest tokens: prompts that wait and KV in use; ties to the fewest requests
---
--- The counts are as old as the last report of the ranks. In between, the controller adds what it sends itself. Several
--- engines get requests in turn.
local policy = require "rooflua.policy"
local turn = require "routers.engines.turn"

---@class routers.SglangDp: rooflua.Router
---@field method string
---@field staleness_s number
---@field places table<integer, integer> by engine: ranks that round_robin has passed
---@field requests table<integer, integer> by replica: sent since the counts were taken
---@field tokens table<integer, integer> of these requests
---@field taken_s number when the counts were taken
local SglangDp = policy.define {
  name = "sglang_dp",
  doc = "Ranks in turn, or the one with the fewest requests or tokens; engines in turn.",
  source = "SGLang managers/data_parallel_controller.py (DPBudget)",
  signals = { "waiting", "running", "waiting_tokens", "context_tokens", "group" },
  params = {
    method = { default = "round_robin", values = { "round_robin", "total_requests", "total_tokens" },
      doc = "What the rank is chosen by.", source = "SGLang --load-balance-method" },
    staleness_s = { default = 0.02, unit = "s", min = 0, doc = "Greatest age of the counts.",
      source = "SGLang data_parallel_controller.py: refreshed every 20 ms", idle = { method = "round_robin" } },
  },
}

local function in_turn(self, engine, ranks)
  self.places = self.places or {}
  local passed = self.places[engine] or 0
  self.places[engine] = passed + 1
  return ranks[passed % #ranks + 1]
end

--- Requests and tokens of a rank, with what was sent to it since they were counted.
local function load_of(self, rank)
  local requests = rank.waiting + rank.running + (self.requests[rank.index] or 0)
  return requests, rank.waiting_tokens + rank.context_tokens + (self.tokens[rank.index] or 0)
end

local function least(self, ranks, replicas)
  local by_tokens = self.method == "total_tokens"
  local best, lowest, next_lowest = ranks[1], math.huge, math.huge
  for i = 1, #ranks do
    local requests, tokens = load_of(self, replicas[ranks[i]])
    local first, second = requests, 0
    if by_tokens then first, second = tokens, requests end
    if first < lowest or first == lowest and second < next_lowest then
      best, lowest, next_lowest = ranks[i], first, second
    end
  end
  return best
end

---@param request rooflua.Request
---@param replicas rooflua.Candidates
function SglangDp:route(request, replicas)
  local ranks, engine = turn.next(self, replicas)
  if self.method == "round_robin" then return (in_turn(self, engine, ranks)) end
  if not self.requests or self.taken_s ~= replicas.signals_s or self.staleness_s == 0 then
    self.requests, self.tokens, self.taken_s = {}, {}, replicas.signals_s
  end
  local best = least(self, ranks, replicas)
  local index = replicas[best].index
  self.requests[index] = (self.requests[index] or 0) + 1
  self.tokens[index] = (self.tokens[index] or 0) + request.prompt_tokens
  return best
end

return SglangDp
