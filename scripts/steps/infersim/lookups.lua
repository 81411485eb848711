--- InferSim's questions to its tables, prepared for a rooflua database, by name. A prepared question holds
--- what depends on the model and the deployment. Two numbers that depend on the load complete it:
---
---     prefill    first: tokens of the batch (M), second: tokens of a prompt (isl)
---     decode     first: requests, second: tokens of context of each request
---
--- The lookup of the database answers. infersim_head and infersim_floor answer as InferSim does, to the
--- last bit; any other lookup shows what the same equations give with better answers.

local floor = math.floor

local lookups = {}

--- The question about the attention core.
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

--- The question about a linear attention layer: by requests of a decode step, or by tokens of a prompt.
local function linear(run, decode)
  local s = run.shape
  local query = {
    op = "linear_attention", conv = s.conv, key_heads = s.key_heads, key_head_dim = s.key_head_dim,
    value_heads = s.value_heads, value_head_dim = s.value_head_dim, decode = decode,
  }
  if decode then query.batch = "first" else query.new_tokens = "second" end
  return query
end

--- The question about the FFN. The larger MFU of the up and down projections of routed experts holds for both.
--- A dense FFN is looked up with the model's width divided by the world size, whatever tp is.
local function experts(run, decode, dtype)
  local s, args = run.shape, run.args
  if not s.moe then
    return { op = "gemm", k = s.hidden_size, n = floor(2 * s.intermediate_size / args.world_size), dtype = dtype,
             m = "first" }
  end
  return { op = "grouped_gemm", experts = s.experts, ranks = args.world_size, experts_per_token = s.experts_per_token,
           hidden_size = s.hidden_size, intermediate_size = s.intermediate_size, tp = args.tp, decode = decode,
           dtype = dtype,
           tokens = "first" }
end

--- The questions of a phase.
--- @param run infersim.Run with its sizes and GEMMs
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

--- The question about the attention core of a phase alone.
--- @return rooflua.Prepared core
function lookups.core_of(run, decode) return (run.mfu:prepare { core = core(run, decode) }) end

return lookups
