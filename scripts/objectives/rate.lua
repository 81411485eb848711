--- The largest rate that all GPUs serve within the SLO; more is better. The load that is asked for is the least.
local policy = require "rooflua.policy"

---@class objectives.Rate
local Rate = policy.define {
  name = "rate",
  doc = "Requests per second that all GPUs of a type serve within the SLO; the load is the least.",
  params = {},
  seeks = "load",
  figure = "rate_per_s",
}

---@param result table rate_per_s, cost_per_hour, gpus, output_tokens_per_s, joules_per_token, ...
---@return number score lower is better
function Rate:score(result) return -result.rate_per_s end -- luacheck: ignore 212

--- No deployment within the bounds scores less.
---@param bounds table least cost_per_hour and gpus, largest rate_per_s
function Rate:floor(bounds) return -bounds.rate_per_s end -- luacheck: ignore 212

return Rate
