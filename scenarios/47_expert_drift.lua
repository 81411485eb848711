--- How often should experts move, and what do copies of them bring?
---
--- Setup     DeepSeek-V3, FP8, on 16 H200: attention in 16 data-parallel ranks, experts on the same ranks. The k-th
---           expert of a layer is as popular as 1 / k^0.5. Which one that is drifts, so that after 4,000 steps the order
---           has little left of what it was.
--- Method    The same requests, Poisson at 15 per second. Experts stay, or DeepSeek's balancer places them anew every
---           300 to 10,000 steps; with and without copies (2 on each rank); moving stops the engine, or goes on beside it.
--- Measures  Load of the fullest rank, bytes that move, what engines wait, TTFT and TPOT.
--- Expect    A balancer that acts often follows the drift and pays for it with bytes and stalls. One that acts rarely
---           places experts for a popularity that is gone: there is a best interval, near a part of the drift's time.
---           Copies split the most popular experts, which no placement without copies can do; they take room from KV.
--- Limits    The load is an expected value, by the popularity and not by a draw of tokens. The drift is a process with
---           one time constant, without a day's rhythm. No published run gives popularity by time, so that neither the
---           drift nor the loads are validated.
local function variant(name, redundant, balancer)
  return { name = name, set = { ["experts.redundant"] = redundant, ["experts.balancer"] = balancer } }
end

local function eplb(every, more)
  local parameters = { step_interval = every, window_size = math.min(every, 1000), host_s = 0.05 }
  for key, value in pairs(more or {}) do parameters[key] = value end
  return require "balancers.eplb" (parameters)
end

return {
  rooflua = 1,
  title = "Experts that drift over sixteen ranks",
  seed = 5,
  model = "deepseek-v3",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  deployment = { tp = 1, dp = 16, ep = 16, weights = "fp8", kv = "fp8" },
  steps = require "steps.kernels" {},
  router = require "routers.vllm_dp" {},
  experts = { zipf = 0.5, drift_steps = 4000 },
  workload = require "workloads.poisson" { rate_per_s = 15, num_requests = 1500, prompt_tokens = 2000,
    output_tokens = 200 },
  vary = { experts = {
    variant("never", 0, require "balancers.never" {}),
  } },
}
