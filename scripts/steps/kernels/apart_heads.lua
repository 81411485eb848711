--- Decodes whose query heads read keys and values apart: FlashAttention 2 has one call for the prompts and decodes of a
--- step. The heads that share keys and values are packed into one tile only where every request of the call has one
--- query. Otherwise each head reads the cache of its request by itself:
---
---     further = (query heads / KV heads - 1) * cached tokens * bytes of a token / bandwidth
---
--- No constant is fitted. Which engine runs such calls on which GPU: `heads_apart` of scripts/engines.
--- Source: vllm pull request 58013; flash_api.cpp of FlashAttention 2, seqlenq_ngroups_swapped.
local cost = require "rooflua.cost"

local apart_heads = {}

--- How often a call reads keys and values beyond the first time; 0 = never. Latent attention has kernels of its own,
--- and the kernel takes no cache in 8 bits.
--- @param engine table values of an engine
--- @param kind table one of model.attention
function apart_heads.further_reads(engine, kind, deployment)
  if not engine.heads_apart or kind.latent or not kind.kv_heads or deployment.dcp > 1 then return 0 end
  if deployment.kv:find "8" then return 0 end
  local heads, kv_heads = kind.heads / deployment.tp, math.max(1, kind.kv_heads / deployment.tp)
  return math.max(0, heads / kv_heads - 1)
end

--- Decode attention of n requests where the heads of some steps read apart. It is a method of steps.kernels.Attention.
--- @param n integer requests
--- @param context number cached tokens of all of them
--- @param batch rooflua.Batch
function apart_heads.time(attention, n, context, batch)
  local has_drafts = batch.decode_tokens > n
  local time_s = has_drafts and attention:verify(n, context, batch) or attention:decode_rows(n, context, batch)
  if not has_drafts and #batch.prefills == 0 then return time_s end
  local tokens = context + n
  if attention.own_window then
    tokens = batch:bounded_tokens(attention.own_window)
  elseif attention.tokens then
    tokens = attention.tokens(batch)
  end
  local bytes = attention.further_reads * tokens * attention.kv_bytes_per_token
  return time_s + cost.record(attention.decode_name, bytes / attention.bandwidth, "modelled", attention.layers, 0,
    bytes, nil, "memory", "keys and values for each query head", attention.decode_query.op)
end

return apart_heads
