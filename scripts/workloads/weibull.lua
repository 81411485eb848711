--- Weibull gaps, as production traces are often fitted.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Weibull: rooflua.Workload
---@field shape number
local Weibull = policy.define {
  name = "weibull",
  doc = "Open loop, Weibull gaps with the given shape and mean 1 / rate; 1 is Poisson.",
  source = "ServeGen, 2025: client gaps are gamma or Weibull",
  params = arrivals.parameters {
    shape = { default = 1.0, unit = "1", min = 0.1, max = 20,
      doc = "Shape of the Weibull distribution; below 1 arrivals come in bursts." },
  },
}

--- Gamma function for x in [1, 11], by Lanczos' approximation with the coefficients for g = 7.
--- @source Lanczos, SIAM J. Numer. Anal. 1, 1964
local lanczos = { 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7 }
local function gamma_function(x)
  local z = x - 1
  local sum = 0.99999999999980993
  for i = 1, #lanczos do sum = sum + lanczos[i] / (z + i) end
  local t = z + #lanczos - 0.5
  return math.sqrt(2 * math.pi) * t ^ (z + 0.5) * math.exp(-t) * sum
end

local function gap(state)
  return state.gaps:weibull(state.workload.shape, state.scale)
end

---@param rng rooflua.Random
function Weibull:requests(rng)
  local state = arrivals.open_loop(self, rng, gap)
  state.scale = 1 / (self.rate_per_s * gamma_function(1 + 1 / self.shape))
  return state
end

return Weibull
