--- A prompt of which the decode replica lacks little is computed there.
local policy = require "rooflua.policy"

---@class deciders.Uncached: rooflua.Decider
---@field uncached_tokens integer
local Uncached = policy.define {
  name = "uncached",
  doc = "A prefill replica computes prompts of which the decode replica has not cached so many tokens.",
  source = "llm-d/llm-d-router pkg/epp/framework/plugins/scheduling/profilehandler/disagg "
    .. "(plug-in prefix-based-pd-decider; before in llm-d-inference-scheduler)",
  signals = {},
  params = {
    uncached_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Prompt tokens that the decode replica does not have, from which on a prompt is split; 0: none is ever.",
      source = "nonCachedTokens = 0: the plug-in is off until it is set" },
  },
}

---@param pair rooflua.Pair
---@return boolean
function Uncached:split(_, pair)
  return self.uncached_tokens > 0 and pair.prompt_tokens - pair.cached_tokens >= self.uncached_tokens
end

return Uncached
