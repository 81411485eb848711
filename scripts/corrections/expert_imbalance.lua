--- Tokens are not spread evenly over experts: the busiest rank or expert sets the time.
local policy = require "rooflua.policy"

---@class corrections.ExpertImbalance
---@field factor number
local ExpertImbalance = policy.define {
  name = "expert_imbalance",
  doc = "Multiplies the time of routed experts by how much the busiest exceeds the mean.",
  params = {
    factor = { default = 1.2, unit = "1", min = 1, doc = "Load of the busiest over the mean load; 1 = even." },
  },
}

ExpertImbalance.reads_work = false -- of an operation: shape, flop, bytes, mfu and bound are not made

--- It never makes a price lower, so that lower bounds of plans hold.
ExpertImbalance.lengthens = true

function ExpertImbalance:op(op, time_s)
  if op.kind ~= "grouped_gemm" then return time_s end
  return time_s * self.factor
end

return ExpertImbalance
