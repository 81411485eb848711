--- Kimi-K2.5 (MoonViT): an image is made smaller until it has few enough patches of 14 x 14, and padded to whole tokens
--- of 2 x 2 patches. Four frames of a video attend together, and are averaged into the tokens of one; a time stands in
--- the prompt before them: its words are not counted here.
local policy = require "rooflua.policy"

local ceil, floor, max, min, sqrt = math.ceil, math.floor, math.max, math.min, math.sqrt

---@class processors.Kimi: rooflua.Processor
---@field max_patches integer
---@field frame_patches integer
---@field side_patches integer
---@field group_frames integer
local Kimi = policy.define {
  name = "kimi",
  doc = "Scaled down to a number of patches, padded to whole tokens; four frames of a video become one.",
  source = "preprocessor_config.json, media_utils.py of Kimi-K2.5; vllm/transformers_utils/processors/kimi_k25.py of "
    .. "0.15 and later",
  params = {
    max_patches = { default = 16384, unit = "patches", min = 1, integer = true, doc = "Of an image." },
    frame_patches = { default = 4096, unit = "patches", min = 1, integer = true, doc = "Of a frame." },
    side_patches = { default = 512, unit = "patches", min = 1, integer = true, doc = "Along a side." },
    group_frames = { default = 4, unit = "frames", min = 1, integer = true, doc = "That become one." },
  },
}

--- Tokens of a picture that may have so many patches.
local function tokens_of(self, width, height, shape, most)
  local patch, longest = shape.patch_size, self.side_patches * shape.patch_size
  local own = max(1, floor(width / patch)) * max(1, floor(height / patch))
  local scale = min(1, sqrt(most / own), longest / width, longest / height)
  local factor = patch * shape.merge
  local wide, high = min(max(1, floor(width * scale)), longest), min(max(1, floor(height * scale)), longest)
  return ceil(wide / factor) * ceil(high / factor)
end

function Kimi:image(width, height, shape)
  local tokens = tokens_of(self, width, height, shape, self.max_patches)
  return tokens, { tokens * shape.patches_per_token }
end

function Kimi:video(frames, width, height, shape)
  local each = tokens_of(self, width, height, shape, self.frame_patches)
  local rows, groups = {}, ceil(frames / self.group_frames)
  for i = 1, groups do
    rows[i] = min(self.group_frames, frames - (i - 1) * self.group_frames) * each * shape.patches_per_token
  end
  return groups * each, rows
end

return Kimi
