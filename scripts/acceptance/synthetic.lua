--- vLLM's synthetic acceptance of a mean length, with the least variance: floor(length) - 1 drafts are always accepted
--- and the next one with the rest as its probability. A length of 2.6 with three drafts is S = 1, 0.6, 0.
local policy = require "rooflua.policy"

---@class acceptance.Synthetic: rooflua.Acceptance
---@field length number
---@field scope string
local Synthetic = policy.define {
  name = "synthetic",
  doc = "A mean number of tokens per round, with the least variance, as vLLM's synthetic rejection has it.",
  source = "vLLM rejection_sample_method=synthetic, synthetic_acceptance_length",
  params = {
    length = { default = 2, unit = "tokens", min = 1, max = 65,
      doc = "Mean tokens per round; with fewer drafts than it needs, the rest is lost.",
      source = "no default; 1 to drafts + 1" },
    scope = { default = "request", values = { "request", "step" },
      doc = "request: every row draws; step: one draw for the whole batch.",
      source = "vLLM: request; SGLANG_SIMULATE_ACC_LEN, TensorRT-LLM: step" },
  },
}

---@return number[] a_1, a_2, ...
function Synthetic:curve()
  if not self.shares then
    local shares, left = {}, self.length - 1
    while left > 0 do
      shares[#shares + 1] = math.min(1, left)
      left = left - 1
    end
    self.shares = shares
  end
  return self.shares
end

return Synthetic
