--- Time of a kernel besides its work: its launch, its tail and the gap to the next kernel.
local policy = require "rooflua.policy"

---@class corrections.LaunchOverhead
---@field launch_s number
local LaunchOverhead = policy.define {
  name = "launch_overhead",
  doc = "Adds a constant to every operation that a step model prices.",
  params = {
    launch_s = {
      default = 1e-6, unit = "s", min = 0,
      doc = "Time per operation; a kernel costs about 1 us as a node of a CUDA graph, 5 us and more launched alone.",
    },
  },
}

LaunchOverhead.reads_work = false -- of an operation: shape, flop, bytes, mfu and bound are not made

--- It never makes a price lower, so that lower bounds of plans hold.
LaunchOverhead.lengthens = true

function LaunchOverhead:op(op, time_s)
  if op.kind == "step" or op.kind == "host" then return time_s end
  return time_s + self.launch_s
end

return LaunchOverhead
