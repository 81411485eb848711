--- Replicas that fail at random, and are repaired.
local parameters = require "faults.detection.parameters"
local policy = require "rooflua.policy"

---@class faults.Exponential: rooflua.Faults
---@field mtbf_s number
---@field repair_s number
local Exponential = policy.define {
  name = "exponential",
  doc = "Each replica fails after an exponential time, and is repaired after a constant one: it starts again then.",
  source = "the usual model of independent failures; times are the user's to state",
  params = parameters.of_replicas {
    mtbf_s = { default = 86400, unit = "s", min = 0, exclusive_min = true,
      doc = "Mean time from a repair to the next failure of a replica." },
    repair_s = { default = 300, unit = "s", min = 0, doc = "From a failure to the start that follows it." },
  },
}

function Exponential:start(rng)
  self.streams, self.times = rng, {}
end

--- Each replica draws from a stream of its own, so that more replicas change nothing of the others.
function Exponential:next(_, replicas)
  for i = #self.times + 1, replicas do
    local draws = self.streams:stream("faults", i)
    self.times[i] = { draws = draws, time_s = draws:exponential(1 / self.mtbf_s) }
  end
  local first = 1
  for i, each in ipairs(self.times) do
    if each.time_s < self.times[first].time_s then first = i end
  end
  local own = self.times[first]
  local time_s = own.time_s
  own.time_s = time_s + self.repair_s + own.draws:exponential(1 / self.mtbf_s)
  return { time_s = time_s, replica = first, kind = "fail", for_s = self.repair_s }
end

return Exponential
