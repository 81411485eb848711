--- GLM-4.1V, GLM-4.5V and GLM-4.6V: sides are multiples of 28 pixels, a token is 2 x 2 patches of 14 x 14. An image
--- counts as a video of two frames, which are one layer of patches; bounds hold for all frames together. Times stand in
--- the prompt before each layer of a video: their words are not counted here.
local policy = require "rooflua.policy"
local Qwen3Vl = require "processors.qwen3_vl"

---@class processors.Glm4v: processors.Qwen3Vl
local Glm4v = policy.define {
  name = "glm4v",
  doc = "As videos of qwen3_vl, with patches of 14 pixels; an image is a video of two frames.",
  source = "transformers 4.53 to 5.14: models/glm4v/image_processing_glm4v.py, video_processing_glm4v.py",
  extends = Qwen3Vl,
  params = {
    min_pixels = { default = 112 * 112, unit = "pixels", min = 1, doc = "Fewest of an image, counted twice." },
    max_pixels = { default = 28 * 28 * 15000, unit = "pixels", min = 1, doc = "Most of an image, counted twice." },
    video_min_pixels = { default = 112 * 112, unit = "pixels", min = 1, doc = "Fewest of all frames." },
    video_max_pixels = { default = 28 * 28 * 2 * 30000, unit = "pixels", min = 1, doc = "Most of all frames." },
  },
}

function Glm4v:image(width, height, shape)
  return self:within(shape.patch_frames, width, height, shape, self.min_pixels, self.max_pixels)
end

return Glm4v
