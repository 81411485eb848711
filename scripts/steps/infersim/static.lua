--- InferSim's static model: what one prefill batch and one decode step cost on a rank, as equations.
---
--- Symbols as in docs/MODELS.md: H hidden size, h query heads, g KV heads, D head dim, I expert width,
--- E experts, K experts per token, Es shared experts, L layers, W world size, N nodes; a prime divides
--- by tp (integer division). Everything the reference prints is a value named "phase/label", before
--- formatting. Its quirks are reproduced here on purpose, and nowhere else.
---
--- Source: alibaba/InferSim f2293da.

local sizes = require "steps.infersim.sizes"

local floor, ceil, max = math.floor, math.ceil, math.max

local found, new_table = pcall(require, "table.new")
if not found then new_table = function() return {} end end
local most_values = 64  -- of one report

local GiB = 1024 * 1024 * 1024

--- Literals of the reference without a source of their own; they are parameters of steps/infersim.
local defaults = {
  causal_divisor = 1.8,        -- prefill attention is half masked, with 11 % left over
  runtime_gib = 15, activation_gib = 5,
  prefill_overhead_ms = 30, decode_overhead_ms = 5, hybrid_decode_overhead_ms = 2,
}

local static = { defaults = defaults }

local divide = sizes.divide

--- int(x) // int(y)
local function quotient(a, b, what)
  if b == 0 then error("division by zero: " .. what .. " is 0", 0) end
  return floor(a / b)
end

--- What is asked: a deployment and a load.
---@class infersim.Arguments
---@field world_size integer GPUs
---@field tp integer tensor parallel degree
---@field nodes integer
---@field max_prefill_tokens integer tokens of one prefill batch (M)
---@field decode_batch integer|nil requests of one decode step; nil = from the targets
---@field target_tokens_per_s number per GPU
---@field target_tpot_ms number
---@field isl integer input tokens per request
---@field osl integer output tokens per request
---@field fp8_gemm boolean
---@field fp8_kv boolean
---@field deepep boolean all-to-all library for expert parallelism
---@field two_batch_overlap boolean
---@field sm_ratio number part of the SMs left to compute under two_batch_overlap

--- Sizes that both phases use. `run` is the model state of one evaluation.
local function prepare(shape, gpu, args, lookups, literals)
  local tp, H = args.tp, shape.hidden_size
  local w = args.fp8_gemm and 1 or 2
  local kv_bytes = args.fp8_kv and 1 or 2
  local run = {
    shape = shape, gpu = gpu, args = args, lookups = lookups, literals = literals or defaults,
    values = new_table(0, most_values), flags = {},
    weight_bytes = w, kv_bytes = kv_bytes,
    kv_dtype = args.fp8_kv and "fp8" or "bf16",
    gemm_dtype = args.fp8_gemm and "fp8" or "bf16",
    gemm_gflop_per_s = args.fp8_gemm and gpu.fp8_gflop_per_s or gpu.fp16_gflop_per_s,
    core_gflop_per_s = gpu.fp16_gflop_per_s,  -- attention never runs in FP8
    heads = quotient(shape.heads, tp, "tp"),
    intermediate_size = quotient(shape.intermediate_size, tp, "tp"),
    comm_gib_per_s = args.nodes > 1 and gpu.rdma_gib_per_s or gpu.nvlink_gib_per_s,
    average_context = floor(args.isl + args.osl / 2),
  }
  if shape.mla then
    run.kv_bytes_per_token = shape.layers * (shape.kv_lora_rank + shape.rope) * kv_bytes
    run.kv_bytes_per_layer = run.kv_bytes_per_token / shape.layers
  else
    run.kv_heads = floor(shape.kv_heads / tp)
    run.kv_bytes_per_token = 2 * shape.layers * run.kv_heads * shape.head_dim * kv_bytes
    -- Hybrid: counts the full layers only, then divides by all of them
    if shape.hybrid then
      run.kv_bytes_per_token = run.kv_bytes_per_token * (shape.full_layers / shape.layers)
    end
    run.kv_bytes_per_layer = run.kv_bytes_per_token / shape.layers
  end
  if shape.hybrid then
    local v, k = shape.value_heads * shape.value_head_dim, shape.key_heads * shape.key_head_dim
    run.state_bytes = shape.linear_layers * ((v + 2 * k) * (shape.conv - 1) * 2
                      + shape.value_heads * shape.key_head_dim * shape.value_head_dim * 4)
  end
  run.expert_bytes = w * 3 * H * run.intermediate_size
  return run
end

