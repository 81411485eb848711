--- Energy per output token; less is better.
local policy = require "rooflua.policy"

---@class objectives.Energy
local Energy = policy.define {
  name = "energy",
  doc = "Energy per output token.",
  params = {},
  figure = "joules_per_token",
}

---@param result table cost_per_hour, gpus, output_tokens_per_s, joules_per_token, ...
---@return number score lower is better
function Energy:score(result) return result.joules_per_token end -- luacheck: ignore 212

return Energy
