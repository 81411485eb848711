--- The small model of a drafter that repeats the target's width: its layers are dense.
local spec = require "rooflua.spec"

local small = {}

local function own(value, otherwise) return value and value > 0 and value or otherwise end

--- The width of the MLP where none is given.
local function mlp_width(target)
  local width = target.intermediate_size
  if not target.moe and width and width > 0 then return width end
  return 6 * target.hidden_size
end

--- @param target rooflua.Model
--- @param given table {layers, vocab_size, heads, kv_heads, head_dim, intermediate_size}; 0 = the target's
function small.model(target, given)
  return spec.model { name = target.name .. " drafter", layers = given.layers, hidden_size = target.hidden_size,
    heads = own(given.heads, target.heads), kv_heads = own(given.kv_heads, target.kv_heads or target.heads),
    head_dim = own(given.head_dim, target.head_dim or 128),
    intermediate_size = own(given.intermediate_size, mlp_width(target)),
    vocab_size = own(given.vocab_size, target.vocab_size), max_model_len = target.max_model_len,
    tied_embeddings = false, dtype = target.dtype }
end

return small
