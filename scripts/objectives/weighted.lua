--- A weighted sum of logarithms: doubling the cost weighs as much as halving the speed where both weights are 1.
local policy = require "rooflua.policy"

---@class objectives.Weighted
---@field cost number
---@field gpus number
---@field energy number
---@field speed number
local Weighted = policy.define {
  name = "weighted",
  doc = "cost^a * gpus^b * (J/token)^c / (output tokens/s)^d, as a logarithm.",
  params = {
    cost = { default = 1.0, unit = "1", doc = "Weight of the cost per hour." },
    gpus = { default = 0.0, unit = "1", doc = "Weight of the number of GPUs." },
    energy = { default = 0.0, unit = "1", doc = "Weight of the energy per output token." },
    speed = { default = 0.0, unit = "1", doc = "Weight of output tokens per second." },
  },
}

local function weigh(weight, value) return weight == 0 and 0 or weight * math.log(math.max(value, 1e-300)) end

---@param result table cost_per_hour, gpus, joules_per_token, output_tokens_per_s
---@return number score lower is better
function Weighted:score(result)
  return weigh(self.cost, result.cost_per_hour) + weigh(self.gpus, result.gpus)
    + weigh(self.energy, result.joules_per_token) - weigh(self.speed, result.output_tokens_per_s)
end

return Weighted
