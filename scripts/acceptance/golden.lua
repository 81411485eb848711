--- Published mean tokens per round of shipped drafters, on coding prompts (SPEED-Bench), for 1 to 8 drafts.
---
---     S_k = AL(k) - AL(k-1)          in [0, 1] and never rising; AL(0) = 1
local policy = require "rooflua.policy"
local curves = require "acceptance.curves.spread"

--- AL(1) .. AL(8).
local lengths = {
  ["deepseek-v4-pro-thinking"] = { 1.79, 2.27, 2.49, 2.54, 2.55, 2.55, 2.54, 2.58 },
  ["deepseek-v4-pro"] = { 1.92, 2.61, 2.97, 3.00, 3.10, 3.16, 3.00, 3.11 },
  ["glm-5.2"] = { 1.84, 2.50, 2.99, 3.33, 3.61, 3.78, 3.91, 4.06 },
  ["kimi-k2.5-eagle3"] = { 1.83, 2.43, 2.88, 3.24, 3.46, 3.62, 3.71, 3.77 },
  ["qwen3.5-397b"] = { 1.93, 2.73, 3.39, 3.97, 4.41, 4.80, 5.04, 5.21 },
}

local names = {}
for name in pairs(lengths) do names[#names + 1] = name end
table.sort(names)

---@class acceptance.Golden: rooflua.Acceptance
---@field drafter string
---@field spread number
local Golden = policy.define {
  name = "golden",
  doc = "Published mean tokens per round of a shipped drafter, on coding prompts.",
  source = "SemiAnalysisAI/InferenceX golden_al_distribution (Apache-2.0): SPEED-Bench, coding",
  params = {
    drafter = { default = "glm-5.2", values = names, doc = "Whose drafts: a model's own MTP, or an EAGLE-3.",
      source = "InferenceX golden_al_distribution" },
    spread = { default = 0, unit = "1", min = 0, max = 5,
      doc = "Deviation between requests, as in per_position.", source = "0: the published mean only" },
  },
}

---@param rng rooflua.RandomStream of the request
---@return number[] a_1, a_2, ...
function Golden:curve(_, rng)
  if not self.shares then
    self.rates = curves.of_lengths(lengths[self.drafter])
    self.shares = curves.conditional(self.rates, "golden")
  end
  if self.spread == 0 then return self.shares end
  if not self.shifts then self.shifts = curves.shifts(self.rates, self.spread) end
  return curves.drawn(self.shares, self.shifts, rng:normal(0, self.spread))
end

return Golden
