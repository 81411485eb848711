--- Small variants of one scenario: what a further run in one process costs besides its simulation.
---
--- Setup     Five short requests; only the rate differs, so that the machine is the same in all.
--- Method    A sample of `sweep.n` rates.
--- Measures  What one more variant takes: tests/bench/report.sh.
return {
  rooflua = 1,
  title = "Small variants",
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  workload = require "workloads.poisson" { rate_per_s = 4, num_requests = 5, prompt_tokens = 500, output_tokens = 5 },
  sweep = { method = "random", n = 100, params = { ["workload.rate_per_s"] = { 1, 20 } } },
}
