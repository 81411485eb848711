--- A pool of one size.
local policy = require "rooflua.policy"

---@class autoscalers.Target: rooflua.Autoscaler
---@field replicas integer
local Target = policy.define {
  name = "target",
  doc = "The pool has so many replicas, whatever the load: what every other autoscaler must beat.",
  params = {
    replicas = { default = 1, unit = "replicas", min = 0, integer = true, doc = "How many." },
  },
}

function Target:scale() return self.replicas end

return Target
