--- Kubernetes' HorizontalPodAutoscaler on a metric that pods report. Pods that start have no metric yet.
local algorithm = require "autoscalers.hpa.algorithm"
local params = require "autoscalers.hpa.params"
local policy = require "rooflua.policy"

---@class autoscalers.Hpa: rooflua.Autoscaler
---@field metric string
---@field target number
---@field interval_s number
---@field tolerance number
---@field down_window_s number
---@field up_window_s number
---@field up_pods number
---@field up_percent number
---@field down_percent number
---@field period_s number
local Hpa = policy.define {
  name = "hpa",
  doc = "Kubernetes' HPA (autoscaling/v2): tolerance, missing metrics, stabilisation windows, policies.",
  source = "kubernetes 1.23 to 1.34 pkg/controller/podautoscaler",
  params = params.with {
    metric = { default = "waiting", values = { "waiting", "running", "outstanding", "kv_used_frac" },
      doc = "Of each pod, as the engines report it.",
      source = "vLLM production stack and llm-d guides scale by vllm:num_requests_waiting" },
    target = { default = 5, unit = "1", min = 0, exclusive_min = true, doc = "Its mean over the pods shall be this." },
  },
}

---@param pool rooflua.Pool
function Hpa:scale(pool)
  self.state = self.state or algorithm.new_state()
  local values, current = {}, pool.wanted
  for i, each in ipairs(pool:replicas()) do values[i] = each[self.metric] end
  local desired = algorithm.of_pods(values, pool.starting, self.target, self.tolerance, current)
  local behavior = algorithm.behavior(self.up_window_s, self.down_window_s, self.up_pods, self.up_percent,
    self.down_percent, self.period_s)
  return algorithm.step(self.state, pool.now_s, current, desired, math.max(1, pool.min), pool.max, behavior)
end

return Hpa
