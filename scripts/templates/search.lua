--- How many requests per second does one GPU carry within the limits?
---
--- Setup     Llama-3.1-8B, bf16, one replica on one H100 or one H200.
--- Method    Bisection over the rate of Poisson arrivals, to 5 %. Goals: rate, cheapest, pareto, sensitivity
---           (rooflua help scenario.search).
--- Measures  The highest rate at which the p99 of TTFT and of TPOT hold the limits of `search.slo`.
--- Expect    What you believe before you look.
--- Limits    400 requests are a burst, not a steady state.
---
---   rooflua run @FILE@ --jobs 2 --results @STEM@.sqlite     a second time only missing runs
---   rooflua run @FILE@ --html report.html                    every run that the search did
---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "search",
  title = "Requests per second within the limits",
  seed = 1,
  model = "llama-3.1-8b", -- rooflua list models
  hardware = "h200-sxm", -- rooflua list hardware
  engine = "vllm 0.24", -- rooflua list engines
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 2048 },

  workload = require "workloads.poisson" {
    num_requests = 400,
    prompt_tokens = { distribution = "lognormal", mean = 600, sigma = 0.7, max = 8192 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, max = 2048 },
  },

  search = {
    goal = "rate",
    slo = { ttft_s_p99 = 0.5, tpot_s_p99 = 0.025 },
    min = 1,
    max = 200,
    tolerance = 0.05,
  },

  vary = { hardware = { "h100-sxm", "h200-sxm" } },
}
return scenario
