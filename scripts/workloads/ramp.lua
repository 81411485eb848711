--- A rate that changes from request to request, by equal steps or by equal factors.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class workloads.Ramp: rooflua.Workload
---@field end_rate_per_s number
---@field form string
local Ramp = policy.define {
  name = "ramp",
  doc = "Open loop, exponential gaps whose rate goes from rate_per_s to end_rate_per_s over the requests.",
  source = "vllm bench serve: --ramp-up-strategy",
  params = arrivals.parameters {
    end_rate_per_s = { default = 10.0, unit = "requests/s", min = 0, exclusive_min = true,
      doc = "Rate at the last request." },
    form = { default = "linear", values = { "linear", "exponential" },
      doc = "The rate changes by equal steps (linear) or by equal factors (exponential)." },
  },
}

Ramp.varies = true -- by itself: a queue that grows for a while is no sign of too few replicas

local function gap(state)
  local first, last = state.rate, state.workload.end_rate_per_s
  local part = state.count > 1 and (state.sent - 1) / (state.count - 1) or 0
  local rate
  if state.workload.form == "linear" then
    rate = first + (last - first) * part
  else
    rate = first * math.exp(math.log(last / first) * part)
  end
  return state.gaps:exponential(rate)
end

---@param rng rooflua.Random
function Ramp:requests(rng)
  return arrivals.open_loop(self, rng, gap)
end

return Ramp
