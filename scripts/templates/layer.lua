--- Is my kind of attention worth what it saves?
---
--- Setup     Llama-3.1-8B, bf16, on one H200; in the second variant 24 of its 32 layers are of the kind @STEM@.
--- Method    The same requests. The kind is layers/attention/@STEM@.lua: weights, what it keeps, what it computes.
--- Measures  Output tokens per second, TPOT, KV cache.
--- Expect    What you believe before you look.
--- Limits    No kernel of the kind was measured: its time is modelled, and intervals are wider (docs/LAYERS.md).
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@ --explain    what a step pays for the kind

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "All layers full, and three of four of the kind @STEM@",
  seed = 1,
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  workload = require "workloads.poisson" {
    rate_per_s = 4,
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 4000, sigma = 0.8, max = 30000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  model = "llama-3.1-8b",
  vary = {
    model = {
      { label = "full", value = "llama-3.1-8b" },
      { label = "@STEM@", value = {
        from = "llama-3.1-8b",
        attention = {
          { kind = "full", layers = 8 },
          { kind = "@STEM@", layers = 24, window = 2048, sinks = 4 },
        },
      } },
    },
  },
}
return scenario
