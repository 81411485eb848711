-- The processor of a model: the one place that knows how many tokens its images have, the largest one as well.
local core = require "rooflua.base.core"
local named_policies = require "rooflua.sandbox.named_policies"

local processors = {}

local own_parameters = { "min_pixels", "max_pixels", "edge", "tiles" } -- that a model may state

--- The processor of an encoder, with what its model states; nil of a model without one.
---@param vision table? core.plain(model.vision) or core.plain(model.audio)
---@param name string? "vision" or "audio", for errors
function processors.of(model, vision, name)
  if not vision or (vision.processor or "") == "" then return nil end
  local class = named_policies.class("processors", vision.processor)
  if not class then
    core.fail("%s: %s.processor: %s", model.name, name or "vision",
      named_policies.unknown("processors", vision.processor))
  end
  local given = {}
  for _, parameter in ipairs(own_parameters) do
    local value = vision[parameter]
    if value and value ~= 0 then given[parameter] = value end
  end
  local ok, made = pcall(class, given)
  if not ok then core.fail("%s: %s: %s", model.name, name or "vision", tostring(made)) end
  return made
end

--- What a processor reads of an encoder.
function processors.shape(vision)
  return { patch_size = vision.patch_size, patch_frames = vision.patch_frames,
    patches_per_token = vision.patches_per_token, merge = math.floor(math.sqrt(vision.patches_per_token) + 0.5) }
end

local enormous = 2 ^ 20 -- pixels along a side: more than any processor leaves
local longest_s = 30 -- seconds of a sound that vLLM's dummy run has (qwen2_5_omni_thinker.py, get_dummy_mm_data)

--- Embeddings of the largest item: of an image what the model's file states, else what its processor says; of a sound
--- those of 30 seconds; 0 of a model without either.
function processors.largest(model)
  local vision, audio = model.vision and core.plain(model.vision), model.audio and core.plain(model.audio)
  if vision and vision.image_tokens > 0 then return vision.image_tokens end
  local function most(own, method, ...)
    local processor = processors.of(model, own)
    if not processor or type(processor[method]) ~= "function" then return 0 end
    local shape, sum = processors.shape(own), 0
    local arguments = { ... }
    arguments[#arguments + 1] = shape
    local _, rows, embeddings = processor[method](processor, unpack(arguments))
    for _, patches in ipairs(rows) do sum = sum + math.floor(patches / own.patches_per_token) end
    return embeddings or sum
  end
  local processor, width, height = processors.of(model, vision), enormous, enormous
  if processor and processor.largest then width, height = processor:largest() end
  return math.max(most(vision, "image", width, height), most(audio, "audio", longest_s))
end

return processors
