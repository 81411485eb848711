--- Small kernels that an engine runs beside those of cost.layers and of the rows of its tables:
---
---     routing    around a layer of routed experts: they turn the router's logits into experts and weights, and sort
---                the tokens (`routing_kernels` of scripts/engines)
---     layer      in every layer (`layer_kernels`), in those with latent attention (`latent_kernels`) and in those with
---                norms of heads (`head_norm_kernels`): norms and copies that other engines fuse
---
--- Each takes small_kernel_s and its traffic. Source: scripts/engines/sglang/fusions.lua.
local apart = {}

--- Layers of routed experts, and the bytes of the logits of a token.
local function routing_of(steps, seen)
  for _, rows in ipairs { "tokens", "group_tokens", "tail_tokens" } do
    for _, op in ipairs(seen[rows]) do
      if op.op == "grouped_gemm" then return op.count, 2 * 4 * steps.model.mlp[op.kind].moe.experts end
    end
  end
  return 0, 0
end

--- Kernels of attention layers. Layers without heads of their own keys have no norms of heads.
local function layers_of(steps, engine)
  local count, norms = 0, steps.model.qk_norm and engine.head_norm_kernels or 0
  for _, kind in ipairs(steps.model.attention) do
    local own = kind.latent and engine.latent_kernels or kind.kv_heads and norms or 0
    if kind.kind == "delta" or kind.kind == "mamba2" then own = 0 end
    count = count + kind.layers * (engine.layer_kernels + own)
  end
  return count
end

local function add(steps, seen, name, count, bytes_per_row)
  if count == 0 then return end
  seen.tokens[#seen.tokens + 1] = { name = name, op = "elementwise", count = count, rows = "tokens",
    dtype = steps.dtype, flop_per_row = 0, weight_bytes = 0, bytes_per_row = bytes_per_row }
end

--- Adds these kernels to the operations that see all tokens.
--- @param steps steps.Kernels
--- @param seen table lists of operations of cost.layers by the rows that they see
function apart.add(steps, seen)
  local engine = steps.engine_values
  if engine.routing_kernels > 0 then
    local layers, bytes = routing_of(steps, seen)
    add(steps, seen, "routing", engine.routing_kernels * layers, bytes)
  end
  if engine.layer_kernels + engine.latent_kernels + engine.head_norm_kernels > 0 then
    add(steps, seen, "layer_kernels", layers_of(steps, engine), 2 * 2 * steps.model.hidden_size)
  end
end

return apart
