--- How InferSim reads config.json, misreadings included.
---
--- InferSim does not recognise these keys, so they are not recognised here: `n_routed_experts` and
--- `n_shared_experts` (DeepSeek's files use them; such a model runs as dense),
--- `shared_expert_intermediate_size`, `first_k_dense_replace`.
--- Source: alibaba/InferSim f2293da, config/model_config.py.

local config = {}

--- Keys that a config.json must have, by kind of model.
local required = {
  always = { "num_hidden_layers", "hidden_size", "num_attention_heads" },
  mla = { "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim" },
  mha = { "num_key_value_heads", "head_dim" },
  moe = { "num_experts_per_tok", "moe_intermediate_size" },
  dense = { "intermediate_size" },
  hybrid = { "linear_conv_kernel_dim", "linear_num_key_heads", "linear_key_head_dim",
             "linear_num_value_heads", "linear_value_head_dim" },
}

local function require_keys(raw, group, origin)
  for _, key in ipairs(required[group]) do
    if type(raw[key]) ~= "number" then
      error(("%s: InferSim needs a number '%s' here (found %s)"):format(origin, key, tostring(raw[key])), 0)
    end
  end
end

--- @param raw table a decoded config.json
--- @param origin string the file, for messages
--- @return table shape hidden_size, layers, heads, ..., numbers of the whole model
function config.read(raw, origin)
  origin = origin or "config.json"
  if raw.model_type == "qwen3_5" or raw.model_type == "qwen3_5_moe" then raw = raw.text_config end
  if type(raw) ~= "table" then error(origin .. ": a text_config is missing", 0) end
  require_keys(raw, "always", origin)
  local shape = {
    layers = raw.num_hidden_layers,
    hidden_size = raw.hidden_size,
    heads = raw.num_attention_heads,
    mla = raw.kv_lora_rank ~= nil,
    moe = raw.num_routed_experts ~= nil or raw.num_experts ~= nil,
    hybrid = raw.full_attention_interval ~= nil,
  }
  if shape.mla then
    require_keys(raw, "mla", origin)
    shape.q_lora_rank, shape.kv_lora_rank = raw.q_lora_rank, raw.kv_lora_rank
    shape.nope, shape.rope, shape.v_head_dim = raw.qk_nope_head_dim, raw.qk_rope_head_dim, raw.v_head_dim
  else
    require_keys(raw, "mha", origin)
    shape.kv_heads, shape.head_dim = raw.num_key_value_heads, raw.head_dim
  end
  if shape.moe then
    require_keys(raw, "moe", origin)
    shape.experts = raw.num_routed_experts or raw.num_experts
    shape.experts_per_token = raw.num_experts_per_tok
    shape.shared_experts = raw.num_shared_experts or 0
    shape.intermediate_size = raw.moe_intermediate_size
  else
    require_keys(raw, "dense", origin)
    shape.experts, shape.experts_per_token, shape.shared_experts = 1, 1, 0
    shape.intermediate_size = raw.intermediate_size
  end
  shape.full_layers, shape.linear_layers = shape.layers, 0
  if shape.hybrid then
    require_keys(raw, "hybrid", origin)
    shape.full_layers = math.floor(shape.layers / raw.full_attention_interval)
    shape.linear_layers = shape.layers - shape.full_layers
    shape.conv = raw.linear_conv_kernel_dim
    shape.key_heads, shape.key_head_dim = raw.linear_num_key_heads, raw.linear_key_head_dim
    shape.value_heads, shape.value_head_dim = raw.linear_num_value_heads, raw.linear_value_head_dim
  end
  return shape
end

--- The config.json that makes InferSim see a model as rooflua read it.
--- @param model rooflua.Model
function config.of_model(model)
  local raw = {
    num_hidden_layers = model.layers,
    hidden_size = model.hidden_size,
    num_attention_heads = model.heads,
    num_key_value_heads = model.kv_heads,
    head_dim = model.head_dim,
    intermediate_size = model.intermediate_size,
  }
  local mla, moe, hybrid = model.mla, model.moe, model.hybrid
  if mla then
    raw.q_lora_rank, raw.kv_lora_rank, raw.v_head_dim = mla.q_lora_rank, mla.kv_lora_rank, mla.v_head_dim
    raw.qk_nope_head_dim, raw.qk_rope_head_dim = mla.qk_nope_head_dim, mla.qk_rope_head_dim
  end
  if moe then
    raw.num_routed_experts, raw.num_experts_per_tok = moe.experts, moe.experts_per_token
    raw.moe_intermediate_size = moe.intermediate_size
    raw.num_shared_experts = math.floor(moe.shared_intermediate_size / moe.intermediate_size)
  end
  if hybrid then
    raw.full_attention_interval = hybrid.full_attention_interval
    raw.linear_conv_kernel_dim = hybrid.conv_kernel
    raw.linear_num_key_heads, raw.linear_key_head_dim = hybrid.key_heads, hybrid.key_head_dim
    raw.linear_num_value_heads, raw.linear_value_head_dim = hybrid.value_heads, hybrid.value_head_dim
  end
  return raw
end

return config
