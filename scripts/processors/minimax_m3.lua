--- MiniMax-M3: sides are multiples of 28 pixels, a token is 2 x 2 patches of 14 x 14, and an image has at most 672 x
--- 672 pixels. How many frames of a video it takes is not known here.
local policy = require "rooflua.policy"
local resize = require "processors.shared.resize"

---@class processors.MinimaxM3: rooflua.Processor
---@field min_pixels number
---@field max_pixels number
local MinimaxM3 = policy.define {
  name = "minimax_m3",
  doc = "As qwen2_vl, with at least one token along each side and fewer pixels.",
  source = "transformers 5.12: models/minimax_m3_vl/image_processing_minimax_m3_vl.py",
  params = {
    min_pixels = { default = 4 * 28 * 28, unit = "pixels", min = 1, doc = "Fewest of an image." },
    max_pixels = { default = 672 * 672, unit = "pixels", min = 1, doc = "Most of an image." },
  },
}

function MinimaxM3:image(width, height, shape)
  local factor = shape.patch_size * shape.merge
  resize.check(width, height)
  local wide, high = resize.smart(width, height, factor, self.min_pixels, self.max_pixels, { least_side = factor })
  local patches = wide / shape.patch_size * (high / shape.patch_size)
  return patches / shape.patches_per_token, { patches }
end

return MinimaxM3
