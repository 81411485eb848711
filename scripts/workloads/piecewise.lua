--- Rates and lengths that change from interval to interval, as monitoring shows a load.
---
--- In an interval of d seconds with the rate r there are r d requests, spread like those of a Poisson process of which
--- the number is known; fractions of a request are kept for the next interval. Lengths have the mean of the interval,
--- and a spread that all intervals share.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Piecewise: rooflua.Workload
---@field intervals table
---@field arrivals string
---@field prompt_sigma number
---@field output_sigma number
---@field most_prompt_tokens integer
---@field most_output_tokens integer
local Piecewise = policy.define {
  name = "piecewise",
  doc = "Open loop, with a rate and lengths for each of several intervals.",
  source = "an inhomogeneous Poisson process; counters of an engine, as Prometheus keeps them",
  params = {
    intervals = { default = { { duration_s = 60, rate_per_s = 1, prompt_tokens = 512, output_tokens = 128 } },
      type = "any", doc = "A list of { duration_s =, rate_per_s =, prompt_tokens =, output_tokens = }: lengths are "
        .. "means of the interval. shared_frac = is the part of its prompts that all requests share." },
    arrivals = { default = "counted", values = { "counted", "poisson" },
      doc = "counted: each interval has its number of requests. poisson: the number is drawn." },
    prompt_sigma = { default = 0.0, unit = "1", min = 0, max = 5,
      doc = "Sigma of the logarithm of prompts' lengths; 0: all of an interval are as long as its mean." },
    output_sigma = { default = 0.0, unit = "1", min = 0, max = 5, doc = "The same of answers." },
    most_prompt_tokens = { default = 0, unit = "tokens", min = 0, integer = true, doc = "No prompt is longer; 0: any.",
      idle = { prompt_sigma = 0 } },
    most_output_tokens = { default = 0, unit = "tokens", min = 0, integer = true, doc = "No answer is longer; 0: any.",
      idle = { output_sigma = 0 } },
    max_output_tokens = arrivals.limit_parameter(),
  },
}

Piecewise.varies = true -- by itself: a queue that grows for a while is no sign of too few replicas

-- Intervals ---------------------------------------------------------------------------------------------------------

--- Least and most of each key; without `needed` it may be missing, and is 0.
local keys = { duration_s = { 1e-9, 9e6, needed = true }, rate_per_s = { 0, 1e9, needed = true },
  prompt_tokens = { 1, 2147483647, needed = true }, output_tokens = { 1, 2147483647, needed = true },
  shared_frac = { 0, 1 } }

local function found(value) return type(value) == "number" and ("%.14g"):format(value) or "a " .. type(value) end

local function wrong(where, message, ...) error(("workload.%s: %s"):format(where, message:format(...)), 0) end

--- The value of a key of an interval.
local function checked(each, key, where)
  local bounds, value = keys[key], each[key]
  if value == nil and not bounds.needed then return 0 end
  if type(value) ~= "number" or not (value >= bounds[1] and value <= bounds[2]) then
    wrong(where .. "." .. key, "expected a number from %g to %g, found %s", bounds[1], bounds[2],
      value == nil and "nothing" or found(value))
  end
  return value
end

--- The intervals of this workload.
function Piecewise:list()
  local list = self.intervals
  if type(list) ~= "table" or #list == 0 then
    wrong("intervals", "expected a list with at least one interval, found %s", found(list))
  end
  local out, sum = {}, 0
  for i, each in ipairs(list) do
    local where, own = ("intervals[%d]"):format(i), {}
    if type(each) ~= "table" then wrong(where, "expected { duration_s = 60, ... }, found %s", found(each)) end
    for key in pairs(each) do
      if not keys[key] then
        wrong(where, "unknown key '%s' (known: duration_s, output_tokens, prompt_tokens, rate_per_s, shared_frac)",
          tostring(key))
      end
    end
    for key in pairs(keys) do own[key] = checked(each, key, where) end
    out[i], sum = own, sum + own.rate_per_s * own.duration_s
  end
  if sum + 1e-9 < 1 then wrong("intervals", "all of them together have less than one request") end
  return out
end

-- Requests ----------------------------------------------------------------------------------------------------------

--- Times of the requests of an interval: as many points, uniform over it.
local function spread(state, each)
  local count
  if state.policy.arrivals == "poisson" then
    local mean = each.rate_per_s * each.duration_s
    count = mean > 0 and state.gaps:poisson(mean) or 0
  else
    state.owed = state.owed + each.rate_per_s * each.duration_s
    count = math.floor(state.owed + 1e-9)
    state.owed = state.owed - count
  end
  local times = {}
  for i = 1, count do times[i] = state.begin_s + state.gaps:uniform() * each.duration_s end
  table.sort(times)
  return times
end

--- A length with that mean. Without a spread, fractions of a token are kept for the next request.
local function length(state, what, stream)
  local mean, sigma = state.each[what .. "_tokens"], state.policy[what .. "_sigma"]
  local most, rest = state.policy["most_" .. what .. "_tokens"], what .. "_rest"
  if sigma > 0 then
    local drawn = math.floor(stream:lognormal(math.log(mean) - sigma * sigma / 2, sigma) + 0.5)
    return math.max(1, most > 0 and math.min(drawn, most) or drawn)
  end
  local wanted = mean + state[rest]
  local whole = math.max(1, math.floor(wanted + 0.5))
  state[rest] = wanted - whole
  return whole
end

local function next_request(state)
  while state.sent >= #state.times do
    if state.each then state.begin_s = state.begin_s + state.each.duration_s end
    state.number = state.number + 1
    state.each = state.intervals[state.number]
    if not state.each then return nil end
    state.times, state.sent = spread(state, state.each), 0
  end
  state.sent, state.count = state.sent + 1, state.count + 1
  local each = state.each
  local at_s = arrivals.in_time(state.times[state.sent], state.count, state.count, "workload.intervals")
  local prompt, output = length(state, "prompt", state.prompts), length(state, "output", state.outputs)
  local fields
  local shared = math.floor(each.shared_frac * prompt + 0.5)
  if shared > 0 then
    fields = { content = prompt > shared and { { 1, shared }, { 0, prompt - shared } } or { { 1, shared } } }
  end
  return at_s, prompt, arrivals.declare(state.limit, output, fields)
end

---@param rng rooflua.Random
function Piecewise:requests(rng)
  local intervals, shares = self:list(), false
  for _, each in ipairs(intervals) do shares = shares or each.shared_frac > 0 end
  return { next = next_request, policy = self, intervals = intervals, number = 0, begin_s = 0, times = {}, sent = 0,
    count = 0, owed = 0, prompt_rest = 0, output_rest = 0, limit = arrivals.limit(self), shares_content = shares,
    gaps = rng:stream "arrivals", prompts = rng:stream "prompt_tokens", outputs = rng:stream "output_tokens" }
end

return Piecewise