local function header(run)
  local values, args = run.values, run.args
  values["header/Device type"] = args.device
  values["header/World size"] = args.world_size
  values["header/TP size"] = args.tp
  values["header/Attn type"] = run.shape.mla and "MLA" or "MHA/GQA"
  values["header/Use FP8 GEMM"] = args.fp8_gemm
  values["header/Use FP8 KV"] = args.fp8_kv
  if run.shape.hybrid then values["header/Model type"] = "HybridModel" end
end

-- 3.4 attention core, seconds per layer --------------------------------------------------------

local function decode_core(run)
  local s, args, values = run.shape, run.args, run.values
  local batch, context = run.batch, run.average_context
  local gflop, mfu
  if s.mla then  -- all heads on every rank, though the lookup has them divided
    gflop = 2 * s.heads * context * (2 * s.kv_lora_rank + s.rope) / 1e9
    mfu = run.lookups:mla_decode(s.heads, s.kv_lora_rank, s.rope, batch, context, args.tp, run.kv_dtype)
  else
    gflop = 4 * run.heads * s.head_dim * context / 1e9
    mfu = run.lookups:attention_decode(s.heads, s.kv_heads, s.head_dim, batch, context, args.tp,
                                       run.kv_dtype)
  end
  local arithmetic = divide(batch * gflop, run.core_gflop_per_s * mfu, "the MFU of decode attention")
  local traffic = run.kv_bytes_per_layer * context * batch / GiB / run.gpu.memory_gib_per_s
  values["decode/Attn core MFU"] = mfu
  values["decode/Attn core latency (us)"] = arithmetic * 1e6
  values["decode/KV loading latency (us)"] = traffic * 1e6
  return max(arithmetic, traffic)
end

local function prefill_core(run)
  local s, args, values = run.shape, run.args, run.values
  local isl = args.isl
  local gflop, mfu
  if s.mla then
    gflop = 2 * s.heads * isl * (s.nope + s.rope + s.v_head_dim) / 1e9
    mfu = run.lookups:mla_prefill(s.heads, s.nope, s.rope, isl, args.tp)
  else
    gflop = 4 * run.heads * s.head_dim * isl / 1e9
    mfu = run.lookups:attention_prefill(s.heads, s.kv_heads, s.head_dim, isl, args.tp)
  end
  local arithmetic = divide(isl * gflop / run.literals.causal_divisor, run.core_gflop_per_s * mfu,
                            "the MFU of prefill attention")
  local traffic = run.kv_bytes_per_layer * isl / GiB / run.gpu.memory_gib_per_s
  values["prefill/Attn core MFU"] = mfu
  values["prefill/Attn core latency (us)"] = arithmetic * 1e6
  values["prefill/KV loading latency (us)"] = traffic * 1e6
  local sequences = divide(args.max_prefill_tokens, isl, "isl")
  if not s.hybrid then sequences = ceil(sequences) end
  return max(arithmetic, traffic) * sequences
end

-- 3.5 projections, seconds per layer -----------------------------------------------------------

--- A GEMM has no weight-load floor of its own: bandwidth is inside the MFU.
local function gemm(run, m, k, n)
  local mfu = run.lookups:gemm(m, k, n, run.gemm_dtype)
  return divide(2 * m * k * n / 1e9, run.gemm_gflop_per_s * mfu, "the MFU of a GEMM")
end

local projection_labels = {}
for _, phase in ipairs { "prefill", "decode" } do
  projection_labels[phase] = {
    qkv = phase .. "/QKV_proj latency (us)", o = phase .. "/O_proj latency (us)",
    q_down = phase .. "/Q_down_proj latency (us)", q_up = phase .. "/Q_up_proj latency (us)",
    kv_down = phase .. "/KV_down_proj latency (us)",
    q_wk = phase .. "/bmm_q_wk latency (us)", o_wv = phase .. "/bmm_o_wv latency (us)",
    qkvz = phase .. "/qkvzba_proj latency (us)", linear_o = phase .. "/O_proj latency (us)#2",
  }
end

local function projections(run, m, label)
  local s, h, values = run.shape, run.heads, run.values
  local H = s.hidden_size
  if not s.mla then
    local qkv = gemm(run, m, H, (h + 2 * run.kv_heads) * s.head_dim)
    local o = gemm(run, m, h * s.head_dim, H)
    values[label.qkv], values[label.o] = qkv * 1e6, o * 1e6
    return qkv + o
  end
  local q_down = gemm(run, m, H, s.q_lora_rank)
  local q_up = gemm(run, m, s.q_lora_rank, h * (s.nope + s.rope))
  local kv_down = gemm(run, m, H, s.kv_lora_rank + s.rope)
  local q_wk = gemm(run, m, h * s.nope, s.kv_lora_rank)  -- batched in truth: one GEMM of K = h' nope
  local o_wv = gemm(run, m, h * s.kv_lora_rank, s.v_head_dim)
  local o = gemm(run, m, h * s.v_head_dim, H)
  values[label.q_down], values[label.q_up] = q_down * 1e6, q_up * 1e6
  values[label.kv_down], values[label.q_wk] = kv_down * 1e6, q_wk * 1e6
  values[label.o_wv], values[label.o] = o_wv * 1e6, o * 1e6
  return q_down + q_up + kv_down + q_wk + o_wv + o
