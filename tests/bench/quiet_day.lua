--- What does a day of light load cost?
---
--- Setup     DeepSeek-V3, FP8, sixteen replicas of eight H200; steps/kernels; schedulers/vllm_v1; round_robin.
--- Method    Poisson, 537,600 requests over 24 hours; prompts and answers lognormal, mean 200 each.
---           /usr/bin/time -f '%U s %M KB' build/release/bin/rooflua run tests/bench/quiet_day.lua --quiet
---           --set workload.num_requests=22400 for one hour.
--- Measures  User CPU time and memory of the process.
--- Expect    10 s for the day.
--- Limits    Most steps decode a few requests, and differ from the step before only by a longer context.
return {
  rooflua = 1,
  title = "A quiet day",
  seed = 1,
  model = "deepseek-v3",
  hardware = "h200-sxm",
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 8192 },
  deployment = { tp = 8, weights = "fp8" },
  replicas = 16,
  workload = require "workloads.poisson" {
    rate_per_s = 6.2222222222,
    num_requests = 537600,
    prompt_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, max = 8192 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, max = 8192 },
  },
}
