--- InferSim's questions to its tables, asked of a rooflua database, by name. What depends on the model and
--- the deployment is said here; what a load changes is asked with:
---
---     prefill    first: tokens of the batch (M), second: tokens of a prompt (isl)
---     decode     first: requests, second: tokens of context each
---
--- The answers are those of the database's lookup: infersim_head and infersim_floor give the
--- reference's to the last bit, any other strategy shows what the same equations say with better
--- lookups.

local floor = math.floor

local lookups = {}

--- Of the attention core.
local function core(run, decode)
  local s, tp = run.shape, run.args.tp
  local kv_dtype = run.args.fp8_kv and "fp8" or "bf16"
  if s.mla and decode then
    return { op = "mla_decode", heads = s.heads, kv_lora_rank = s.kv_lora_rank, qk_rope_head_dim = s.rope, tp = tp,
             kv_dtype = kv_dtype, batch = "first", context_tokens = "second" }
  elseif s.mla then
    return { op = "mla_prefill", heads = s.heads, qk_nope_head_dim = s.nope, qk_rope_head_dim = s.rope, tp = tp,
             new_tokens = "second" }
  elseif decode then
    return { op = "attention_decode", heads = s.heads, kv_heads = s.kv_heads, head_dim = s.head_dim, tp = tp,
             kv_dtype = kv_dtype, batch = "first", context_tokens = "second" }
  end
  return { op = "attention_prefill", heads = s.heads, kv_heads = s.kv_heads, head_dim = s.head_dim, tp = tp,
           new_tokens = "second" }
end

--- Of a linear layer: the requests of a decode step, or the tokens of a prompt.
local function linear(run, decode)
  local s = run.shape
  local query = {
    op = "linear_attention", conv = s.conv, key_heads = s.key_heads, key_head_dim = s.key_head_dim,
    value_heads = s.value_heads, value_head_dim = s.value_head_dim, decode = decode,
  }
  if decode then query.batch = "first" else query.new_tokens = "second" end
  return query
end

--- Of routed experts the larger MFU of up and down projection stands for both; a dense FFN is looked up with
--- the whole model's width over W, whatever tp is.
local function experts(run, decode, dtype)
  local s, args = run.shape, run.args
  if not s.moe then
    return { op = "gemm", k = s.hidden_size, n = floor(2 * s.intermediate_size / args.world_size), dtype = dtype,
             m = "first" }
  end
  return { op = "grouped_gemm", experts = s.experts, ranks = args.world_size, experts_per_token = s.experts_per_token,
           hidden_size = s.hidden_size, intermediate_size = s.intermediate_size, tp = args.tp, decode = decode,
           tokens = "first" }
end

--- The questions of a phase.
--- @param run infersim.Run sizes and GEMMs known
--- @return rooflua.Prepared core, experts, linear and the GEMMs
function lookups.of(run, decode)
  local dtype = run.args.fp8_gemm and "fp8" or "bf16"
  local questions = { core = core(run, decode), experts = experts(run, decode, dtype) }
  if run.shape.hybrid then questions.linear = linear(run, decode) end
  for name, gemm in pairs(run.gemms) do
    questions[name] = { op = "gemm", k = gemm.k, n = gemm.n, dtype = dtype, m = "first" }
  end
  return (run.mfu:prepare(questions))
end

--- That of its attention core alone.
--- @return rooflua.Prepared core
function lookups.core_of(run, decode) return (run.mfu:prepare { core = core(run, decode) }) end

return lookups
