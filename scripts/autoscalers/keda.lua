--- KEDA: a scaler that asks for a metric of the whole decides between none and some; an HPA behind it between some and
--- more. From none it goes to one, or min, as soon as the metric is above activation; back after cooldown_s without.
--- Of several triggers the largest number of replicas counts, and one that is above its activation suffices.
local algorithm = require "autoscalers.hpa.algorithm"
local params = require "autoscalers.hpa.params"
local policy = require "rooflua.policy"

local metrics = { "outstanding", "waiting", "arrivals", "kv_used_frac", "backlog_s" }
local source = "kedacore/keda 2.0 on: pkg/scaling/executor/scale_scaledobjects.go, "
  .. "apis/keda/v1alpha1/scaledobject_types.go"

---@class autoscalers.Keda: rooflua.Autoscaler
---@field metric string
---@field target number
---@field activation number
---@field polling_s number
---@field cooldown_s number
---@field triggers table[]
---@field prefill_tokens_per_s number
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
    metric = { default = "outstanding", values = metrics,
      doc = "Of the pool: requests that run or wait, in front of it too; those that wait; arrivals per second; KV use, "
        .. "summed over replicas; waiting prompt tokens over prefill_tokens_per_s." },
    target = { default = 32, unit = "1", min = 0, exclusive_min = true, doc = "Of a replica (threshold)." },
    activation = { default = 0, unit = "1", min = 0, source = source .. ": activationThreshold",
      doc = "From none to some while the metric is above this." },
    triggers = { default = {}, type = "list", source = source .. ": triggers; kubernetes.io HorizontalPodAutoscaler: "
      .. "of several metrics the largest number", doc = "Further triggers: { metric, target, activation }." },
    prefill_tokens_per_s = { default = 0, unit = "tokens/s", min = 0,
      doc = "Prompt tokens that a replica computes per second, of backlog_s; needed with it." },
    polling_s = { default = 30, unit = "s", min = 0, exclusive_min = true, source = source .. ": pollingInterval",
      doc = "So often it looks whether some are needed while there are none." },
    cooldown_s = { default = 300, unit = "s", min = 0, source = source .. ": cooldownPeriod",
      doc = "To none so long after the metric was above activation last." },
  },
}

local parts = { outstanding = { "running", "waiting", "held" }, waiting = { "waiting", "held" },
  arrivals = { "arrivals" } }

function Keda:window() return math.max(self.interval_s, 30) end

local function metric_of(self, pool, metric)
  local sum = 0
  for _, name in ipairs(parts[metric] or {}) do sum = sum + (pool:mean(name, self.interval_s) or 0) end
  for _, each in ipairs(parts[metric] and {} or pool:replicas()) do
    sum = sum + (metric == "backlog_s" and each.waiting_tokens / self.prefill_tokens_per_s or each.kv_used_frac)
  end
  return sum
end

--- All triggers: {metric, target, activation}.
local function triggers_of(self)
  local out = { { metric = self.metric, target = self.target, activation = self.activation } }
  for i, each in ipairs(self.triggers) do
    out[i + 1] = { metric = each.metric, target = each.target, activation = each.activation or 0 }
  end
  return out
end

local known = { metric = true, target = true, activation = true }

local function check(self, trigger, where)
  local is_metric = false
  for _, name in ipairs(metrics) do is_metric = is_metric or name == trigger.metric end
  if not is_metric then
    error(("keda: %smetric: unknown metric '%s' (known: %s)"):format(where, tostring(trigger.metric),
      table.concat(metrics, ", ")), 0)
  end
  if type(trigger.target) ~= "number" or not (trigger.target > 0) then
    error(("keda: %starget: expected a number above 0, found %s"):format(where, tostring(trigger.target)), 0)
  end
  if trigger.metric == "backlog_s" and self.prefill_tokens_per_s == 0 then
    error("keda: prefill_tokens_per_s is missing; how many prompt tokens does a replica compute per second?", 0)
  end
end

function Keda:start()
  for i, each in ipairs(self.triggers) do
    for name in pairs(each) do
      if not known[name] then
        error(("keda: triggers[%d]: unknown key '%s' (known: metric, target, activation)"):format(i, tostring(name)), 0)
      end
    end
  end
  for i, each in ipairs(triggers_of(self)) do check(self, each, i > 1 and ("triggers[%d]."):format(i - 1) or "") end
  local uses_backlog = false
  for _, each in ipairs(triggers_of(self)) do uses_backlog = uses_backlog or each.metric == "backlog_s" end
  if self.prefill_tokens_per_s > 0 and not uses_backlog then
    error("keda: prefill_tokens_per_s changes nothing: no trigger has the metric backlog_s", 0)
  end
end

--- How many replicas the triggers want of `current`, and whether one of them is active.
local function wanted(self, pool, current)
  local most, is_active = 0, false
  for _, each in ipairs(triggers_of(self)) do
    local usage = metric_of(self, pool, each.metric)
    is_active = is_active or usage > each.activation
    most = math.max(most, algorithm.of_whole(usage, each.target, self.tolerance, current))
  end
  return most, is_active
end

local function from_none(self, pool, is_active)
  if not is_active then return 0 end
  if self.polled_s and pool.now_s - self.polled_s < self.polling_s then return 0 end
  self.polled_s = pool.now_s
  return math.max(1, pool.min)
end

---@param pool rooflua.Pool
function Keda:scale(pool)
  self.state = self.state or algorithm.new_state()
  local current = pool.wanted
  local desired, is_active = wanted(self, pool, current)
  if is_active then self.active_s = pool.now_s end
  if current == 0 then return from_none(self, pool, is_active) end
  if pool.min == 0 and pool.now_s - (self.active_s or 0) >= self.cooldown_s then return 0 end
  local behavior = algorithm.behavior(self.up_window_s, self.down_window_s, self.up_pods, self.up_percent,
    self.down_percent, self.period_s)
  return algorithm.step(self.state, pool.now_s, current, desired, math.max(1, pool.min), pool.max, behavior)
end

return Keda
