--- Dollars per hour of all GPUs that are paid; less is better.
local policy = require "rooflua.policy"

---@class objectives.Cost
local Cost = policy.define {
  name = "cost",
  doc = "Dollars per hour of all GPUs that are paid.",
  params = {},
  figure = "cost_per_hour",
}

---@param result table cost_per_hour, gpus, output_tokens_per_s, joules_per_token, ...
---@return number score lower is better
function Cost:score(result) return result.cost_per_hour end -- luacheck: ignore 212

--- No deployment within the bounds scores less.
---@param bounds table least cost_per_hour and gpus
function Cost:floor(bounds) return bounds.cost_per_hour end -- luacheck: ignore 212

return Cost
