--- InferSim's sizes: weights, KV cache and arithmetic of a deployment, per rank (docs/MODELS.md 3.1-3.3).
--- `run` is the state of infersim/static.lua. `prepare` computes what depends on model, GPU and deployment;
--- the other functions compute the rest in every evaluation.
---
--- Source: alibaba/InferSim f2293da.

local ceil, floor = math.ceil, math.floor
local GiB = 1024 * 1024 * 1024

local sizes = {}

--- a / b; an error where Python raises one.
function sizes.divide(a, b, what)
  if b == 0 then error("infersim: division by zero: " .. what .. " is 0", 0) end
  return a / b
end
local divide = sizes.divide

--- Python's a // b.
function sizes.quotient(a, b, what) return floor(divide(a, b, what)) end

-- 3.1 weights, bytes per rank ------------------------------------------------------------------

local function attention_weight_bytes(run)
  local s, h, w = run.shape, run.heads, run.element_bytes
  local H = s.hidden_size
  if not s.mla then return w * (2 * H * h * s.head_dim + 2 * H * run.kv_heads * s.head_dim) end
  return w * (H * s.q_lora_rank + s.q_lora_rank * h * (s.nope + s.rope) + H * s.kv_lora_rank
              + s.kv_lora_rank * h * (s.nope + s.v_head_dim) + H * h * s.v_head_dim)
end

local function linear_attention_weight_bytes(run)
  local s, H = run.shape, run.shape.hidden_size
  local k, v = s.key_heads * s.key_head_dim, s.value_heads * s.value_head_dim
  return run.element_bytes * (2 * H * k + 2 * H * v + 2 * H * s.value_heads) + (2 * k + v) * s.conv
end

local function weights(run)
  local s, args, literals = run.shape, run.args, run.literals
  local experts = args.tp == 1 and s.shared_experts + divide(s.experts, args.world_size, "world_size")
                  or s.shared_experts + s.experts
  run.attention_bytes = attention_weight_bytes(run)
  run.expert_bytes = run.element_bytes * 3 * s.hidden_size * run.intermediate_size
  if s.hybrid then
    run.linear_attention_bytes = linear_attention_weight_bytes(run)
    run.weight_bytes = s.layers * run.expert_bytes * experts + s.full_layers * run.attention_bytes
                       + s.linear_layers * run.linear_attention_bytes
  else
    run.weight_bytes = s.layers * (run.attention_bytes + run.expert_bytes * experts)
  end
  run.kv_space_gib = run.gpu.memory_gib - run.weight_bytes / GiB - literals.runtime_gib - literals.activation_gib
end

-- 3.2 KV cache ---------------------------------------------------------------------------------

local function cache(run)
  local s, kv_bytes = run.shape, run.args.fp8_kv and 1 or 2
  if s.mla then
    run.kv_bytes_per_token = s.layers * (s.kv_lora_rank + s.rope) * kv_bytes
  else
    run.kv_heads = floor(s.kv_heads / run.args.tp)
    run.kv_bytes_per_token = 2 * s.layers * run.kv_heads * s.head_dim * kv_bytes
    -- For hybrids InferSim counts the full-attention layers only, and divides by all layers below
    if s.hybrid then run.kv_bytes_per_token = run.kv_bytes_per_token * (s.full_layers / s.layers) end
  end
  run.kv_bytes_per_layer = run.kv_bytes_per_token / s.layers
  if s.hybrid then
    local v, k = s.value_heads * s.value_head_dim, s.key_heads * s.key_head_dim
    run.state_bytes = s.linear_layers * ((v + 2 * k) * (s.conv - 1) * 2
                      + s.value_heads * s.key_head_dim * s.value_head_dim * 4)
  end
end

--- KV bytes that a token (in hybrids: a request) may take, and those that it takes.
function sizes.kv_cache(run, load)
  local tokens = load.isl + load.osl
  local batch = load.decode_batch
  if not batch then batch = ceil(load.target_tokens_per_s * load.target_tpot_ms / 1000) end
  run.batch = batch
  local space = divide(run.kv_space_gib * GiB, batch, "the decode batch")
  local need = run.kv_bytes_per_token
  if run.shape.hybrid then
    run.request_kv_bytes = need * tokens
    need = run.request_kv_bytes + run.state_bytes
    run.printed_state_bytes = run.state_bytes
  else
    space = divide(space, tokens, "isl + osl")
  end
  run.kv_target_bytes, run.kv_current_bytes = space, need
  run.needs_smaller_kv_cache = need > space
end

-- 3.3 arithmetic per token, GFLOP --------------------------------------------------------------

local function projection_gflop(run)
  local s, h = run.shape, run.heads
  local H = s.hidden_size
  if not s.mla then return 4 * H * s.head_dim * (h + run.kv_heads) / 1e9 end
  return 2 * (H * s.q_lora_rank + s.q_lora_rank * h * (s.nope + s.rope) + H * (s.kv_lora_rank + s.rope)
              + h * s.nope * s.kv_lora_rank + h * s.kv_lora_rank * s.v_head_dim
              + h * s.v_head_dim * H) / 1e9
end

local function moe_gflop(run)
  local s = run.shape
  return 6 * s.hidden_size * run.intermediate_size * (s.shared_experts + s.experts_per_token) / 1e9
end

--- Arithmetic of one token: the attention core over the average context (for MLA the absorbed form), and the
--- total of all layers.
function sizes.flops(run, load)
  local s, h, L = run.shape, run.heads, run.shape.layers
  local context = floor(load.isl + load.osl / 2)
  local core
  if s.mla then
    core = 2 * h * context * (2 * s.kv_lora_rank + s.rope) / 1e9
  else
    core = 4 * h * s.head_dim * context / 1e9
  end
  run.average_context, run.core_gflop, run.all_core_gflop = context, core, core * s.full_layers
  run.token_gflop = core * L + run.moe_gflop * L + run.other_gflop * L
end

function sizes.prepare(run)
  local s, tp = run.shape, run.args.tp
  run.element_bytes = run.args.fp8_gemm and 1 or 2
  run.heads = sizes.quotient(s.heads, tp, "tp")
  run.intermediate_size = sizes.quotient(s.intermediate_size, tp, "tp")
  cache(run)
  weights(run)
  run.other_gflop, run.moe_gflop = projection_gflop(run), moe_gflop(run)
end

return sizes
