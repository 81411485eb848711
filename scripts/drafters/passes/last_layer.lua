--- The operations of one layer like a model's usual one, with the model's embedding and LM head: the extra layer of
--- multi-token prediction. Its attention is the most frequent kind that is not recurrent, its MLP the most frequent
--- kind; of two as frequent, the later one.
local cost = require "rooflua.cost"

local last_layer = {}

--- The part of a layer that each operation is of: "attention", "mlp", or false for those that all layers share.
local function parts_of(layers)
  local out, part = {}, false
  for i, op in ipairs(layers) do
    if op.name == "attention_norm" then part = "attention" elseif op.name == "mlp_norm" then part = "mlp" end
    out[i] = op.kind > 0 and part
  end
  return out
end

local function is_recurrent(op) return op.op == "linear_attention" end

--- The most frequent kind of a part, by the number of its layers.
local function most_frequent(layers, parts, part)
  local counts, recurrent, chosen = {}, {}, nil
  for i, op in ipairs(layers) do
    if parts[i] == part then
      counts[op.kind] = math.max(counts[op.kind] or 0, op.count)
      recurrent[op.kind] = recurrent[op.kind] or is_recurrent(op)
    end
  end
  for kind, count in pairs(counts) do
    local better = not chosen or count > counts[chosen] or count == counts[chosen] and kind > chosen
    if not recurrent[kind] and better then chosen = kind end
  end
  return chosen
end

--- @param model rooflua.Model
--- @param deployment rooflua.Deployment of the model
--- @return table as of cost.layers
function last_layer.operations(model, deployment)
  local layers, out = cost.layers(model, deployment), {}
  local parts = parts_of(layers)
  local kinds = { attention = most_frequent(layers, parts, "attention"), mlp = most_frequent(layers, parts, "mlp") }
  for i, op in ipairs(layers) do
    if not parts[i] or op.kind == kinds[parts[i]] then
      local one = {}
      for key, value in pairs(op) do one[key] = value end
      one.count = 1
      out[#out + 1] = one
    end
  end
  return out
end

return last_layer
