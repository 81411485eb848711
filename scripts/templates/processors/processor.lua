--- Images are cut into whole tokens, without scaling.
local policy = require "rooflua.policy"

---@class processors.Own: rooflua.Processor
---@field most_tokens integer
local Own = policy.define {
  name = "@STEM@",
  doc = "Whole tokens of the image as it is, up to a number.",
  params = {
    most_tokens = { default = 4096, unit = "tokens", min = 1, integer = true, doc = "Of an image." },
  },
}

--- Tokens of the prompt, and the patches of each sequence that attends within itself.
function Own:image(width, height, shape)
  local side = shape.patch_size * shape.merge
  local tokens = math.min(self.most_tokens, math.ceil(width / side) * math.ceil(height / side))
  return tokens, { tokens * shape.patches_per_token }
end

return Own
