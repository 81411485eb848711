--- Does a smaller prefill chunk protect time per output token, and what does it cost in TTFT?
---
--- Setup     Llama-3.1-8B, bf16, on one H200. Prompts of 4,096 tokens, answers of 256.
--- Method    Poisson arrivals at 4 requests/s, 300 requests, one seed; the token budget of a step is the
---           only thing that changes between runs.
--- Measures  p50 and p99 of TTFT and of TPOT.
--- Expect    The p99 of TPOT falls with the budget; the p50 of TTFT rises.
--- Limits    Rows of tables carry at least 80 % of the time; the report says what carries the rest.
return {
  rooflua = 1,
  title = "Chunked prefill: what the token budget buys and costs",
  seed = 7,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256 },
  workload = require "workloads.poisson" {
    rate_per_s = 4,
    num_requests = 300,
    prompt_tokens = 4096,
    output_tokens = 256,
  },
  vary = { ["scheduler.max_num_batched_tokens"] = { 512, 2048, 8192 } },
}
