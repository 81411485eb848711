--- Activations of a forward pass on one rank.
local forward = {}

local max = math.max

--- Elements of a token between input and output of a dense MLP: gate, up and their product.
local function dense_elements(facts)
  local widest = 0
  for _, each in ipairs(facts.model.mlp) do
    widest = max(widest, (each.inner_elements or 3 * each.intermediate_size) / facts.tp)
  end
  return widest
end

--- Elements of a token in the workspaces of routed experts: for each of those that it visits gate and up, whose place
--- the output takes, and their product.
local function expert_elements(facts)
  local widest, hidden = 0, facts.model.hidden_size
  for _, each in ipairs(facts.model.mlp) do
    local moe = each.moe
    if moe then
      local width = moe.intermediate_size / facts.tp
      widest = max(widest, moe.experts_per_token * (max(2 * width, hidden) + width))
    end
  end
  return widest
end

--- Bytes of the widest layer for so many tokens: three times the hidden states besides what its MLP needs. Experts of
--- data-parallel ranks work on the tokens of all ranks, which are gathered before and scattered after. Where tokens
--- travel to their experts instead, a rank has as many rows as it has tokens of its own, in the mean.
---@param facts table what an engine's memory rule gets
function forward.bytes(facts, tokens)
  local element, hidden = facts.counts.dtype_bytes, 3 * facts.model.hidden_size
  local own, seen = tokens * (hidden + dense_elements(facts)), facts.tokens_travel and tokens or tokens * facts.dp
  local routed = seen * (expert_elements(facts) + (facts.dp > 1 and 2 * facts.model.hidden_size or 0))
  return element * max(own, routed + tokens * hidden)
end

return forward
