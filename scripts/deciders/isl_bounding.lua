--- A prompt is computed at its decode replica if little of it is left to compute, both in tokens and as a share.
local policy = require "rooflua.policy"

---@class deciders.IslBounding: rooflua.Decider
---@field eff_isl_threshold integer
---@field eff_isl_ratio_threshold number
local IslBounding = policy.define {
  name = "isl_bounding",
  doc = "The decode replica computes prompts of which few tokens and a small share are not cached there.",
  source = "ai-dynamo/dynamo lib/kv-router/src/conditional_disagg.rs, since pull request 11357 "
    .. "(policy isl_bounding, the default one)",
  signals = {},
  params = {
    eff_isl_threshold = { default = 2048, unit = "tokens", min = 0, integer = true,
      doc = "Fewer uncached tokens than this are few.", source = "eff_isl_threshold = 2048" },
    eff_isl_ratio_threshold = { default = 0.7, unit = "1", min = 0,
      doc = "A smaller share of the prompt than this is small; above 1 every share is.",
      source = "eff_isl_ratio_threshold = 0.7" },
  },
}

---@param pair rooflua.Pair
---@return boolean
function IslBounding:split(_, pair)
  local uncached = pair.prompt_tokens - pair.cached_tokens
  local is_little = uncached < self.eff_isl_threshold
    and uncached / pair.prompt_tokens < self.eff_isl_ratio_threshold
  return not is_little
end

return IslBounding
