--- How fast is a saturated run of a million requests, with scheduler and step model in Lua?
---
--- Setup     Llama-3.1-8B, bf16, one H200; steps/kernels; schedulers/vllm_v1 with 256 seats, budget 8,192.
--- Method    Closed loop of 512 clients; prompts and answers lognormal, mean 200 each, sigma 0.7.
--- Measures  Wall time and memory of the process (from outside).
--- Expect    Under 2 s on one core and 200 MB.
--- Limits    No prefix caching: requests share nothing. Interrupt guards are on.
return {
  rooflua = 1,
  title = "A million requests, saturated",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  deployment = { prefix_caching = false },
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 8192 },
  workload = require "workloads.closed_loop" {
    clients = 512,
    num_requests = 1000000,
    prompt_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, max = 8192 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, max = 8192 },
  },
}
