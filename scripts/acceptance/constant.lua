--- Every draft is accepted with the same probability if those before it were.
---
---     E[T] = (1 - a^(k+1)) / (1 - a)
local policy = require "rooflua.policy"

---@class acceptance.Constant: rooflua.Acceptance
---@field rate number
local Constant = policy.define {
  name = "constant",
  doc = "The same probability for every draft whose predecessors were accepted.",
  source = "Leviathan, Kalman, Matias. Fast Inference from Transformers via Speculative Decoding, 2023",
  params = {
    rate = { default = 0.6, unit = "1", min = 0, max = 1,
      doc = "Probability (a) that a draft is accepted if those before it were.",
      source = "0.5 to 0.7 at place 1 in published runs; places after it differ" },
  },
}

local most_drafts = 64

---@return number[] a_1, a_2, ...
function Constant:curve()
  if not self.shares then
    local shares = {}
    for j = 1, most_drafts do shares[j] = self.rate end
    self.shares = shares
  end
  return self.shares
end

return Constant
