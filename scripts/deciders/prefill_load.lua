--- A prompt is computed at its decode replica if the prefill replicas are busy.
local policy = require "rooflua.policy"

---@class deciders.PrefillLoad: rooflua.Decider
---@field prefill_busy_threshold number
local PrefillLoad = policy.define {
  name = "prefill_load",
  doc = "The decode replica computes prompts while every prefill replica has more to do than a share of a step.",
  source = "ai-dynamo/dynamo lib/kv-router/src/conditional_disagg.rs (policy prefill_load), "
    .. "lib/kv-router/src/scheduling/types.rs; there the replica counts that the router would take",
  signals = {},
  params = {
    prefill_busy_threshold = { default = 1, unit = "1", min = 0,
      doc = "Queued prompt tokens over the token budget of a step, above which a prefill replica is busy.",
      source = "prefill_busy_threshold; Dynamo has no default, 1 is assumed" },
  },
}

--- Whether a prefill replica has little to do. One without a token budget is never busy.
---@param pair rooflua.Pair
local function is_free(self, pair, i)
  local budget = pair:budget_tokens(i)
  return budget == 0 or pair:queued_tokens(i) <= self.prefill_busy_threshold * budget
end

---@param pair rooflua.Pair
---@return boolean
function PrefillLoad:split(_, pair)
  for i = 1, #pair.prefill do
    if is_free(self, pair, i) then return true end
  end
  return false
end

return PrefillLoad
