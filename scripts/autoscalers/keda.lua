--- KEDA: a scaler that asks for a metric of the whole decides between none and some; an HPA behind it between some and
--- more. From none it goes to one, or min, as soon as the metric is above activation; back after cooldown_s without.
local algorithm = require "autoscalers.hpa.algorithm"
local params = require "autoscalers.hpa.params"
local policy = require "rooflua.policy"

local source = "kedacore/keda 2.0 on: pkg/scaling/executor/scale_scaledobjects.go, "
  .. "apis/keda/v1alpha1/scaledobject_types.go"

---@class autoscalers.Keda: rooflua.Autoscaler
---@field metric string
---@field target number
---@field activation number
---@field polling_s number
---@field cooldown_s number
---@field interval_s number
---@field tolerance number
---@field down_window_s number
---@field up_window_s number
---@field up_pods number
---@field up_percent number
---@field down_percent number
---@field period_s number
local Keda = policy.define {
  name = "keda",
  doc = "KEDA's ScaledObject: polling, activation, cooldown to zero, and an HPA on a metric of the whole pool.",
  source = source,
  params = params.with {
    metric = { default = "outstanding", values = { "outstanding", "waiting", "arrivals" },
      doc = "Of the pool: requests that run or wait, in front of it too; those that wait; arrivals per second." },
    target = { default = 32, unit = "1", min = 0, exclusive_min = true, doc = "Of a replica (threshold)." },
    activation = { default = 0, unit = "1", min = 0, source = source .. ": activationThreshold",
      doc = "From none to some while the metric is above this." },
    polling_s = { default = 30, unit = "s", min = 0, exclusive_min = true, source = source .. ": pollingInterval",
      doc = "So often it looks whether some are needed while there are none." },
    cooldown_s = { default = 300, unit = "s", min = 0, source = source .. ": cooldownPeriod",
      doc = "To none so long after the metric was above activation last." },
  },
}

local parts = { outstanding = { "running", "waiting", "held" }, waiting = { "waiting", "held" },
  arrivals = { "arrivals" } }

function Keda:window() return math.max(self.interval_s, 30) end

local function metric_of(self, pool)
  local sum = 0
  for _, name in ipairs(parts[self.metric]) do sum = sum + (pool:mean(name, self.interval_s) or 0) end
  return sum
end

local function from_none(self, pool, usage)
  if usage <= self.activation then return 0 end
  if self.polled_s and pool.now_s - self.polled_s < self.polling_s then return 0 end
  self.polled_s = pool.now_s
  return math.max(1, pool.min)
end

---@param pool rooflua.Pool
function Keda:scale(pool)
  self.state = self.state or algorithm.new_state()
  local usage, current = metric_of(self, pool), pool.wanted
  if usage > self.activation then self.active_s = pool.now_s end
  if current == 0 then return from_none(self, pool, usage) end
  if pool.min == 0 and pool.now_s - (self.active_s or 0) >= self.cooldown_s then return 0 end
  local desired = algorithm.of_whole(usage, self.target, self.tolerance, current)
  local behavior = algorithm.behavior(self.up_window_s, self.down_window_s, self.up_pods, self.up_percent,
    self.down_percent, self.period_s)
  return algorithm.step(self.state, pool.now_s, current, desired, math.max(1, pool.min), pool.max, behavior)
end

return Keda
