--- How fast is a run of a million requests with small batches?
---
--- Setup     Llama-3.1-8B, bf16, one H200; steps/kernels; schedulers/vllm_v1.
--- Method    Poisson at 20 requests/s; prompts and answers lognormal, mean 200 each, sigma 0.7.
--- Measures  Wall time of the process.
--- Expect    Under 6 s on one core.
--- Limits    No prefix caching.
return {
  rooflua = 1,
  title = "A million requests at 20 per second",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  deployment = { prefix_caching = false },
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 8192 },
  workload = require "workloads.poisson" {
    rate_per_s = 20,
    num_requests = 1000000,
    prompt_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, max = 8192 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, max = 8192 },
  },
}
