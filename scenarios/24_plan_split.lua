--- DeepSeek-V3 on 16 H200: prefill and decode together or split?
---
--- Setup     DeepSeek-V3, FP8, vLLM; two nodes of eight H200 at a price of 3 dollars per GPU and hour.
--- Method    tp 8 with experts divided or whole, prompts of 4,000 tokens and answers of 500. Every candidate runs in
---           full: two replicas that do both, or one that prefills beside one that decodes.
--- Measures  Whether 4 requests/s meet TTFT p99 <= 3 s and TPOT p99 <= 50 ms, and how sure that is.
--- Expect    Together, prompts delay decodes, so TPOT p99 is missed or close to its limit; split, TTFT is longer.
--- Limits    The KV transfer takes the bandwidth of the network; no cache-aware gateway.
return {
  rooflua = 1,
  title = "DeepSeek-V3 on 16 H200, together or split",
  seed = 1,
  kind = "plan",
  model = "deepseek-v3",
  workload = require "workloads.poisson" { prompt_tokens = 4000, output_tokens = 500 },
  plan = {
    load = { rate_per_s = 4 },
    slo = { ttft_s_p99 = 3, tpot_s_p99 = 0.05 },
    gpus = { { "h200-sxm", most = 16, price_per_hour = 3 } },
    replicates = 20,
    strategy = require "strategies.exhaustive" {},
    candidates = require "candidates.ladder" { tp = { 8 }, max_num_seqs = { 128 },
      max_num_batched_tokens = { 2048, 8192 }, split = { { 1, 1 } } },
  },
}
