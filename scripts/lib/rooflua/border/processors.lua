-- The processor of a model: the one place that knows how many tokens its images have, the largest one as well.
local core = require "rooflua.base.core"
local named_policies = require "rooflua.sandbox.named_policies"

local processors = {}

local own_parameters = { "min_pixels", "max_pixels", "edge", "tiles" } -- that a model may state

--- The processor of an encoder, with what its model states; nil of a model without one.
---@param vision table? core.plain(model.vision)
function processors.of(model, vision)
  if not vision or (vision.processor or "") == "" then return nil end
  local class = named_policies.class("processors", vision.processor)
  if not class then
    core.fail("%s: vision.processor: %s", model.name, named_policies.unknown("processors", vision.processor))
  end
  local given = {}
  for _, name in ipairs(own_parameters) do
    local value = vision[name]
    if value and value ~= 0 then given[name] = value end
  end
  local ok, made = pcall(class, given)
  if not ok then core.fail("%s: vision: %s", model.name, tostring(made)) end
  return made
end

--- What a processor reads of an encoder.
function processors.shape(vision)
  return { patch_size = vision.patch_size, patch_frames = vision.patch_frames,
    patches_per_token = vision.patches_per_token, merge = math.floor(math.sqrt(vision.patches_per_token) + 0.5) }
end

local enormous = 2 ^ 20 -- pixels along a side: more than any processor leaves

--- Embeddings of the largest image: what the model's file states, else what its processor says; 0 of a model without
--- either.
function processors.largest(model)
  local vision = model.vision and core.plain(model.vision)
  if not vision or vision.image_tokens > 0 then return vision and vision.image_tokens or 0 end
  local processor = processors.of(model, vision)
  if not processor or type(processor.image) ~= "function" then return 0 end
  local sum, _, rows = 0, processor:image(enormous, enormous, processors.shape(vision))
  for _, patches in ipairs(rows) do sum = sum + math.floor(patches / vision.patches_per_token) end
  return sum
end

return processors