end

--- Gated delta net: core and projections of one linear layer.
local function linear_attention(run, m, decode, label)
  local s, args, values = run.shape, run.args, run.values
  local latency_s = run.lookups:linear_attention(s, decode and run.batch or args.isl, decode)
  local states = run.state_bytes / s.linear_layers / GiB / run.gpu.memory_gib_per_s
  if decode then states = states * run.batch end
  local core = max(latency_s, states)
  if not decode then core = core * (args.max_prefill_tokens / args.isl) end
  values[decode and "decode/Linear attn core latency (us)" or "prefill/Linear Attn core latency (us)"] =
    latency_s * 1e6
  values[decode and "decode/States loading latency (us)" or "prefill/States loading latency (us)"] =
    states * 1e6
  local v = s.value_heads * s.value_head_dim
  local n = 2 * s.key_heads * s.key_head_dim + 2 * v
  local qkvz = gemm(run, m, s.hidden_size, n) * ((n + 2 * s.value_heads) / n)  -- b and a: time only
  local o = gemm(run, m, v, s.hidden_size)
  values[label.qkvz], values[label.linear_o] = qkvz * 1e6, o * 1e6
  return core, qkvz + o
end

-- 3.6 FFN, seconds per layer -------------------------------------------------------------------

local ffn_labels = {
  prefill = { mfu = "prefill/Routed experts MFU", time = "prefill/Routed experts latency (us)",
              load = "prefill/Experts loading latency (us)", shared = "prefill/Shared expert latency (us)" },
  decode = { mfu = "decode/Routed experts/FFN MFU", time = "decode/Routed experts/FFN latency (us)",
             load = "decode/Experts loading latency (us)", shared = "decode/Shared expert latency (us)" },
}

local function ffn(run, q, decode, label)
  local s, args, values = run.shape, run.args, run.values
  local H, I, W = s.hidden_size, run.intermediate_size, args.world_size
  local mfu
  if s.moe then  -- the better of up and down projection stands for both
    mfu = run.lookups:grouped_gemm(s.experts, W, s.experts_per_token, H, s.intermediate_size, args.tp, q,
                                   decode)
  else  -- looked up with the whole model's width over W, whatever tp is
    mfu = run.lookups:gemm(q, H, quotient(2 * s.intermediate_size, W, "world_size"), run.gemm_dtype)
  end
  local time = divide(6 * H * I * q * s.experts_per_token / 1e9, run.gemm_gflop_per_s * mfu, "the MFU of the FFN")
  local groups = floor(W / args.tp)
  local local_experts = divide(s.experts, groups, "world_size // tp")
  local load = run.expert_bytes * local_experts / GiB / run.gpu.memory_gib_per_s
  values[label.mfu], values[label.time], values[label.load] = mfu, time * 1e6, load * 1e6
  local total = max(time, load)
  if s.shared_experts > 0 then
    local shared = gemm(run, q, H, 2 * I * s.shared_experts) + gemm(run, q, I * s.shared_experts, H)
    values[label.shared] = shared * 1e6
    total = total + shared
  end
  return total
end

-- 3.7 communication, seconds per layer ---------------------------------------------------------

--- Before and after the experts, each a transfer in the way the deployment does it.
local function expert_exchange(run, q, decode)
  local s, args, gpu = run.shape, run.args, run.gpu
  if args.world_size <= 1 then return 0, 0 end
  local row = q * s.hidden_size / GiB
  if not args.deepep then
    local time = 2 * args.world_size * row / run.comm_gib_per_s
    return time, time
  end
  if decode then  -- low latency: FP8 out, bf16 back
    local dispatch = s.experts_per_token * row / run.comm_gib_per_s
    return dispatch, 2 * dispatch
  end
  local dispatch = (args.nodes - 1) * row / gpu.rdma_gib_per_s + row / gpu.nvlink_gib_per_s
  return dispatch, 2 * dispatch
end

--- One ring all-reduce of the layer's activations.
local function all_reduce(run, q)
  local args = run.args
  if args.tp <= 1 or args.world_size <= 1 then return 0 end
  return 2 * q * run.shape.hidden_size * 2 * (args.tp - 1) / args.tp / GiB / run.gpu.nvlink_gib_per_s
end

