--- Bursts: a base rate, and another rate in regular intervals.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Burst: rooflua.Workload
---@field burst_rate_per_s number
---@field period_s number
---@field burst_s number
local Burst = policy.define {
  name = "burst",
  doc = "Open loop, Poisson with rate_per_s, and burst_rate_per_s during the first burst_s of every period_s.",
  source = "periodic spikes, as load generators offer them; no paper",
  params = arrivals.parameters {
    burst_rate_per_s = { default = 10.0, unit = "requests/s", min = 0, exclusive_min = true,
      doc = "Rate inside a burst." },
    period_s = { default = 60.0, unit = "s", min = 1e-9,
      doc = "Time from the start of a burst to the start of the next." },
    burst_s = { default = 5.0, unit = "s", min = 0, doc = "Length of a burst." },
  },
}

Burst.varies = true -- by itself: a queue that grows for a while is no sign of too few replicas

--- Draws an exponential with rate 1 and advances the clock until the integral of the rate reaches it: exact for a
--- piecewise constant rate. Whole periods are counted, so that rounding never misses the end of one.
local function gap(state)
  local workload = state.workload
  local period_s, burst_s = workload.period_s, workload.burst_s
  local left, clock, start = state.gaps:exponential(1), state.clock_s, state.clock_s
  local spent_in_a_period = workload.burst_rate_per_s * burst_s + state.rate * (period_s - burst_s)
  local whole = math.floor(left / spent_in_a_period)
  left, clock = left - whole * spent_in_a_period, clock + whole * period_s
  local period = math.floor(clock / period_s)
  while true do
    local burst_end, period_end = period * period_s + burst_s, (period + 1) * period_s
    local inside = clock < burst_end
    local edge, rate = inside and burst_end or period_end, inside and workload.burst_rate_per_s or state.rate
    if clock < edge then
      if left <= rate * (edge - clock) then return clock + left / rate - start end
      left, clock = left - rate * (edge - clock), edge
    end
    if not inside then period = period + 1 end
  end
end

---@param rng rooflua.Random
function Burst:requests(rng)
  if self.burst_s > self.period_s then
    error(("workload.burst_s: %g s are more than workload.period_s, %g s"):format(self.burst_s, self.period_s), 0)
  end
  return arrivals.open_loop(self, rng, gap)
end

return Burst
