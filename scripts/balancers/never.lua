--- Experts stay where they are first.
local policy = require "rooflua.policy"

---@class balancers.Never: rooflua.Balancer
local Never = policy.define {
  name = "never",
  doc = "Experts stay where they are first.",
  source = "vLLM and SGLang without --enable-eplb",
}

return Never
