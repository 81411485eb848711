-- Bytes of a model's weights on one rank, as an engine loads them: exact counts (native.rank_counts) in the formats of
-- the checkpoint, with what kernels pad, and with what lies besides the language model.
local loaded = {}

--- A size rounded up to a multiple.
local function rounded(size, multiple) return math.ceil(size / multiple) * multiple end

--- By how much experts in MXFP4 grow where kernels want hidden size and width of a rank in multiples.
---@param padding table? {hidden, width}: multiples, 1 = none
local function padded_experts(facts, padding)
  local moe = facts.model.moe
  if not (padding and moe and facts.counts.formats.experts == "mxfp4") then return 1 end
  local hidden = facts.model.hidden_size
  local width = moe.intermediate_size / facts.counts.moe_tp
  return rounded(hidden, padding[1]) / hidden * rounded(width, padding[2]) / width
end

local nvfp4_block = 16 -- elements that share a scale of one byte

--- Bytes of counted weights.
local function counted_bytes(facts, weights)
  local values, bytes = facts.values, 0
  local each_bytes, formats = facts.counts.element_bytes, facts.counts.formats
  for class, elements in pairs(weights) do
    local padding = class == "experts" and padded_experts(facts, values.mxfp4_padding) or 1
    bytes = bytes + elements * each_bytes[class] * padding
    if class == "experts" and formats[class] == "nvfp4" then
      bytes = bytes + (values.nvfp4_scale_copies or 0) * elements / nvfp4_block
    end
  end
  return bytes
end

--- Latent attention works on the latent vector in decode steps: the two halves of the projection up are kept a second
--- time, in 16 bit, next to the one that prompts use.
local function absorbed_bytes(facts, stage)
  local bytes = 0
  for _, each in ipairs(facts.model.attention) do
    local mla = each.latent
    if mla then
      bytes = bytes + 2 * each.layers * each.heads / facts.tp * mla.kv_lora_rank
        * (mla.qk_nope_head_dim + mla.v_head_dim)
    end
  end
  return bytes * facts.counts.stages[stage].layers / facts.model.layers
end

--- Compressors of DeepSeek-V4 are published in 16 bit, whatever the format of the other projections is.
local function compressor_bytes(facts, stage)
  local bytes, format_bytes = 0, facts.counts.element_bytes.attention
  for _, each in ipairs(facts.model.attention) do
    local compression, index = each.compression, each.index
    if compression and compression.ratio > 0 then
      local entries = 2 * each.head_dim * (index and 2 or 1)
      bytes = bytes + each.layers * facts.model.hidden_size * entries * (2 - format_bytes)
    end
  end
  return bytes * facts.counts.stages[stage].layers / facts.model.layers
end

--- Width of the rotated part of a head; 0 where no layer has one.
local function rotated_width(model)
  local width = model.mla and model.mla.qk_rope_head_dim or model.head_dim
  return width or 0
end

--- What stands in memory besides the counted weights of a stage: sines and cosines of all positions, encoders
--- (in the first stage), a drafter (in the last), slots of adapters, and copies of experts.
local function beside_bytes(facts, stage)
  local model, counts = facts.model, facts.counts
  local bytes = model.max_model_len * rotated_width(model) * counts.dtype_bytes
  local ranks = facts.values.encoder_mode == "data" and 1 or facts.tp
  for _, encoder in ipairs(facts.images and stage == 1 and { "vision", "audio" } or {}) do
    if model[encoder] then bytes = bytes + model[encoder].parameters * 2 / ranks end
  end
  if facts.drafter and stage == #counts.stages then bytes = bytes + facts.drafter.weight_bytes end
  if facts.adapter_bytes then bytes = bytes + facts.adapter_bytes end
  if facts.redundant_expert_bytes then bytes = bytes + facts.redundant_expert_bytes end
  return bytes
end

--- Bytes of the weights of a stage.
---@param facts table what an engine's memory rule gets
---@param stage integer from 1
function loaded.bytes(facts, stage)
  return counted_bytes(facts, facts.counts.stages[stage].weights) + absorbed_bytes(facts, stage)
    + compressor_bytes(facts, stage) + beside_bytes(facts, stage) + (facts.counts.stages[stage].ngram_bytes or 0)
    + (facts.counts.stages[stage].bytes_beyond or 0)
end

return loaded
