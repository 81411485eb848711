--- How long does a plan of 400 candidates take?
---
--- Setup     Llama-3.1-8B at 96 requests/s, chatbot lengths; H100, H200 and L40S, up to 32, 32 and 64 of them.
--- Method    `halving` over 432 candidates: 3 GPUs x 3 engines x 4 widths x 3 seats x 4 budgets.
---           bash -c "time build/release/bin/rooflua plan tests/bench/plan_400.lua --jobs 2 --quiet"
--- Measures  Seconds of wall clock and of CPU (user + system) time, from outside.
--- Expect    The aim is 10 s of wall clock on two cores that do nothing else. Measured: docs/PLANNER_SEARCH.md.
--- Limits    Nine in ten candidates end by their bounds or because they do not fit. A longer horizon takes longer.
return {
  rooflua = 1,
  kind = "plan",
  title = "A plan of 400 candidates",
  seed = 1,
  model = "llama-3.1-8b",
  workload = require "workloads.presets" { preset = "chatbot" },
  plan = {
    load = { rate_per_s = 96 },
    slo = { ttft_s_p99 = 0.5, tpot_s_p99 = 0.025 },
    gpus = {
      { "h100-sxm", most = 32, price_per_hour = 3 },
      { "h200-sxm", most = 32, price_per_hour = 4 },
      { "l40s", most = 64, price_per_hour = 1.1 },
    },
    candidates = require "candidates.ladder" {
      engines = { "vllm", "sglang", "trtllm" },
      tp = { 1, 2, 4, 8 },
      max_num_seqs = { 64, 128, 256 },
      max_num_batched_tokens = { 512, 1024, 2048, 8192 },
    },
  },
}
