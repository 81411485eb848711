--- Mistral Small 3.1, Ministral 3 and Mistral Large 3 (Pixtral): an image keeps its size up to an edge of 1,540 pixels
--- and is padded to whole tokens of 2 x 2 patches of 14 x 14. A mark ends each line of tokens.
local policy = require "rooflua.policy"

local ceil, floor, max = math.ceil, math.floor, math.max

---@class processors.Pixtral: rooflua.Processor
---@field edge integer
local Pixtral = policy.define {
  name = "pixtral",
  doc = "Scaled down to a longest edge, padded to whole tokens, with a mark behind each line of them.",
  source = "transformers 4.50 to 5.14: models/pixtral/image_processing_pixtral.py, processing_pixtral.py; "
    .. "mistral_common rounds where these take whole pixels below",
  params = { edge = { default = 1540, unit = "pixels", min = 1, integer = true, doc = "Longest side." } },
}

function Pixtral:image(width, height, shape)
  local ratio = max(height / self.edge, width / self.edge)
  if ratio > 1 then width, height = floor(width / ratio), floor(height / ratio) end
  local factor = shape.patch_size * shape.merge
  local wide, high = ceil(width / factor), ceil(height / factor)
  return (wide + 1) * high, { wide * high * shape.patches_per_token }
end

return Pixtral
