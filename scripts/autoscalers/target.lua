--- Target tracking: as many replicas as bring a load down to a target of each.
---
---     wanted = ceil(load of the pool / target), the mean of the load over window_s
local policy = require "rooflua.policy"

---@class autoscalers.Target: rooflua.Autoscaler
---@field signal string
---@field target number
---@field interval_s number
---@field window_s number
local Target = policy.define {
  name = "target",
  doc = "As many replicas as bring the pool's load down to a target of each.",
  source = "target tracking of AWS Auto Scaling: capacity in proportion to metric over target",
  params = {
    signal = { default = "outstanding", values = { "outstanding", "waiting", "arrivals", "prompt_tokens" },
      doc = "The load: requests that run or wait, in front of the pool too; those that wait; requests or prompt tokens "
        .. "per second." },
    target = { default = 32, unit = "1", min = 0, exclusive_min = true, doc = "Of a replica." },
    interval_s = { default = 15, unit = "s", min = 0, exclusive_min = true, doc = "It is asked so often.",
      source = "Kubernetes --horizontal-pod-autoscaler-sync-period" },
    window_s = { default = 30, unit = "s", min = 0, exclusive_min = true, doc = "The load is a mean over so long." },
  },
}

local parts = { outstanding = { "running", "waiting", "held" }, waiting = { "waiting", "held" },
  arrivals = { "arrivals" }, prompt_tokens = { "prompt_tokens" } }

---@param pool rooflua.Pool
function Target:scale(pool)
  local load = 0
  for _, name in ipairs(parts[self.signal]) do load = load + (pool:mean(name, self.window_s) or 0) end
  return math.ceil(load / self.target - 1e-9)
end

return Target
