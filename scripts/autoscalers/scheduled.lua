--- So many replicas at given times, as a cron schedule has it.
local policy = require "rooflua.policy"

---@class autoscalers.Scheduled: rooflua.Autoscaler
---@field times number[]
---@field replicas integer[]
---@field period_s number
---@field interval_s number
local Scheduled = policy.define {
  name = "scheduled",
  doc = "A table of times: from each on so many replicas, again and again after a period.",
  source = "kedacore/keda pkg/scalers/cron_scaler.go",
  params = {
    times = { default = { 0 }, type = "list", unit = "s", doc = "From when on; they increase, from 0." },
    replicas = { default = { 1 }, type = "list", unit = "replicas", doc = "How many from each time on." },
    period_s = { default = 86400, unit = "s", min = 0, exclusive_min = true, doc = "After it the table begins again." },
    interval_s = { default = 15, unit = "s", min = 0, exclusive_min = true, doc = "It is asked so often." },
  },
}

local function check(self)
  if #self.times ~= #self.replicas or #self.times == 0 then
    error(("scheduled: found %d times and %d numbers of replicas; as many of both are right"):format(#self.times,
      #self.replicas), 0)
  end
end

function Scheduled:start() check(self) end

---@param pool rooflua.Pool
function Scheduled:scale(pool)
  local now_s, wanted = pool.now_s % self.period_s, self.replicas[#self.replicas]
  for i, time_s in ipairs(self.times) do
    if time_s <= now_s then wanted = self.replicas[i] end
  end
  return wanted
end

return Scheduled
