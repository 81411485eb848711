--- What do you want to know? One question, answered by the table that the run prints.
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    300 requests at 4 per second, one seed; the token budget of a step is all that changes.
--- Measures  Throughput, p50 and p99 of TTFT and TPOT; goodput under the limits of `slo`.
--- Expect    What you believe before you look. Keep it here even if it proves wrong.
--- Limits    What the answer does not cover.
---
---   rooflua check @FILE@                        mistakes, and the evidence that the times will rest on
---   rooflua run @FILE@                          the answer
---   rooflua run @FILE@ --html report.html       the answer with charts
---   rooflua run @FILE@ --set workload.rate_per_s=6
---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "A question of my own",
  seed = 1, -- same seed, same requests in every variant

  model = "llama-3.1-8b", -- rooflua list models, or the path of a Hugging Face config.json
  hardware = "h200-sxm", -- rooflua list hardware
  engine = "vllm 0.24", -- rooflua list engines
  deployment = { tp = 1, memory_utilization = 0.92 },

  -- What a step costs. Parameters and their sources: rooflua help steps.kernels
  steps = require "steps.kernels" {},
  -- Measured tables, where you have some: mfu = { path = "DIR", layout = "rooflua" },

  -- Which requests run in a step: rooflua list schedulers, rooflua help schedulers.vllm_v1
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 128, max_num_batched_tokens = 8192 },

  -- When requests come and how long they are. Recorded ones: require "workloads.trace" { path = ... }; users who
  -- wait for answers and think: run with --users 40, or rooflua new NAME --kind users
  workload = require "workloads.poisson" {
    rate_per_s = 4,
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  slo = { ttft_s = 0.5, tpot_s = 0.05 },

  -- One run per value; several keys make every combination.
  vary = { ["scheduler.max_num_batched_tokens"] = { 512, 2048, 8192 } },
}
return scenario