local comm_labels = {}
for _, phase in ipairs { "prefill", "decode" } do
  comm_labels[phase] = { before = phase .. "/Comm before MoE/FFN (us)", after = phase .. "/Comm after MoE/FFN (us)",
                         all_reduce = phase .. "/TP all_reduce (us)" }
end

-- 3.8 assembly ---------------------------------------------------------------------------------

--- Everything one layer needs, priced in the order the reference prints it.
local function layer_times(run, q, phase)
  local decode = phase == "decode"
  local label = projection_labels[phase]
  run.core = decode and decode_core(run) or prefill_core(run)
  run.projection = projections(run, q, label)
  run.linear_core, run.linear_projection = 0, 0
  if run.shape.hybrid then
    run.linear_core, run.linear_projection = linear_attention(run, q, decode, label)
  end
  run.ffn = ffn(run, q, decode, ffn_labels[phase])
  run.before, run.after = expert_exchange(run, q, decode)
  run.all_reduce = all_reduce(run, q)
  local labels, values = comm_labels[phase], run.values
  values[labels.before], values[labels.after] = run.before * 1e6, run.after * 1e6
  if run.args.tp > 1 then values[labels.all_reduce] = run.all_reduce * 1e6 end
end

--- Both attention kinds, FFN and communication of all layers: hybrids know no overlap.
local function hybrid_total(run)
  local s = run.shape
  local comm = run.args.tp > 1 and 2 * run.all_reduce or run.before + run.after
  return (run.core + run.projection) * s.full_layers
         + (run.linear_core + run.linear_projection) * s.linear_layers
         + run.ffn * s.layers + comm * s.layers
end

local function prefill(run)
  local s, args, values = run.shape, run.args, run.values
  local tokens = args.max_prefill_tokens
  values["prefill/Max prefill tokens"] = tokens
  layer_times(run, tokens, "prefill")
  local total
  if s.hybrid then
    total = hybrid_total(run)
  elseif args.two_batch_overlap then
    local attention, experts = (run.core + run.projection) / args.sm_ratio, run.ffn / args.sm_ratio
    total = (max(attention, run.before) + max(attention, run.after)
             + max(experts, run.before) + max(experts, run.after)) * s.layers
    tokens = 2 * tokens
  else
    total = (run.core + run.ffn + run.projection + (run.before + run.after) + run.all_reduce) * s.layers
  end
  local ttft_ms = total * 1000 + run.literals.prefill_overhead_ms
  values["prefill/TTFT (ms)"] = ttft_ms
  values["prefill/Throughput (TGS:tok/GPU/s)"] = tokens / args.tp / (ttft_ms / 1000)
end

local function decode(run)
  local s, args, values, literals = run.shape, run.args, run.values, run.literals
  local tokens, overhead_ms = run.batch, literals.decode_overhead_ms
  layer_times(run, tokens, "decode")
  local total
  if s.hybrid then
    total, overhead_ms = hybrid_total(run), literals.hybrid_decode_overhead_ms
  elseif args.two_batch_overlap then
    total = 2 * max(run.core + run.projection, run.ffn + run.before + run.after) * s.layers
    tokens = 2 * tokens
  else
    total = (run.core + run.projection + run.ffn + (run.before + run.after) + run.all_reduce) * s.layers
  end
  local tpot_ms = total * 1000 + overhead_ms
  values["decode/TPOT (ms)"] = tpot_ms
  values["decode/Throughput (TGS:tok/GPU/s)"] = tokens / args.tp / (tpot_ms / 1000)
  run.flags.misses_target_tpot = tpot_ms > args.target_tpot_ms
end

local function phases(run)
  header(run)
  sizes.weights(run)
  sizes.kv_cache(run)
  sizes.flops(run)
  if not run.args.decode_only then prefill(run) end
  if not run.args.prefill_only then decode(run) end
end

--- @param shape table from infersim.config
--- @param gpu table from infersim.gpus
--- @param args infersim.Arguments
--- @param lookups table from infersim.lookups
--- @param literals table|nil instead of static.defaults
--- @return table values "phase/label" -> number, text or boolean; after an error, those before it
--- @return string|nil message of the error that ended the evaluation
--- @return table flags
function static.evaluate(shape, gpu, args, lookups, literals)
  local run = prepare(shape, gpu, args, lookups, literals)
  local ok, message = pcall(phases, run)
  return run.values, not ok and tostring(message) or nil, run.flags
end

--- For steps/infersim on a serving batch, which sees the same layer through other windows.
static.prepare = prepare
static.decode_core = decode_core
static.projections = projections
static.ffn = ffn
static.all_reduce = all_reduce
static.projection_labels = projection_labels
static.ffn_labels = ffn_labels

return static
