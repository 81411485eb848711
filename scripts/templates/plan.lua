--- Which GPUs, and how many, serve this load within the limits at least cost?
---
--- Setup     Llama-3.1-8B, bf16, vLLM; up to 8 H100 or H200, at the prices below.
--- Method    Combinations of tp, seats and token budgets: what cannot win is left out by bounds, the others are
---           simulated; runs with other seeds and errors of the model say how sure the answer is.
--- Measures  Dollars per hour, among deployments that hold `slo` with the probability `confidence`.
--- Expect    What you believe before you look.
--- Limits    The same from the command line: rooflua plan --help. Everything that a plan reads: docs/PLANNER.md.
---
---   rooflua run @FILE@ --jobs 2
---   rooflua plan @FILE@ --write DIR       the commands that start the answer
---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "plan",
  title = "The cheapest deployment within the limits",
  seed = 1,
  model = "llama-3.1-8b", -- rooflua list models
  engine = "vllm 0.24", -- rooflua list engines
  workload = require "workloads.poisson" {
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  plan = {
    load = { rate_per_s = 20 }, -- users who wait for answers and think: rooflua plan @FILE@ --users 2000
    slo = { ttft_s_p99 = 1, tpot_s_p99 = 0.05 },
    gpus = { { "h100-sxm", most = 8, price_per_hour = 3 }, { "h200-sxm", most = 8, price_per_hour = 4 } },
    confidence = 0.8,
    requests = 1000, -- of a full run
    replicates = 10, -- 40 say more exactly how sure the answer is
    candidates = require "candidates.ladder" { -- rooflua help candidates.ladder
      tp = { 1, 2 },
      max_num_seqs = { 64, 256 },
      max_num_batched_tokens = { 2048, 8192 },
    },
    objective = require "objectives.cost" {}, -- rooflua list objectives
  },
}
return scenario
