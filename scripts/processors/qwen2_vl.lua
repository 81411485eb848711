--- Qwen2-VL and Qwen2.5-VL: sides are multiples of 28 pixels, a token is 2 x 2 patches of 14 x 14. Two frames of a
--- video are one layer of patches, which attend within that layer.
local policy = require "rooflua.policy"
local resize = require "processors.shared.resize"

---@class processors.Qwen2Vl: rooflua.Processor
---@field min_pixels number
---@field max_pixels number
---@field video_min_pixels number
---@field video_max_pixels number
local Qwen2Vl = policy.define {
  name = "qwen2_vl",
  doc = "Sides are rounded to whole tokens, within bounds on the pixels; bounds of a video hold for each frame.",
  source = "transformers 4.45 to 5.14: models/qwen2_vl/image_processing_qwen2_vl.py, video_processing_qwen2_vl.py; "
    .. "bounds: preprocessor_config.json of the releases",
  params = {
    min_pixels = { default = 56 * 56, unit = "pixels", min = 1, doc = "Fewest of an image." },
    max_pixels = { default = 12845056, unit = "pixels", min = 1, doc = "Most of an image." },
    video_min_pixels = { default = 128 * 28 * 28, unit = "pixels", min = 1, doc = "Fewest of a frame." },
    video_max_pixels = { default = 768 * 28 * 28, unit = "pixels", min = 1, doc = "Most of a frame." },
  },
}

local function counted(wide, high, layers, shape)
  local patches = wide / shape.patch_size * (high / shape.patch_size)
  return layers * patches / shape.patches_per_token, resize.sequences(layers, patches)
end

function Qwen2Vl:image(width, height, shape)
  resize.check(width, height)
  local wide, high = resize.smart(width, height, shape.patch_size * shape.merge, self.min_pixels, self.max_pixels)
  return counted(wide, high, 1, shape)
end

function Qwen2Vl:video(frames, width, height, shape)
  resize.check(width, height)
  local wide, high = resize.smart(width, height, shape.patch_size * shape.merge, self.video_min_pixels,
    self.video_max_pixels)
  return counted(wide, high, math.ceil(frames / shape.patch_frames), shape)
end

return Qwen2Vl
