--- Every prompt goes to a prefill replica.
local policy = require "rooflua.policy"

---@class deciders.Always: rooflua.Decider
local Always = policy.define {
  name = "always",
  doc = "Every prompt goes to a prefill replica, as without a decider.",
  source = "llm-d/llm-d-router, plug-in always-disagg-pd-decider",
  signals = {},
  params = {},
}

function Always:split() return true end

return Always
