--- Every request brings the same number of drafts, whatever the load.
local policy = require "rooflua.policy"

---@class speculators.Fixed: rooflua.Speculator
---@field draft_tokens integer
local Fixed = policy.define {
  name = "fixed",
  doc = "The same number of drafts for every request, whatever the load.",
  source = "vLLM num_speculative_tokens; SGLang speculative_num_draft_tokens - 1",
  params = {
    draft_tokens = { default = 3, unit = "tokens", min = 0, max = 64, integer = true,
      doc = "Drafts of a request per round (k).", source = "no engine has a default; recipes take 1 to 7" },
  },
}

---@return integer
function Fixed:depth() return self.draft_tokens end

---@return integer k
function Fixed:drafts() return self.draft_tokens end

return Fixed
