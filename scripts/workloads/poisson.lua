--- Arrivals of independent users: exponential gaps.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Poisson: rooflua.Workload
local Poisson = policy.define {
  name = "poisson",
  doc = "Open loop, Poisson arrivals.",
  source = "arrivals of many independent users; vllm bench serve: burstiness = 1",
  params = arrivals.parameters(),
}

local function gap(state)
  return state.gaps:exponential(state.rate)
end

---@param rng rooflua.Random
function Poisson:requests(rng)
  return arrivals.open_loop(self, rng, gap)
end

return Poisson
