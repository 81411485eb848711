--- Gemma 4: an image becomes the largest with its ratio of sides that has at most 280 tokens of 3 x 3 patches of
--- 16 x 16; the encoder runs over 2,520 patches, of which the last are padding.
local policy = require "rooflua.policy"

local floor, min = math.floor, math.min

---@class processors.Gemma4: rooflua.Processor
---@field max_tokens integer
---@field marks integer
local Gemma4 = policy.define {
  name = "gemma4",
  doc = "Scaled up or down to a number of tokens; the encoder's rows are padded to the same number.",
  source = "transformers 5.5 to 5.14: models/gemma4/image_processing_gemma4.py, processing_gemma4.py",
  params = {
    max_tokens = { default = 280, unit = "tokens", values = { 70, 140, 280, 560, 1120 }, doc = "Of an image." },
    marks = { default = 2, unit = "tokens", min = 0, integer = true, doc = "Begin and end." },
  },
}

function Gemma4:image(width, height, shape)
  local side, patches = shape.patch_size * shape.merge, self.max_tokens * shape.patches_per_token
  local scale = math.sqrt(patches * (shape.patch_size * shape.patch_size) / (width * height))
  local wide, high = floor(scale * width / side), floor(scale * height / side) -- tokens
  if wide == 0 and high == 0 then error(("a picture of %dx%d pixels has no token"):format(width, height), 0) end
  if high == 0 then wide, high = min(floor(width / height), self.max_tokens), 1 end
  if wide == 0 then wide, high = 1, min(floor(height / width), self.max_tokens) end
  return wide * high + self.marks, { patches }
end

return Gemma4
