--- Output tokens per second and GPU at the load, as a negative number: more is better.
local policy = require "rooflua.policy"

---@class objectives.GoodputPerGpu
local GoodputPerGpu = policy.define {
  name = "goodput_per_gpu",
  doc = "Output tokens per second and GPU at the load.",
  params = {},
  figure = "output_tokens_per_s_per_gpu",
}

---@param result table output_tokens_per_s, gpus
---@return number score lower is better
function GoodputPerGpu:score(result) return -result.output_tokens_per_s / result.gpus end -- luacheck: ignore 212

return GoodputPerGpu
