--- A day: a rate that rises and falls as a sine, with the same period for as long as requests come.
local arrivals = require "rooflua.arrivals"
local period = require "workloads.composed.period"
local policy = require "rooflua.policy"

---@class workloads.Diurnal: rooflua.Workload
---@field swing number
---@field period_s number
---@field peak_s number
local Diurnal = policy.define {
  name = "diurnal",
  doc = "Open loop, Poisson whose rate swings around rate_per_s as a sine, with one peak in every period_s.",
  source = "an inhomogeneous Poisson process; the shape of a day is the user's to state",
  params = arrivals.parameters {
    swing = { default = 0.8, unit = "1", min = 0, max = 1,
      doc = "How far the rate goes above and below its mean: 0.8 is from 0.2 to 1.8 times rate_per_s." },
    period_s = { default = 86400.0, unit = "s", min = 1e-3, doc = "From one peak to the next." },
    peak_s = { default = 43200.0, unit = "s", min = 0, doc = "When the first peak is." },
  },
}

Diurnal.varies = true -- by itself: a queue that grows for a while is no sign of too few replicas

local turn = 2 * math.pi
local steps = 60 -- at most, of the search for an arrival; halving alone needs 53

--- The expected number of arrivals until `time_s`.
local function expected(state, time_s)
  local day = state.workload
  local angle = turn * (time_s - day.peak_s) / day.period_s
  return state.rate * (time_s + day.swing * day.period_s / turn * math.sin(angle))
end

--- Draws an exponential with rate 1 and finds the time by which so many more arrivals are expected: Newton's steps,
--- and halving where they leave the interval that holds the time.
local function gap(state)
  local day = state.workload
  local begin_s = state.clock_s
  local wanted = expected(state, begin_s) + state.gaps:exponential(1)
  local mean_s = (wanted - expected(state, begin_s)) / state.rate
  local low, high = begin_s, begin_s + mean_s + day.swing * day.period_s / math.pi -- the sine's term is bounded
  local time_s = begin_s + mean_s
  for _ = 1, steps do
    local missing = wanted - expected(state, time_s)
    if missing > 0 then low = time_s else high = time_s end
    local rate = state.rate * (1 + day.swing * math.cos(turn * (time_s - day.peak_s) / day.period_s))
    local next_s = rate > 0 and time_s + missing / rate or low
    if not (next_s > low and next_s < high) then next_s = (low + high) / 2 end
    if math.abs(next_s - time_s) <= 1e-12 * (1 + time_s) then break end
    time_s = next_s
  end
  return time_s - begin_s
end

local function notes(state)
  if state.workload.swing == 0 then return {} end
  return period.notes(state.clock_s, state.workload.period_s, "workload.num_requests, workload.period_s")
end

---@param rng rooflua.Random
function Diurnal:requests(rng)
  local state = arrivals.open_loop(self, rng, gap)
  state.notes = notes
  return state
end

return Diurnal
