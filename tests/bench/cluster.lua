--- What does a request cost where there are many replicas?
---
--- Setup     Llama-3.1-8B, bf16, one H200 per replica; steps/kernels; schedulers/vllm_v1; round_robin.
--- Method    Poisson at 20 requests/s per replica; prompts and answers lognormal, mean 200 each, sigma 0.7.
---           tests/bench/cluster.sh runs it for several numbers of replicas and every router.
--- Measures  The slope of user CPU time over the number of requests (from outside), at 16 and 1,024 replicas.
--- Expect    1.5 times as much at 1,024 replicas with round_robin, twice as much with routers that compare replicas.
--- Limits    Light load: a replica runs about four requests at once.
return {
  rooflua = 1,
  title = "A cluster under light load",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  replicas = 16,
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 8192 },
  router = require "routers.round_robin" {},
  workload = require "workloads.poisson" {
    rate_per_s = 320,
    num_requests = 20000,
    prompt_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, max = 8192 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, max = 8192 },
  },
}
