--- How many requests per second does the simulator run on the trace that BLIS was timed on?
---
--- Setup     Qwen3-14B, bf16, one H100; 256 seats, budget 2,048, 15,909 KV blocks.
--- Method    Replay of its chatbot trace at 30 requests/s, Poisson: 10,000 requests, and 100,000 with
---           --set workload.path=../shared/data/traces/blis_chatbot_poisson30_100k.csv
--- Measures  User CPU time and memory of the process, and the slope between 10,000 and 100,000 requests.
--- Expect    At least 100 times faster than 145 us per request, under 1 KB per request in flight.
--- Limits    No prefix caching: the requests share nothing.
return {
  rooflua = 1,
  title = "The BLIS chatbot trace",
  seed = 1,
  model = "qwen3-14b",
  hardware = "h100-sxm",
  deployment = { kv_blocks = 15909, prefix_caching = false },
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 2048 },
  workload = require "workloads.trace" { path = "../shared/data/traces/blis_chatbot_poisson30_10k.csv" },
}
