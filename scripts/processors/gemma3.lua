--- Gemma 3: every image becomes a square of 896 pixels, whose patches are averaged into 256 tokens. Begin, end and two
--- lines around them stand in the prompt as well. Pan and scan, which cuts long images, is off by default.
local policy = require "rooflua.policy"

---@class processors.Gemma3: rooflua.Processor
---@field edge integer
---@field marks integer
local Gemma3 = policy.define {
  name = "gemma3",
  doc = "Every image has the same number of tokens, whatever its size.",
  source = "transformers 4.50 to 5.14: models/gemma3/image_processing_gemma3.py, processing_gemma3.py",
  params = {
    edge = { default = 896, unit = "pixels", min = 1, integer = true, doc = "A side of the square." },
    marks = { default = 4, unit = "tokens", min = 0, integer = true, doc = "Begin, end, and a line before and after." },
  },
}

function Gemma3:image(_, _, shape)
  local side = math.floor(self.edge / shape.patch_size)
  local patches = side * side
  return patches / shape.patches_per_token + self.marks, { patches }
end

return Gemma3
