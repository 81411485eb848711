--- llm-d's fairness between programs: little service so far and a long wait count.
local policy = require "rooflua.policy"
local queue = require "admission.shared.queue"
local Bands = require "admission.bands"

---@class admission.ProgramAware: admission.Bands
---@field service_weight number
---@field wait_weight number
local ProgramAware = policy.define {
  name = "program_aware",
  doc = "As bands, and in a band the program goes next whose service so far is small and whose first request waits "
    .. "long: both scaled to 0 to 1 over the programs with held requests, and weighted.",
  source = "llm-d/llm-d-router fairness/program-aware/strategy_las.go, 0.9",
  extends = Bands,
  params = queue.with({
    service_weight = { default = 0.8, unit = "1", min = 0, doc = "Of the service that a program had.",
      source = "llm-d lasWeightService = 0.8" },
    wait_weight = { default = 0.2, unit = "1", min = 0, doc = "Of the time that its first request waits.",
      source = "llm-d lasWeightHeadWait = 0.2" },
  }, {
    flow = { default = "program" },
    fair = { default = "las", values = { "las" }, idle = { why = "it chooses the flow itself, by service" } },
    count = { default = "end" },
    half_life_s = { default = 60, source = "llm-d lasHalfLifeSeconds = 60, which decays smoothly" },
  }, { "flow", "fair", "count", "half_life_s" }),
}

--- From 0 for the least to 1 for the most; 0 where all are equal.
local function scaled(flows, of)
  local least, most = math.huge, -math.huge
  for _, each in ipairs(flows) do least, most = math.min(least, of(each)), math.max(most, of(each)) end
  return function(each) return most > least and (of(each) - least) / (most - least) or 0 end
end

---@param flows rooflua.GateFlow[]
---@param view rooflua.GateView
function ProgramAware:choose(flows, view)
  local now_s = view.now_s
  local service = scaled(flows, function(each) return each.service end)
  local wait = scaled(flows, function(each) return now_s - each.oldest_s end)
  local best, best_score = 1, -math.huge
  for i, each in ipairs(flows) do
    local score = self.service_weight * (1 - service(each)) + self.wait_weight * wait(each)
    if score > best_score then best, best_score = i, score end
  end
  return best
end

return ProgramAware
