--- InferSim's questions to its tables, asked of a rooflua database.
---
--- The reference has one function per table kind; each is one here. The answers are those of the
--- database's lookup: infersim_head and infersim_floor give the reference's to the last bit, any other
--- strategy shows what the same equations say with better lookups.

local lookups = {}
lookups.__index = lookups

--- @param mfu rooflua.Database
function lookups.over(mfu)
  return setmetatable({ mfu = mfu, last = false }, lookups)
end

--- Where the last answer came from.
function lookups:evidence() return self.last and self.last.evidence or "assumed" end

--- @return number mfu
--- @return rooflua.Estimate estimate
function lookups:answer(mfu, estimate)
  self.last = estimate
  return mfu, estimate
end

function lookups:gemm(m, k, n, dtype)
  return self:answer(self.mfu:gemm(m, k, n, dtype))
end

function lookups:attention_prefill(heads, kv_heads, head_dim, tokens, tp)
  return self:answer(self.mfu:prefill(heads, kv_heads, head_dim, tokens, tp))
end

function lookups:attention_decode(heads, kv_heads, head_dim, batch, context, tp, kv_dtype)
  return self:answer(self.mfu:decode(heads, kv_heads, head_dim, batch, context, tp, kv_dtype))
end

function lookups:mla_prefill(heads, nope, rope, tokens, tp)
  return self:answer(self.mfu:lookup {
    op = "mla_prefill", heads = heads, qk_nope_head_dim = nope, qk_rope_head_dim = rope,
    new_tokens = tokens, tp = tp,
  })
end

function lookups:mla_decode(heads, kv_lora_rank, rope, batch, context, tp, kv_dtype)
  return self:answer(self.mfu:lookup {
    op = "mla_decode", heads = heads, kv_lora_rank = kv_lora_rank, qk_rope_head_dim = rope,
    batch = batch, context_tokens = context, tp = tp, kv_dtype = kv_dtype,
  })
end

--- @param intermediate_size number before it is divided by tp
--- @param decode boolean which of the two tables
--- @return number mfu the larger of up and down projection
function lookups:grouped_gemm(experts, ranks, experts_per_token, hidden_size, intermediate_size, tp, tokens, decode)
  return self:answer(self.mfu:lookup {
    op = "grouped_gemm", experts = experts, ranks = ranks, experts_per_token = experts_per_token,
    hidden_size = hidden_size, intermediate_size = intermediate_size, tp = tp, tokens = tokens,
    decode = decode,
  })
end

--- @param amount number requests in decode, new tokens in prefill
--- @return number latency_s
function lookups:linear_attention(shape, amount, decode)
  local _, estimate = self:answer(self.mfu:lookup {
    op = "linear_attention", conv = shape.conv, key_heads = shape.key_heads,
    key_head_dim = shape.key_head_dim, value_heads = shape.value_heads,
    value_head_dim = shape.value_head_dim, decode = decode,
    batch = decode and amount or nil, new_tokens = not decode and amount or nil,
  })
  return estimate.latency_s
end

return lookups
