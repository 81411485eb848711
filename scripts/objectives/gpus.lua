--- Number of GPUs; less is better.
local policy = require "rooflua.policy"

---@class objectives.Gpus
local Gpus = policy.define { name = "gpus", doc = "Number of GPUs.", params = {}, figure = "gpus" }

---@param result table cost_per_hour, gpus, output_tokens_per_s, joules_per_token, ...
---@return number score lower is better
function Gpus:score(result) return result.gpus end -- luacheck: ignore 212

--- No deployment within the bounds scores less.
---@param bounds table least cost_per_hour and gpus
function Gpus:floor(bounds) return bounds.gpus end -- luacheck: ignore 212

return Gpus
