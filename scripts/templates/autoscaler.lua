--- When should a pool get another replica, and when should it lose one?
---
--- Setup     Llama-3.1-8B, bf16, one to six H200; a load that rises and falls, replicas that start in a minute.
--- Method    The same requests on three replicas, and under the autoscaler below.
--- Measures  TTFT, goodput under the limits of `slo`, GPU-hours.
--- Expect    What you believe before you look.
--- Limits    What an autoscaler sees: rooflua help Pool; starts, pools and drains: docs/CONTROL.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.Queue: rooflua.Autoscaler
---@field per_replica number
---@field window_s number
---@field interval_s number
local Queue = policy.define {
  name = "queue",
  doc = "As many replicas as requests that run or wait need, and one more where some wait.",
  params = {
    per_replica = { default = 20, unit = "requests", min = 0, exclusive_min = true, doc = "That a replica takes." },
    window_s = { default = 30, unit = "s", min = 0, exclusive_min = true, doc = "Loads are means over so long." },
    interval_s = { default = 15, unit = "s", min = 0, exclusive_min = true, doc = "It is asked so often." },
  },
}

--- How many replicas are wanted, those that start included; min and max of the pool hold.
---@param pool rooflua.Pool
---@return number
function Queue:scale(pool)
  local waiting = pool:mean("waiting", self.window_s) or 0
  local load = waiting + (pool:mean("running", self.window_s) or 0)
  return math.ceil(load / self.per_replica) + (waiting >= 1 and 1 or 0)
end

local function pool(autoscaler, count)
  return { { autoscaler = autoscaler, min = 1, max = 6, count = count,
    start = { provision_s = 0, image_bytes = 0, weight_bytes = 0, init_s = 60 } } }
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Three replicas, and as many as the queue asks for",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  router = "least_outstanding",
  slo = { ttft_s = 1 },
  workload = require "workloads.diurnal" {
    rate_per_s = 10,
    swing = 0.8,
    period_s = 600,
    peak_s = 300,
    num_requests = 3000,
    prompt_tokens = 2000,
    output_tokens = 150,
  },
  vary = {
    replicas = {
      { label = "3 fixed", value = 3 },
      { label = "queue", value = pool(Queue {}, 3) },
    },
  },
}
return scenario
