--- Does it help if some replicas only prefill and the others only decode?
---
--- Setup     Llama-3.1-8B, bf16, four H200; the KV cache of a prompt moves over the GPUs' links.
--- Method    The same requests on four replicas that do both, and on three splits into two pools.
--- Measures  TTFT, TPOT, and goodput under the limits of `slo`.
--- Expect    What you believe before you look.
--- Limits    The best split depends on the lengths of prompts and answers.
---
---   rooflua run @FILE@ --jobs 2
---   rooflua run @FILE@ --html report.html       load of every replica over time
local function pools(prefill, decode)
  return { label = prefill .. " prefill + " .. decode .. " decode",
    value = { { role = "prefill", count = prefill }, { role = "decode", count = decode } } }
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Prefill and decode, together or split",
  seed = 1,
  model = "llama-3.1-8b", -- rooflua list models
  hardware = "h200-sxm", -- rooflua list hardware
  engine = "vllm 0.24", -- rooflua list engines
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" {},
  router = require "routers.least_outstanding" {}, -- rooflua list routers
  -- The way of a KV cache between replicas: network = { alpha_s = ..., bytes_per_s = ... }

  workload = require "workloads.poisson" {
    rate_per_s = 24,
    num_requests = 400,
    prompt_tokens = 4096,
    output_tokens = 128,
  },
  slo = { ttft_s = 1.0, tpot_s = 0.015 },

  vary = { replicas = { { label = "4 mixed", value = 4 }, pools(1, 3), pools(2, 2), pools(3, 1) } },
}
return scenario
