--- What does one step cost, and what is it spent on?
---
--- Setup     Llama-3.1-8B, bf16, on one H200 and one H100.
--- Method    Two batches are priced; nothing is served, so that no queue and no clock is involved.
--- Measures  The time of each step, operation by operation, and what each time rests on.
--- Expect    What you believe before you look.
--- Limits    A batch of equal contexts. Batches of a real run: rooflua run SCENARIO --explain.
---
---   rooflua run @FILE@ --explain        operation by operation
---   rooflua run @FILE@ --json -         the same as a document
---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "price",
  title = "What one step costs",
  model = "llama-3.1-8b", -- rooflua list models
  hardware = "h200-sxm", -- rooflua list hardware
  engine = "vllm 0.24", -- rooflua list engines
  deployment = { tp = 1 },
  steps = require "steps.kernels" {}, -- rooflua help steps.kernels

  -- The batches: prompts as chunks after a context, and one context per request that decodes.
  price = {
    { name = "a prompt of 4,096 tokens", prefills = { { context_tokens = 0, new_tokens = 4096 } } },
    { name = "64 requests decode at 2,048 tokens", decodes = 64, decode_context_tokens = 64 * 2048 },
  },

  vary = { hardware = { "h200-sxm", "h100-sxm" } },
}
return scenario
