--- Small kernels around routed experts that neither cost.layers nor rows of experts contain: they turn the router's
--- logits into experts and weights, and sort the tokens (`routing_kernels` of scripts/engines, for each layer). Each takes
--- small_kernel_s and its traffic.
--- Source: scripts/engines/sglang/fusions.lua.
local apart = {}

--- Layers of routed experts, and the bytes of the logits of a token.
local function routing_of(steps, seen)
  for _, rows in ipairs { "tokens", "group_tokens" } do
    for _, op in ipairs(seen[rows]) do
      if op.op == "grouped_gemm" then return op.count, 2 * 4 * steps.model.mlp[op.kind].moe.experts end
    end
  end
  return 0, 0
end

--- Adds these kernels to the operations that see all tokens.
--- @param steps steps.Kernels
--- @param seen table lists of operations of cost.layers by the rows that they see
function apart.add(steps, seen)
  local kernels = steps.engine_values.routing_kernels
  if kernels == 0 then return end
  local layers, bytes = routing_of(steps, seen)
  if layers == 0 then return end
  seen.tokens[#seen.tokens + 1] = { name = "routing", op = "elementwise", count = kernels * layers, rows = "tokens",
    dtype = steps.dtype, flop_per_row = 0, weight_bytes = 0, bytes_per_row = bytes }
end

return apart
