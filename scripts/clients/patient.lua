--- A client that waits for ever.
local policy = require "rooflua.policy"

---@class clients.Patient: rooflua.Client
local Patient = policy.define {
  name = "patient",
  doc = "It waits for ever and sends nothing again, as without a client.",
  params = {},
}

return Patient
