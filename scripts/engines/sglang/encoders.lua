--- What SGLang leaves of mem_fraction_static to a model with an encoder of images: a factor by the encoder's layers and
--- width, which it takes from num_hidden_layers and hidden_size of vision_config, with ViT-L/14's where config.json has
--- other names. Source: python/sglang/srt/server_args.py, from 2026-09 on arg_groups/memory_hook.py,
--- adjust_mem_fraction_for_vlm.
local encoders = {}

local layers_of_vit, width_of_vit = 24, 1024

--- Classes for which the encoder is not loaded unless --enable-multimodal is stated (configs/model_config.py).
local is_text = { gemma3 = true, llama4 = true, inkling = true }

--- Families whose config.json has depth for num_hidden_layers; and those with vt_hidden_size besides.
local has_depth = { qwen2_5_vl = true, qwen3_vl = true, qwen3_vl_moe = true, qwen3_5 = true, qwen3_5_moe = true,
  glm4v = true, glm4v_moe = true, kimi_k25 = true }
local has_own_width = { kimi_k25 = true }

local siglip_width, siglip_layers = 1152, 27 -- SigLIP So400m

--- Layers of an encoder; where its model states none, of its parameters less the two projections behind it.
local function layers_of(model)
  local vision = model.vision
  if vision.layers > 0 then return vision.layers end
  local width, inner, hidden = vision.hidden_size, vision.intermediate_size, model.hidden_size
  if width == siglip_width then return siglip_layers end
  return math.floor((vision.parameters - width * hidden - hidden * hidden) / (4 * width * width + 2 * width * inner))
end

--- Whether a model has an encoder of images that is loaded.
--- @param facts table
--- @return boolean
function encoders.is_loaded(facts)
  local model = facts.model
  return model ~= nil and model.vision ~= nil and not is_text[model.family]
end

--- The factor; 1 without an encoder, and for engines that only decode.
--- @param facts table
--- @return number
function encoders.share(facts)
  local model = facts.model
  if not encoders.is_loaded(facts) or facts.role == "decode" then return 1 end
  local layers = has_depth[model.family] and layers_of_vit or layers_of(model)
  local width = has_own_width[model.family] and width_of_vit or model.vision.hidden_size
  local ratio = layers * width * width / (layers_of_vit * width_of_vit * width_of_vit)
  return 0.95 * math.max(0.8, math.min(1.05, 1 - 0.1 * (ratio - 1)))
end

return encoders
