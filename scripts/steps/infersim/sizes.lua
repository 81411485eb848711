--- InferSim's sizes: weights, KV cache and arithmetic of a deployment, per rank (docs/MODELS.md 3.1-3.3).
--- `run` is the state of one evaluation, made by infersim/static.lua.
---
--- Source: alibaba/InferSim f2293da.

local ceil = math.ceil
local GiB = 1024 * 1024 * 1024
local MiB = 1024 * 1024

local sizes = {}

--- a / b, or the error that Python raises.
function sizes.divide(a, b, what)
  if b == 0 then error("division by zero: " .. what .. " is 0", 0) end
  return a / b
end
local divide = sizes.divide

-- 3.1 weights, bytes per rank ------------------------------------------------------------------

local function attention_weight_bytes(run)
  local s, h, w = run.shape, run.heads, run.weight_bytes
  local H = s.hidden_size
  if not s.mla then return w * (2 * H * h * s.head_dim + 2 * H * run.kv_heads * s.head_dim) end
  return w * (H * s.q_lora_rank + s.q_lora_rank * h * (s.nope + s.rope) + H * s.kv_lora_rank
              + s.kv_lora_rank * h * (s.nope + s.v_head_dim) + H * h * s.v_head_dim)
end

local function linear_attention_weight_bytes(run)
  local s, H = run.shape, run.shape.hidden_size
  local k, v = s.key_heads * s.key_head_dim, s.value_heads * s.value_head_dim
  return run.weight_bytes * (2 * H * k + 2 * H * v + 2 * H * s.value_heads) + (2 * k + v) * s.conv
end

function sizes.weights(run)
  local s, args, values = run.shape, run.args, run.values
  local experts = args.tp == 1 and s.shared_experts + divide(s.experts, args.world_size, "world_size")
                  or s.shared_experts + s.experts
  local attention = attention_weight_bytes(run)
  local total
  if s.hybrid then
    local linear = linear_attention_weight_bytes(run)
    total = s.layers * run.expert_bytes * experts + s.full_layers * attention + s.linear_layers * linear
    values["weights/One full attn params size (MB)"] = attention / MiB
    values["weights/One linear attn params size (MB)"] = linear / MiB
  else
    total = s.layers * (attention + run.expert_bytes * experts)
    values["weights/One attn params size (MB)"] = attention / MiB
  end
  values["weights/One expert params size (MB)"] = run.expert_bytes / MiB
  values["weights/Per GPU params size (GB)"] = total / GiB
  run.kv_space_gib = run.gpu.memory_gib - total / GiB - run.literals.runtime_gib
                     - run.literals.activation_gib
end

-- 3.2 KV cache ---------------------------------------------------------------------------------

function sizes.kv_cache(run)
  local args, values, shape = run.args, run.values, run.shape
  local isl, osl = args.isl, args.osl
  local batch = args.decode_batch
  if not batch then batch = ceil(args.target_tokens_per_s * args.target_tpot_ms / 1000) end
  run.batch = batch
  values["kvcache/KV cache space (GB)"] = run.kv_space_gib
  values["kvcache/Input seq len"] = isl
  values["kvcache/Output seq len"] = osl
  values["kvcache/Target decode batchsize"] = batch
  local space = divide(run.kv_space_gib * GiB, batch, "the decode batch")
  local need
  if shape.hybrid then
    local tokens = run.kv_bytes_per_token * (isl + osl)
    need = tokens + run.state_bytes
    values["kvcache/Target per-req KV cache size (MB)"] = space / MiB
    values["kvcache/Current per-req full attn KV cache size (MB)"] = tokens / MiB
    values["kvcache/Current per-req states size (MB)"] = run.state_bytes / MiB
    values["kvcache/Current per-req cache size (MB)"] = need / MiB
  else
    need = run.kv_bytes_per_token
    space = divide(space, isl + osl, "isl + osl")
    values["kvcache/Target per-token KV cache size (KB)"] = space / 1024
    values["kvcache/Current per-token KV cache size (KB)"] = need / 1024
  end
  run.flags.needs_smaller_kv_cache = need > space
end

-- 3.3 arithmetic per token, GFLOP --------------------------------------------------------------

--- Attention core of one token over `context`, absorbed for MLA.
local function core_gflop(run, context)
  local s = run.shape
  if s.mla then return 2 * run.heads * context * (2 * s.kv_lora_rank + s.rope) / 1e9 end
  return 4 * run.heads * s.head_dim * context / 1e9
end

local function projection_gflop(run)
  local s, h = run.shape, run.heads
  local H = s.hidden_size
  if not s.mla then return 4 * H * s.head_dim * (h + run.kv_heads) / 1e9 end
  return 2 * (H * s.q_lora_rank + s.q_lora_rank * h * (s.nope + s.rope) + H * (s.kv_lora_rank + s.rope)
              + h * s.nope * s.kv_lora_rank + h * s.kv_lora_rank * s.v_head_dim
              + h * s.v_head_dim * H) / 1e9
end

function sizes.flops(run)
  local s, values = run.shape, run.values
  local L = s.layers
  local core, others = core_gflop(run, run.average_context), projection_gflop(run)
  local moe = 6 * s.hidden_size * run.intermediate_size * (s.shared_experts + s.experts_per_token) / 1e9
  values["flops/Num hidden layers"] = L
  if s.hybrid then
    values["flops/Per-token per-layer full attn core (GFLOPs)"] = core
    values["flops/Per-token full attn core (GFLOPs)"] = core * s.full_layers
  else
    values["flops/Per-token per-layer attn core (GFLOPs)"] = core
    values["flops/Per-token attn core (GFLOPs)"] = core * L
  end
  values["flops/Per-token per-layer MoE/FFN (GFLOPs)"] = moe
  values["flops/Per-token per-layer others (GFLOPs)"] = others
  values["flops/Per-token MoE (GFLOPs)"] = moe * L
  values["flops/Per-token others (GFLOPs)"] = others * L
  values["flops/Per-token total (GFLOPs)"] = core * L + moe * L + others * L
end

return sizes
