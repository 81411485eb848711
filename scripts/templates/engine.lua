--- What does an engine of my own do differently from vLLM?
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    The same requests on vLLM 0.24, and on the fork of it in engines/@STEM@.lua.
--- Measures  TTFT and TPOT, p50 and p99.
--- Expect    What you believe before you look.
--- Limits    An engine is its defaults, options and rules by release; what it may state: docs/ENGINES.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua help engines.@STEM@     its options and defaults; run it in this folder
---   rooflua run @FILE@
---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "vLLM against a fork of it",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  workload = require "workloads.poisson" {
    rate_per_s = 8,
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  vary = { engine = { "vllm 0.24", "@STEM@ 1.0" } },
}
return scenario
