--- A constant time per step, and more time if the step holds a prefill.
local policy = require "rooflua.policy"

---@class corrections.StepOverhead
---@field overhead_s number
---@field prefill_overhead_s number
local StepOverhead = policy.define {
  name = "step_overhead",
  doc = "Adds a constant time to every step: scheduling and all other work that is not a kernel.",
  params = {
    overhead_s = {
      default = 0.0023, unit = "s", min = 0, source = "a fit to the 13 points published with BLIS; it is off by 9 %",
      doc = "Time added to every step.",
    },
    prefill_overhead_s = {
      default = 0.0, unit = "s", min = 0, source = "neutral; alibaba/InferSim: 0.025",
      doc = "Further time added to a step with a prefill.",
    },
  },
}

---@param batch rooflua.Batch
---@param time_s number
---@return number time_s
function StepOverhead:step(batch, time_s)
  if #batch.prefills > 0 then time_s = time_s + self.prefill_overhead_s end
  return time_s + self.overhead_s
end

return StepOverhead
