--- Share of the datasheet bandwidth that memory-bound operations reach.
local policy = require "rooflua.policy"

---@class corrections.BandwidthEfficiency
---@field efficiency number
local BandwidthEfficiency = policy.define {
  name = "bandwidth_efficiency",
  doc = "Divides the time of every memory-bound operation that was not measured.",
  source = "inference-sim 487017bc uses 0.82 on H100, 0.80 on A100",
  params = {
    efficiency = {
      default = 0.82, unit = "1", min = 0.01, max = 1, source = "inference-sim, H100",
      doc = "Part of the peak bandwidth that is reached.",
    },
    measured_too = {
      default = false,
      doc = "Also divide times that come from measured rows.",
    },
  },
}

function BandwidthEfficiency:op(op, time_s)
  if op.bound ~= "memory" then return time_s end
  local from_table = op.evidence == "measured" or op.evidence == "interpolated"
  if from_table and not self.measured_too then return time_s end
  return time_s / self.efficiency
end

return BandwidthEfficiency
