--- Which scheduler serves the same requests best?
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    The same 500 requests, Poisson at 8 per second, prompts lognormal with mean 1,024, answers
---           lognormal with mean 256; every shipped scheduler, the only thing that changes.
--- Measures  Throughput, TTFT, TPOT and E2E; goodput under TTFT <= 1 s and TPOT <= 50 ms.
--- Expect    Static batching has by far the worst TTFT and throughput; iteration-level schedulers differ
---           by less than 1 % in throughput and agree within 15 % on the p50 of TPOT.
--- Limits    Each scheduler runs with its own defaults, and this load fills none of their limits: near
---           saturation they differ more. Rows of tables carry at least 80 % of the time.
return {
  rooflua = 1,
  title = "The same requests, every scheduler",
  seed = 3,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  slo = { ttft_s = 1.0, tpot_s = 0.05 },
  workload = require "workloads.poisson" {
    rate_per_s = 8,
    num_requests = 500,
    prompt_tokens = { distribution = "lognormal", mean = 1024, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 256, sigma = 0.6, max = 2000 },
  },
  vary = {
    scheduler = {
      require "schedulers.vllm_v1" {},
      require "schedulers.vllm_v0" {},
      require "schedulers.sarathi" {},
      require "schedulers.sglang" {},
      require "schedulers.trtllm" {},
      require "schedulers.orca" {},
      require "schedulers.sjf" {},
      require "schedulers.priority" {},
      require "schedulers.static_batch" {},
    },
  },
}
