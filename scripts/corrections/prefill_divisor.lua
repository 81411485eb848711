--- The constant 1.8 by which InferSim divides prefill attention, as a correction to switch on and off.
local policy = require "rooflua.policy"

---@class corrections.PrefillDivisor
---@field divisor number
local PrefillDivisor = policy.define {
  name = "prefill_divisor",
  doc = "Divides the time of prefill attention.",
  source = "alibaba/InferSim: 2 for the causal half of the scores, with a slowdown of 11 %",
  params = {
    divisor = {
      default = 1.8, unit = "1", min = 0.01, source = "alibaba/InferSim",
      doc = "1.8 or 2 where the step model counts the whole score matrix; 1 where it counts causal pairs only.",
    },
  },
}

PrefillDivisor.reads_work = false -- of an operation: shape, flop, bytes, mfu and bound are not made

---@param op rooflua.Op
---@param time_s number
---@return number time_s
function PrefillDivisor:op(op, time_s)
  if op.kind ~= "attention_prefill" and op.kind ~= "mla_prefill" then return time_s end
  return time_s / self.divisor
end

return PrefillDivisor
