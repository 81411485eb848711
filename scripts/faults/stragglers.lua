--- Replicas that are slow for a while.
local policy = require "rooflua.policy"

---@class faults.Stragglers: rooflua.Faults
---@field share number
---@field factor number
---@field every_s number
---@field for_s number
local Stragglers = policy.define {
  name = "stragglers",
  doc = "Steps of some replicas take several times as long: always, or for a time now and then.",
  source = "a factor on the price of a step; which machines are slow, and how slow, is the user's to state",
  params = {
    share = { default = 0.125, unit = "1", min = 0, max = 1,
      doc = "Of the replicas, rounded up; which ones is drawn." },
    factor = { default = 2, unit = "1", min = 1, doc = "By which their steps take longer." },
    every_s = { default = 0, unit = "s", min = 0,
      doc = "Mean time from the end of a slow time to the next, exponential; 0: they are always slow." },
    for_s = { default = 60, unit = "s", min = 0, exclusive_min = true, doc = "How long a slow time lasts.",
      idle = { every_s = 0 } },
  },
}

function Stragglers:start(rng)
  self.streams, self.slow = rng, nil
end

--- The first of the replicas in a random order.
local function chosen(policy_of, replicas)
  local order, draws = {}, policy_of.streams:stream "stragglers"
  for i = 1, replicas do order[i] = i end
  for i = replicas, 2, -1 do
    local other = draws:integer(1, i)
    order[i], order[other] = order[other], order[i]
  end
  local out = {}
  for i = 1, math.ceil(policy_of.share * replicas) do
    local own = policy_of.streams:stream("faults", order[i])
    out[i] = { replica = order[i], draws = own,
      time_s = policy_of.every_s == 0 and 0 or own:exponential(1 / policy_of.every_s) }
  end
  return out
end

function Stragglers:next(_, replicas)
  self.slow = self.slow or chosen(self, replicas)
  local first
  for _, each in ipairs(self.slow) do
    if each.time_s < math.huge and (not first or each.time_s < first.time_s) then first = each end
  end
  if not first then return nil end
  local time_s, always = first.time_s, self.every_s == 0
  first.time_s = always and math.huge or time_s + self.for_s + first.draws:exponential(1 / self.every_s)
  return { time_s = time_s, replica = first.replica, kind = "slow", factor = self.factor,
    for_s = not always and self.for_s or nil }
end

return Stragglers
