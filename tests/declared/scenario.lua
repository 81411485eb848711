--- A short run for tests/declared/check.lua: what the longest step takes, and which rate keeps it short.
return {
  rooflua = 1,
  kind = "search",
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  workload = require "workloads.poisson" {
    num_requests = 30, rate_per_s = 5, prompt_tokens = 1000, output_tokens = 20,
  },
  search = { goal = "rate", slo = { longest_step_s = 0.5 }, min = 1, max = 20 },
}
