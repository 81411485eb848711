--- Two reasons to compute a prompt at its decode replica, of which one suffices.
local policy = require "rooflua.policy"

---@class deciders.Either: rooflua.Decider
---@field first rooflua.Decider|string
---@field second rooflua.Decider|string
local Either = policy.define {
  name = "either",
  doc = "The decode replica computes prompts that one of two deciders does not split.",
  source = "ai-dynamo/dynamo lib/kv-router/src/conditional_disagg.rs (policy isl_or_load)",
  params = {
    first = { default = "isl_bounding", values = { "isl_bounding", "prefill_load", "uncached" }, policy = "deciders",
      doc = "One decider: a name, or a decider with its parameters." },
    second = { default = "prefill_load", values = { "isl_bounding", "prefill_load", "uncached" }, policy = "deciders",
      doc = "The other one. It is asked if the first splits." },
  },
}

local named = { isl_bounding = require "deciders.isl_bounding", prefill_load = require "deciders.prefill_load",
  uncached = require "deciders.uncached" }

local function decider_of(given) return type(given) == "string" and named[given] {} or given end

---@param request rooflua.Request
---@param pair rooflua.Pair
---@return boolean
function Either:split(request, pair)
  self.deciders = self.deciders or { decider_of(self.first), decider_of(self.second) }
  return self.deciders[1]:split(request, pair) and self.deciders[2]:split(request, pair)
end

return Either
