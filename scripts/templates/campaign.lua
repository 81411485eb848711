--- How do I run a sweep in a queue that rooflua does not know?
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    A sweep over rates, in shards that the files of campaigns/@STEM@.lua start.
--- Measures  TTFT and TPOT.
--- Expect    What you believe before you look.
--- Limits    What a campaign is, and what its files are asked for: docs/CAMPAIGNS.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@          all of it, in one process
---   rooflua campaign submit @FILE@ --on @STEM@ --shards 2 --dir shards
---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "A sweep of a few rates",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  workload = require "workloads.poisson" {
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  vary = { ["workload.rate_per_s"] = { 1, 2, 4, 8 } },
}
return scenario
