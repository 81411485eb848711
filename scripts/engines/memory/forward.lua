--- Activations of a forward pass on one rank.
local forward = {}

--- Bytes of a token in the widest layer: its input and output, and gate, up and their product; with experts those of
--- every expert that the token visits, and what each of them returns.
---@param facts table what an engine's memory rule gets
function forward.token_bytes(facts)
  local model, widest = facts.model, 0
  local hidden = model.hidden_size
  for _, each in ipairs(model.mlp) do
    if each.intermediate_size > 0 then widest = math.max(widest, 3 * each.intermediate_size / facts.tp) end
    local moe = each.moe
    if moe then
      widest = math.max(widest, moe.experts_per_token * (hidden + 3 * moe.intermediate_size / facts.tp))
    end
  end
  return (widest + 3 * hidden) * facts.counts.dtype_bytes
end

return forward
