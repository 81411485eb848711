--- Qwen3-VL and Qwen3.5: sides are multiples of 32 pixels, a token is 2 x 2 patches of 16 x 16. Two frames of a video
--- are one layer of patches, which attend within that layer; the bounds hold for all frames together. A time stands in
--- the prompt before each layer of a video: its words are not counted here.
local policy = require "rooflua.policy"
local Qwen2Vl = require "processors.qwen2_vl"
local resize = require "processors.shared.resize"

---@class processors.Qwen3Vl: processors.Qwen2Vl
local Qwen3Vl = policy.define {
  name = "qwen3_vl",
  doc = "As qwen2_vl, with patches of 16 pixels; bounds of a video hold for all its frames together.",
  source = "transformers 4.57 to 5.14: models/qwen3_vl/video_processing_qwen3_vl.py, without cap_pixels_per_frame; "
    .. "bounds: preprocessor_config.json, video_preprocessor_config.json of the releases",
  extends = Qwen2Vl,
  params = {
    min_pixels = { default = 65536, unit = "pixels", min = 1, doc = "Fewest of an image." },
    max_pixels = { default = 16777216, unit = "pixels", min = 1, doc = "Most of an image." },
    video_min_pixels = { default = 4096, unit = "pixels", min = 1, doc = "Fewest of all frames." },
    video_max_pixels = { default = 25165824, unit = "pixels", min = 1, doc = "Most of all frames." },
  },
}

--- Tokens of frames that share their bounds, and the patches of each layer.
function Qwen3Vl:within(frames, width, height, shape, least, most)
  local factor = shape.patch_size * shape.merge
  if width < factor or height < factor then
    local scale = math.max(factor / width, factor / height)
    width, height = math.floor(width * scale), math.floor(height * scale)
  end
  resize.check(width, height)
  local wide, high = resize.smart(width, height, factor, least, most,
    { frames = frames, counted = resize.nearest(frames, shape.patch_frames) })
  local layers, patches = math.ceil(frames / shape.patch_frames), wide / shape.patch_size * (high / shape.patch_size)
  return layers * patches / shape.patches_per_token, resize.sequences(layers, patches)
end

function Qwen3Vl:video(frames, width, height, shape)
  if frames < shape.patch_frames then
    error(("a video of %d frames: the processor takes %d and more"):format(frames, shape.patch_frames), 0)
  end
  return self:within(frames, width, height, shape, self.video_min_pixels, self.video_max_pixels)
end

return Qwen3Vl
