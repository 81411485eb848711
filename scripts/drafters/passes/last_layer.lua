--- The operations of one layer like a model's usual one, with the model's embedding and LM head: the extra layer of
--- multi-token prediction.
local cost = require "rooflua.cost"

local last_layer = {}

--- Operations of a dense MLP, which models with experts have in a few layers only.
local dense = { quantize_gate_up = true, gate_up = true, activation = true, quantize_down = true, down = true }

--- Name of an operation without the kind of its layers.
local function base_name(op) return op.name:match "^[^@]*" end

--- For each name the kind of layers that has it most often; of two alike, the later one.
local function most_frequent(layers)
  local chosen = {}
  for _, op in ipairs(layers) do
    local name = base_name(op)
    if not chosen[name] or op.count >= chosen[name].count then chosen[name] = op end
  end
  return chosen
end

--- @param model rooflua.Model
--- @param deployment rooflua.Deployment of the model
--- @return table as of cost.layers
function last_layer.operations(model, deployment)
  local layers, out = cost.layers(model, deployment), {}
  local chosen = most_frequent(layers)
  local experts = chosen.experts and chosen.experts.count or 0
  for _, op in ipairs(layers) do
    local name = base_name(op)
    if chosen[name] == op and not (dense[name] and experts >= op.count) then
      local one = {}
      for key, value in pairs(op) do one[key] = value end
      one.count = 1
      out[#out + 1] = one
    end
  end
  return out
end

return last_layer
