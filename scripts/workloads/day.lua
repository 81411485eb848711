--- A day's load on any workload: its clock of arrivals runs faster in busy hours than in quiet ones.
---
--- Of a workload with rate r the rate in hour h is r shape(h) weekday(h) noise(h), where shape and weekday have the
--- mean 1 over a week, and noise has the mean 1. So the mean rate stays, and Poisson arrivals stay Poisson. Each
--- arrival is moved to the time by which the shape amounts to the old one. Pauses between requests that follow each
--- other stay.
local inner = require "workloads.composed.inner"
local period = require "workloads.composed.period"
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Day: rooflua.Workload
local Day = policy.define {
  name = "day",
  doc = "Arrivals of another workload with the rates of a day: hours, weekdays, noise.",
  source = "a change of the clock of an inhomogeneous process; the shape of a day is the user's to state",
  params = {
    of = { default = false, type = "any", doc = "The workload whose arrivals are moved." },
    peak_to_trough = { default = 4.0, unit = "1", min = 1, max = 1e6,
      doc = "Rate of the busiest hour over that of the quietest; between them a cosine.",
      idle = { hours = { other_than = {} } } },
    peak_hour = { default = 14, unit = "h", min = 0, max = 23, integer = true, doc = "The busiest hour.",
      idle = { hours = { other_than = {} } } },
    hours = { default = {}, type = "any", doc = "Instead of the cosine: 24 relative rates, that of midnight first." },
    weekdays = { default = { 1, 1, 1, 1, 1, 1, 1 }, type = "any", doc = "Relative rates of seven days, Monday first." },
    noise = { default = 0.0, unit = "1", min = 0, max = 5,
      doc = "Sigma of the logarithm of a factor that each hour draws." },
    start_hour = { default = 0, unit = "h", min = 0, max = 167, integer = true,
      doc = "Hour of the week in which the run begins; 24 is midnight before Tuesday." },
    hour_s = { default = 3600.0, unit = "s", min = 1e-3, doc = "Length of an hour; less is a day in a hurry." },
  },
}

Day.varies = true -- by itself: a queue that grows for a while is no sign of too few replicas

local function relative_rates(list, count, key)
  local sum = 0
  for i = 1, count do
    local rate = type(list) == "table" and #list == count and list[i]
    if type(rate) ~= "number" or not (rate >= 0 and rate < 1e9) then
      error(("workload.%s: expected a list of %d relative rates >= 0"):format(key, count), 0)
    end
    sum = sum + rate
  end
  if sum == 0 then error(("workload.%s: all rates are 0"):format(key), 0) end
  return list, sum / count
end

--- Rates of the hours of a week, with the mean 1.
local function week_of(day)
  local hours = day.hours
  if type(hours) == "table" and #hours == 0 then
    local swing = (day.peak_to_trough - 1) / (day.peak_to_trough + 1)
    hours = {}
    for h = 1, 24 do hours[h] = 1 + swing * math.cos(2 * math.pi * (h - 1 - day.peak_hour) / 24) end
  else
    for _, key in ipairs { "peak_to_trough", "peak_hour" } do
      if policy.is_given(day, key) then error(("workload.%s: hours say all of it"):format(key), 0) end
    end
  end
  local of_day, mean = relative_rates(hours, 24, "hours")
  local of_week, mean_day = relative_rates(day.weekdays, 7, "weekdays")
  local out = {}
  for i = 0, 167 do out[i + 1] = of_day[i % 24 + 1] / mean * of_week[math.floor(i / 24) + 1] / mean_day end
  return out
end

--- The time by which the shape amounts to `wanted_s` seconds of the mean rate. Must not decrease from call to call.
local function moved(state, wanted_s)
  while wanted_s >= state.amount_s + state.rate * state.hour_s do
    state.amount_s = state.amount_s + state.rate * state.hour_s
    state.hour = state.hour + 1
    state.rate = state.week[(state.start + state.hour) % 168 + 1]
    if state.sigma > 0 then
      state.rate = state.rate * state.noise:lognormal(-state.sigma * state.sigma / 2, state.sigma)
    end
    arrivals.in_time(state.hour * state.hour_s, state.sent, state.sent, "workload.hour_s")
  end
  return state.hour * state.hour_s + (wanted_s - state.amount_s) / state.rate
end

local function next_request(state)
  local at_s, prompt, output, fields = state.own.next(state.own)
  if not at_s then return nil end
  state.sent = state.sent + 1
  state.last_s = moved(state, at_s)
  return state.last_s, prompt, output, fields
end

local function next_play(state)
  local play = state.own.plays(state.own)
  if not play then return nil end
  state.sent = state.sent + 1
  play.arrival_s = moved(state, play.arrival_s)
  state.last_s = play.arrival_s
  return play
end

local function answered(state, ...) return state.own.done(state.own, ...) end
local function more(state) return state.own.more(state.own) end
local function cancelled(state) return state.own.cancels(state.own) end
local function notes(state)
  local own, out = state.own.notes, {}
  for _, each in ipairs(type(own) == "function" and own(state.own) or own or {}) do out[#out + 1] = each end
  for _, each in ipairs(period.notes(state.last_s, 24 * state.hour_s, "requests of workload.of, workload.hour_s")) do
    out[#out + 1] = each
  end
  return out
end

--- The day of what `of` makes of its workload, as of a multiple of its load.
---@param of fun(workload: rooflua.Workload): rooflua.Workload
function Day:scaled(of) return policy.with(self, { of = of(self.of) }) end

---@param rng rooflua.Random
function Day:requests(rng)
  local own = inner.open(self.of, rng, "workload.of")
  if own.lanes then error("workload.of: plays in lanes begin when others end, at no hour of the day", 0) end
  local state = { own = own, week = week_of(self), start = self.start_hour, hour_s = self.hour_s, sigma = self.noise,
    noise = rng:stream "hours", last_s = 0, hour = -1, rate = 0, amount_s = 0, sent = 0 }
  for _, key in ipairs { "shares_content", "sends_items", "classes", "left_out", "until_s", "idle_cap_s",
    "measured_s" } do
    state[key] = own[key]
  end
  state.next, state.plays = own.next and next_request, own.plays and next_play
  state.done, state.more, state.cancels = own.done and answered, own.more and more, own.cancels and cancelled
  state.notes = notes
  return state
end

return Day
