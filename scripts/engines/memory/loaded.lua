-- Bytes of a model's weights on one rank, as an engine loads them: exact counts (native.rank_counts) in the formats of
-- the checkpoint, with what kernels pad, and with what lies beside the language model.
local loaded = {}

--- A size rounded up to a multiple.
function loaded.rounded(size, multiple) return math.ceil(size / multiple) * multiple end

--- By how much experts in MXFP4 grow where kernels want hidden size and width of a rank in multiples.
---@param padding table? {hidden, width}: multiples, 1 = none
local function padded_experts(facts, padding)
  local moe = facts.model.moe
  if not (padding and moe and facts.counts.formats.experts == "mxfp4") then return 1 end
  local hidden = facts.model.hidden_size
  local width = moe.intermediate_size / facts.counts.moe_tp
  return loaded.rounded(hidden, padding[1]) / hidden * loaded.rounded(width, padding[2]) / width
end

--- Bytes of one set of counted weights.
function loaded.of(facts, weights, padding)
  local bytes, each_bytes = 0, facts.counts.element_bytes
  for class, elements in pairs(weights) do
    bytes = bytes + elements * each_bytes[class] * (class == "experts" and padded_experts(facts, padding) or 1)
  end
  return bytes
end

--- Width of the rotated part of a head; 0 where no layer has one.
local function rotated_width(model)
  local width = model.mla and model.mla.qk_rope_head_dim or model.head_dim
  return width or 0
end

--- What stands in memory beside the counted weights of a stage: sines and cosines of all positions, the vision encoder
--- (in the first stage), and a drafter (in the last).
function loaded.beside(facts, stage)
  local model, counts = facts.model, facts.counts
  local bytes = model.max_model_len * rotated_width(model) * counts.dtype_bytes
  if facts.images and model.vision and stage == 1 then bytes = bytes + model.vision.parameters * 2 / facts.tp end
  if facts.drafter and stage == #counts.stages then bytes = bytes + facts.drafter.weight_bytes end
  return bytes
end

--- Bytes of the weights of a stage.
---@param facts table what an engine's memory rule gets
---@param stage integer from 1
---@param padding table? {hidden, width} of experts in MXFP4
function loaded.bytes(facts, stage, padding)
  return loaded.of(facts, facts.counts.stages[stage].weights, padding) + loaded.beside(facts, stage)
end

return loaded
