--- InternVL 2 to 3.5: an image becomes the grid of tiles of 448 pixels whose ratio of sides is nearest to its own, and
--- where there is more than one tile a small copy of all of it besides. A tile is a sequence of 1,024 patches and one
--- of its class, and becomes 256 tokens. Marks begin and end an image, and each frame of a video, which is one tile.
--- The words in front of a frame are not counted here.
local policy = require "rooflua.policy"
local resize = require "processors.shared.resize"

local abs, huge = math.abs, math.huge

---@class processors.Internvl: rooflua.Processor
---@field edge integer
---@field tiles integer
---@field copy boolean
---@field marks integer
local Internvl = policy.define {
  name = "internvl",
  doc = "Tiles of the grid with the nearest ratio of sides, and a copy of all of the image.",
  source = "vllm/model_executor/models/internvl.py of 0.6 to 0.34; transformers 4.52 to 5.14: "
    .. "models/got_ocr2/image_processing_got_ocr2.py, models/internvl/processing_internvl.py",
  params = {
    edge = { default = 448, unit = "pixels", min = 1, integer = true, doc = "A side of a tile." },
    tiles = { default = 12, unit = "tiles", min = 1, integer = true, doc = "Most of an image, without the copy." },
    copy = { default = true, doc = "Whether an image of several tiles has a copy of all of it." },
    marks = { default = 2, unit = "tokens", min = 0, integer = true, doc = "Begin and end." },
  },
}

--- Tiles of an image: of grids that are as near, the larger one, if the image has more than half of its pixels.
local function tiles_of(self, width, height)
  local ratio, best, least = width / height, 1, huge
  for tiles = 1, self.tiles do
    for across = 1, tiles do
      local down = tiles / across
      local distance = abs(ratio - across / down)
      if down % 1 == 0 and (distance < least
        or distance == least and width * height > 0.5 * self.edge * self.edge * tiles) then
        best, least = tiles, distance
      end
    end
  end
  return best
end

--- @return number patches of a tile, without that of its class
local function patches_of(self, shape)
  local side = math.floor(self.edge / shape.patch_size)
  return side * side
end

function Internvl:image(width, height, shape)
  local tiles, patches = tiles_of(self, width, height), patches_of(self, shape)
  local count = tiles + (self.copy and tiles > 1 and 1 or 0)
  local embeddings = count * patches / shape.patches_per_token
  return embeddings + self.marks, resize.sequences(count, patches + 1), embeddings
end

--- Pixels of an image with all tiles: they stand in a row.
function Internvl:largest() return self.tiles * self.edge, self.edge end

function Internvl:video(frames, _, _, shape)
  local patches = patches_of(self, shape)
  local embeddings = frames * patches / shape.patches_per_token
  return embeddings + frames * self.marks, resize.sequences(frames, patches + 1), embeddings
end

return Internvl
