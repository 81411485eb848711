--- InferSim's questions to its tables, asked of a rooflua database.
---
--- The reference has one function per table kind; each is one here. The answers are those of the
--- database's lookup: infersim_head and infersim_floor give the reference's to the last bit, any other
--- strategy shows what the same equations say with better lookups. Answers are remembered: they depend
--- on nothing but their arguments.

local lookups = {}
lookups.__index = lookups

--- @param mfu rooflua.Database
function lookups.over(mfu)
  return setmetatable({ mfu = mfu, last = false, known = {} }, lookups)
end

--- Where the last answer came from.
function lookups:evidence() return self.last and self.last.evidence or "assumed" end

--- The branch of `tree` for one more argument.
local function branch(tree, key)
  local next_tree = tree[key]
  if next_tree == nil then
    next_tree = {}
    tree[key] = next_tree
  end
  return next_tree
end

--- Remembers an answer as the leaf of `tree` for the last argument.
function lookups:remember(tree, key, value, estimate)
  local answer = { value = value, evidence = estimate.evidence }
  tree[key] = answer
  return answer
end

--- An answer that is known now: its value; its evidence can be asked for.
function lookups:reply(answer)
  self.last = answer
  return answer.value
end

function lookups:gemm(m, k, n, dtype)
  local tree = branch(branch(self.known, dtype), k * 16777216 + n)  -- both are below 2^24
  return self:reply(tree[m] or self:remember(tree, m, self.mfu:gemm(m, k, n, dtype)))
end

function lookups:attention_prefill(heads, kv_heads, head_dim, tokens, tp)
  local tree = branch(branch(branch(branch(branch(self.known, "prefill"), heads), kv_heads), head_dim), tp)
  return self:reply(tree[tokens]
                    or self:remember(tree, tokens, self.mfu:prefill(heads, kv_heads, head_dim, tokens, tp)))
end

function lookups:attention_decode(heads, kv_heads, head_dim, batch, context, tp, kv_dtype)
  local tree = branch(branch(branch(branch(self.known, kv_dtype), heads), kv_heads), head_dim)
  tree = branch(branch(tree, -tp), batch)
  return self:reply(tree[context] or self:remember(tree, context,
    self.mfu:decode(heads, kv_heads, head_dim, batch, context, tp, kv_dtype)))
end

function lookups:mla_prefill(heads, nope, rope, tokens, tp)
  local tree = branch(branch(branch(branch(branch(self.known, "mla_prefill"), heads), nope), rope), tp)
  return self:reply(tree[tokens] or self:remember(tree, tokens, self.mfu:lookup {
    op = "mla_prefill", heads = heads, qk_nope_head_dim = nope, qk_rope_head_dim = rope,
    new_tokens = tokens, tp = tp,
  }))
end

function lookups:mla_decode(heads, kv_lora_rank, rope, batch, context, tp, kv_dtype)
  local tree = branch(branch(branch(self.known, "mla_decode"), kv_dtype), heads)
  tree = branch(branch(branch(branch(tree, kv_lora_rank), rope), tp), batch)
  return self:reply(tree[context] or self:remember(tree, context, self.mfu:lookup {
    op = "mla_decode", heads = heads, kv_lora_rank = kv_lora_rank, qk_rope_head_dim = rope,
    batch = batch, context_tokens = context, tp = tp, kv_dtype = kv_dtype,
  }))
end

--- @param intermediate_size number before it is divided by tp
--- @param decode boolean which of the two tables
--- @return number mfu the larger of up and down projection
function lookups:grouped_gemm(experts, ranks, experts_per_token, hidden_size, intermediate_size, tp, tokens, decode)
  local tree = branch(branch(branch(self.known, decode and "grouped_decode" or "grouped"), experts), ranks)
  tree = branch(branch(branch(branch(tree, experts_per_token), hidden_size), intermediate_size), tp)
  return self:reply(tree[tokens] or self:remember(tree, tokens, self.mfu:lookup {
    op = "grouped_gemm", experts = experts, ranks = ranks, experts_per_token = experts_per_token,
    hidden_size = hidden_size, intermediate_size = intermediate_size, tp = tp, tokens = tokens,
    decode = decode,
  }))
end

--- @param amount number requests in decode, new tokens in prefill
--- @return number latency_s
function lookups:linear_attention(shape, amount, decode)
  local tree = branch(branch(self.known, decode and "linear_decode" or "linear"), shape)
  if tree[amount] then return self:reply(tree[amount]) end
  local _, estimate = self.mfu:lookup {
    op = "linear_attention", conv = shape.conv, key_heads = shape.key_heads,
    key_head_dim = shape.key_head_dim, value_heads = shape.value_heads,
    value_head_dim = shape.value_head_dim, decode = decode,
    batch = decode and amount or nil, new_tokens = not decode and amount or nil,
  }
  return self:reply(self:remember(tree, amount, estimate.latency_s, estimate))
end

return lookups
