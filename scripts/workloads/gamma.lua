--- Gamma-distributed gaps: more bursts (shape < 1) or more even (shape > 1) than Poisson.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Gamma: rooflua.Workload
---@field shape number
local Gamma = policy.define {
  name = "gamma",
  doc = "Open loop, gamma-distributed gaps with the given shape; 1 is Poisson.",
  source = "vllm bench serve: burstiness is the shape",
  params = arrivals.parameters {
    shape = { default = 1.0, unit = "1", min = 0.001,
      doc = "Shape of the gamma distribution; the coefficient of variation of gaps is shape^-1/2." },
  },
}

local function gap(state)
  local shape = state.workload.shape
  return state.gaps:gamma(shape, 1 / (state.rate * shape))
end

---@param rng rooflua.Random
function Gamma:requests(rng)
  return arrivals.open_loop(self, rng, gap)
end

return Gamma
