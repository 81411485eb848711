--- What every kernel costs beside its work: launch, tail, gap to the next.
local policy = require "rooflua.policy"

---@class corrections.LaunchOverhead
---@field launch_s number
local LaunchOverhead = policy.define {
  name = "launch_overhead",
  doc = "Adds a constant to every operation that a step model prices.",
  params = {
    launch_s = {
      default = 1e-6, unit = "s", min = 0,
      doc = "Per kernel; about 1 us as a node of a CUDA graph, 5 us and more when launched alone.",
    },
  },
}

function LaunchOverhead:op(op, time_s)
  if op.kind == "step" or op.kind == "host" then return time_s end
  return time_s + self.launch_s
end

return LaunchOverhead
