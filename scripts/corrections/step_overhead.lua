--- A constant time per step, and more for a step with a prefill.
local policy = require "rooflua.policy"

---@class corrections.StepOverhead
---@field overhead_s number
---@field prefill_overhead_s number
local StepOverhead = policy.define {
  name = "step_overhead",
  doc = "Adds a constant to every step: scheduling and everything else that is not a kernel.",
  params = {
    overhead_s = {
      default = 0.0023, unit = "s", min = 0, source = "fits 13 points published with BLIS to 9 %",
      doc = "Per step.",
    },
    prefill_overhead_s = {
      default = 0.0, unit = "s", min = 0, source = "InferSim: 0.025",
      doc = "Per step that holds a prefill, on top.",
    },
  },
}

---@param batch rooflua.Batch
---@param time_s number
---@return number time_s
--- It never makes a price lower, so that lower bounds of plans hold.
StepOverhead.lengthens = true

function StepOverhead:step(batch, time_s)
  if #batch.prefills > 0 then time_s = time_s + self.prefill_overhead_s end
  return time_s + self.overhead_s
end

return StepOverhead
