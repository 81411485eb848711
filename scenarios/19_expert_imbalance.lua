--- What does it cost that experts are not equally popular?
---
--- Setup     DeepSeek-V3, FP8, on 16 H200: attention in 16 data-parallel ranks, 16 whole experts on each GPU.
--- Method    The same 1,000 requests, Poisson at 15 per second, prompts of 2,000 tokens, answers of 200. The rank whose
---           experts get most rows sets the time of a layer; only its rows over those of a balanced rank change.
--- Measures  Throughput, TTFT and TPOT.
--- Expect    Half of the time is not the experts', and with few rows experts read their weights, however many rows
---           there are. So twice the rows on the fullest rank cost less than half of TPOT. With three times the rows
---           the engine nears its limit, and TTFT grows most.
--- Limits    One imbalance for all layers and steps, as if the same ranks were always the fullest. Measured MoE rows
---           hold a skewed draw already; the imbalance is on top of theirs. Exchange and memory are not skewed.
return {
  rooflua = 1,
  title = "Imbalance of experts over sixteen ranks",
  seed = 5,
  model = "deepseek-v3",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  deployment = { tp = 1, dp = 16, ep = 16, weights = "fp8", kv = "fp8" },
  steps = require "steps.kernels" {},
  router = require "routers.vllm_dp" {},
  workload = require "workloads.poisson" {
    rate_per_s = 15,
    num_requests = 1000,
    prompt_tokens = 2000,
    output_tokens = 200,
  },
  vary = { ["steps.expert_imbalance"] = { 1, 1.25, 1.5, 2, 3 } },
}
