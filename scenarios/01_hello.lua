--- What does one step of Llama-3.1-8B cost on an H200, operation by operation, and why?
---
--- Setup     Llama-3.1-8B, bf16, on one H200 SXM.
--- Method    Two batches priced by steps/kernels: a decode of 64 requests with 2,048 tokens of context
---           each, and the prefill of one prompt of 4,096 tokens. Nothing is simulated over time.
--- Measures  Time, flop, bytes, MFU, bound and evidence of every operation.
--- Expect    The decode is bound by memory: weights and KV cache over bandwidth is its floor. The
---           prefill is bound by compute, and its GEMMs take most of it.
--- Limits    Rows of tables carry at least 85 % of the time; shares marked `modelled` rest on datasheet figures.
return {
  rooflua = 1,
  title = "One step of Llama-3.1-8B on an H200",
  kind = "price",
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  price = {
    { name = "decode, 64 requests at 2,048 tokens", decodes = 64, decode_context_tokens = 64 * 2048 },
    { name = "prefill, one prompt of 4,096 tokens", prefills = { { new_tokens = 4096, context_tokens = 0 } } },
  },
}
