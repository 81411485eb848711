--- Every request passes.
local policy = require "rooflua.policy"

---@class admission.Always: rooflua.Admission
local Always = policy.define {
  name = "always",
  doc = "Every request passes to the router at once, as without a gate.",
  source = "inference-sim/inference-sim sim/admission.go (always-admit)",
  signals = {},
  params = {},
}

function Always:admit() return "pass" end

return Always
