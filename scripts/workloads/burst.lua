--- Bursts: a base rate, and at regular times a stretch with another.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Burst: rooflua.Workload
---@field burst_rate_per_s number
---@field period_s number
---@field burst_s number
local Burst = policy.define {
  name = "burst",
  doc = "Open loop, Poisson with rate_per_s, and burst_rate_per_s during the first burst_s of every period_s.",
  source = "the spike cohorts of load generators",
  params = arrivals.parameters {
    burst_rate_per_s = { default = 10.0, unit = "requests/s", min = 0, exclusive_min = true,
      doc = "Rate inside a burst." },
    period_s = { default = 60.0, unit = "s", min = 0, exclusive_min = true,
      doc = "From burst to burst." },
    burst_s = { default = 5.0, unit = "s", min = 0, doc = "Length of a burst." },
  },
}

--- One unit-rate exponential, spent at the rate in force; exact for a piecewise constant rate.
local function gap(state)
  local workload = state.workload
  local left, clock, start = state.gaps:exponential(1), state.clock_s, state.clock_s
  while true do
    local phase = clock % workload.period_s
    local inside = phase < workload.burst_s
    local rate = inside and workload.burst_rate_per_s or state.rate
    local until_change = (inside and workload.burst_s or workload.period_s) - phase
    if until_change <= 0 then until_change = workload.period_s end
    if left <= rate * until_change then return clock + left / rate - start end
    left, clock = left - rate * until_change, clock + until_change
  end
end

---@param rng rooflua.Random
function Burst:requests(rng)
  return arrivals.open_loop(self, rng, gap)
end

return Burst
