--- How long does the simulator take for one decode step, for batches of any size?
---
--- Setup     Llama-3.1-8B, bf16, one H200; steps/kernels; schedulers/vllm_v1.
--- Method    All seats decode in step for 100,000 tokens, five times; --set workload.clients=N,
---           workload.num_requests=5N and scheduler.max_num_seqs=N for other batches.
--- Measures  Instructions and time per step (tests/bench/report.sh).
--- Expect    Within a factor of 1.5 between 16, 256 and 4,096 seats.
--- Limits    The KV cache is larger than any GPU has, so that no request is preempted.
return {
  rooflua = 1,
  title = "Nothing but decode steps",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  deployment = { prefix_caching = false, kv_blocks = 30000000 },
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 8192 },
  workload = require "workloads.closed_loop" {
    clients = 256,
    num_requests = 1280,
    prompt_tokens = 16,
    output_tokens = 100000,
  },
}
