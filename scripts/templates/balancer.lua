--- When should experts move between ranks, and where to?
---
--- Setup     Qwen3-30B-A3B, bf16, on eight H100; experts whose popularity drifts, with copies of some.
--- Method    The same requests with experts that stay, and with the balancer below.
--- Measures  The fullest rank's load over the mean, bytes that moved, TTFT and TPOT.
--- Expect    What you believe before you look.
--- Limits    What a balancer sees: rooflua help ExpertShape; how popularity drifts: docs/EXPERT_DRIFT.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.Popular: rooflua.Balancer
---@field every_steps integer
local Popular = policy.define {
  name = "popular",
  doc = "Spare slots hold copies of the experts with most tokens; slots are dealt to ranks in that order.",
  params = {
    every_steps = { default = 40, unit = "steps", min = 1, integer = true, doc = "Steps between two placements." },
  },
}

---@return rooflua.BalancerSchedule
function Popular:schedule(_)
  return { first_steps = self.every_steps, interval_steps = self.every_steps, window_steps = self.every_steps,
    layers_per_chunk = 0, hidden = false, host_s = 0 }
end

--- The expert of each slot of one layer. Every expert needs a slot; ranks have the same number of slots, in order.
---@param counts number[] tokens of each expert in the window
---@param shape rooflua.ExpertShape
---@return integer[] slots
function Popular:place(counts, shape, _)
  local order = {}
  for expert = 1, #counts do order[expert] = expert end
  table.sort(order, function(a, b)
    if counts[a] ~= counts[b] then return counts[a] > counts[b] end
    return a < b
  end)
  local slots, per_rank = {}, shape.slots / shape.ranks
  for i = 0, shape.slots - 1 do
    local rank = i % shape.ranks
    slots[rank * per_rank + math.floor(i / shape.ranks) + 1] = order[i % #order + 1]
  end
  return slots
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Experts that stay, and copies of popular ones",
  seed = 1,
  model = "qwen3-30b-a3b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  deployment = { tp = 1, dp = 8, ep = 8 },
  router = require "routers.vllm_dp" {},
  experts = { zipf = 0.5, drift_steps = 200, update_steps = 30, redundant = 32 },
  workload = require "workloads.poisson" {
    rate_per_s = 40,
    num_requests = 400,
    prompt_tokens = 500,
    output_tokens = 100,
  },
  vary = { ["experts.balancer"] = { require "balancers.never" {}, Popular {} } },
}
return scenario
