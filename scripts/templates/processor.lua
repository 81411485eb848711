--- What does an image cost by my own rule of tokens?
---
--- Setup     Qwen3-VL-30B-A3B, bf16, on one H200; its images have the tokens that processors/@STEM@.lua says.
--- Method    A prompt with one image of 1024 x 1024 pixels is priced: the encoder's pass and the step behind it.
--- Measures  The time of the step, operation by operation.
--- Expect    What you believe before you look.
--- Limits    The encoder's heads have no measured rows: their attention is modelled (docs/ENCODERS.md).
---
---   rooflua run @FILE@ --explain        operation by operation

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "price",
  title = "One image, by the rule of @STEM@",
  model = { from = "qwen3-vl-30b-a3b", vision = {
    parameters = 538e6, hidden_size = 1152, intermediate_size = 4304, layers = 27, heads = 16, patch_size = 16,
    patches_per_token = 4, patch_frames = 2, processor = "@STEM@",
    projector = { { inputs = 4608, outputs = 4608, times = 4 }, { inputs = 4608, outputs = 2048, times = 4 } },
  } },
  hardware = "h200-sxm", -- rooflua list hardware
  engine = "vllm 0.24", -- rooflua list engines
  price = {
    { name = "one image", images = { { 1024, 1024 } }, prefills = { { context_tokens = 0, new_tokens = 1100 } } },
  },
}
return scenario
