--- Which GPU serves Qwen3-32B at 5 requests/s of 2,000 + 300 tokens, with TTFT p99 below 1 s?
---
--- Setup     Qwen3-32B, bf16, vLLM; H100, H200 or B200, up to 16 of a kind, at prices of published lists.
--- Method    tp 1, 2 and 4, two numbers of seats and two budgets. Bounds of single steps leave out what cannot win;
---           short runs, longer runs and full runs find the fewest replicas of each of the others. Twenty runs
---           with other seeds and errors of the model say how sure the answer is.
--- Measures  Dollars per hour; TTFT p99 <= 1 s and TPOT p99 <= 50 ms with a probability of 80 %.
--- Expect    Fewer of the newer GPUs, which cost more each: the order follows the prices as much as the speed.
--- Limits    Prices are examples. All requests have one length, so tails are thin.
return {
  rooflua = 1,
  title = "Which GPU for Qwen3-32B at 5 requests/s of 2,000 + 300 tokens?",
  seed = 1,
  kind = "plan",
  model = "qwen3-32b",
  workload = require "workloads.poisson" { prompt_tokens = 2000, output_tokens = 300 },
  plan = {
    load = { rate_per_s = 5 },
    slo = { ttft_s_p99 = 1, tpot_s_p99 = 0.05 },
    gpus = { { "h100-sxm", most = 16 }, { "h200-sxm", most = 16 }, { "b200", most = 16 } },
    replicates = 20,
    candidates = require "candidates.ladder" { tp = { 1, 2, 4 }, max_num_seqs = { 64, 256 },
      max_num_batched_tokens = { 2048, 8192 } },
  },
}
