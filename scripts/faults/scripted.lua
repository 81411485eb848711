--- Faults at given times.
local policy = require "rooflua.policy"

---@class faults.Scripted: rooflua.Faults
local Scripted = policy.define {
  name = "scripted",
  doc = "What fails when is a list.",
  params = {},
}

return Scripted
