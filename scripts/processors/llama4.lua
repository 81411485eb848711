--- Llama 4: an image is cut into at most 16 tiles of 336 pixels and has, where there is more than one, a small copy of
--- all of it besides. A tile is a sequence of 576 patches and one of its class, and becomes 144 tokens. Marks begin and
--- end the image, and stand between tiles.
local policy = require "rooflua.policy"
local resize = require "processors.shared.resize"

local min = math.min

---@class processors.Llama4: rooflua.Processor
---@field edge integer
---@field tiles integer
local Llama4 = policy.define {
  name = "llama4",
  doc = "Tiles of a grid that makes the image smaller by as little as possible, and a copy of all of it.",
  source = "transformers 4.51 to 5.14: models/llama4/image_processing_llama4_fast.py, processing_llama4.py",
  params = {
    edge = { default = 336, unit = "pixels", min = 1, integer = true, doc = "A side of a tile." },
    tiles = { default = 16, unit = "tiles", min = 1, integer = true, doc = "Most of an image, without the copy." },
  },
}

--- Whether a grid that scales by `scale` is better than the best one: the least enlargement, else the least reduction;
--- of those that are alike the smaller grid.
local function is_better(scale, tiles, best_scale, best_tiles)
  if scale == best_scale then return tiles < best_tiles end
  if scale >= 1 then return best_scale < 1 or scale < best_scale end
  return best_scale < 1 and scale > best_scale
end

local function grid_of(self, width, height)
  local best, wide, high = 0, 1, math.huge
  for across = 1, self.tiles do
    for down = 1, math.floor(self.tiles / across) do
      local scale = min(across * self.edge / width, down * self.edge / height)
      if is_better(scale, across * down, best, wide * high) then best, wide, high = scale, across, down end
    end
  end
  return wide, high
end

function Llama4:image(width, height, shape)
  local wide, high = grid_of(self, width, height)
  local side, tiles = self.edge / shape.patch_size, wide * high
  local patches = side * side
  local each = patches / shape.patches_per_token
  local marks, count = 3, 1 -- begin, copy, end
  if tiles > 1 then marks, count = marks + tiles, tiles + 1 end -- one behind each tile, of a line or of a tile
  return count * each + marks, resize.sequences(count, patches + 1)
end

return Llama4
