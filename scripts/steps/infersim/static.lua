--- InferSim's static model: what one prefill batch and one decode step cost on a rank, as equations.
---
--- Symbols as in docs/MODELS.md: H hidden size, h query heads, g KV heads, D head dim, I expert width,
--- E experts, K experts per token, Es shared experts, L layers, W world size, N nodes; a prime divides
--- by tp (integer division). Everything that InferSim prints is a field of the run or of one of its phases;
--- infersim/report.lua has the names. InferSim's quirks are reproduced on purpose.
---
--- `new` and `prepare` compute what depends on model, GPU and deployment. `evaluate` computes the rest for each
--- load and writes it into the same records again: copy what you want to keep. It makes no table and no tail
--- call. Compiled-code idiom: docs/LUA_API.md, "Hot paths".
---
--- Source: alibaba/InferSim f2293da.

local apart = require("rooflua.cost").apart
local gemms = require "steps.infersim.gemms"
local lookups = require "steps.infersim.lookups"
local report = require "steps.infersim.report"
local sizes = require "steps.infersim.sizes"

local ceil, floor, max = math.ceil, math.floor, math.max
local GiB = 1024 * 1024 * 1024

--- Constants in InferSim's code without a source there; they are parameters of steps/infersim.
local defaults = {
  causal_divisor = 1.8,        -- a causal mask would halve prefill attention; 1.8 leaves 11 % above the half
  runtime_gib = 15, activation_gib = 5,
  prefill_overhead_ms = 30, decode_overhead_ms = 5, hybrid_decode_overhead_ms = 2,
}

local divide = sizes.divide

--- A deployment: it does not change between evaluations.
---@class infersim.Deployment
---@field device string
---@field world_size integer GPUs
---@field tp integer tensor parallel degree
---@field nodes integer
---@field fp8_gemm boolean
---@field fp8_kv boolean
---@field deepep boolean all-to-all library for expert parallelism
---@field two_batch_overlap boolean
---@field sm_ratio number part of the SMs left to compute under two_batch_overlap
---@field prefill_only boolean
---@field decode_only boolean

--- A load: what an evaluation is asked about.
---@class infersim.Load
---@field max_prefill_tokens integer tokens of one prefill batch (M)
---@field decode_batch integer|nil requests of one decode step; nil = computed from the targets
---@field target_tokens_per_s number per GPU
---@field target_tpot_ms number
---@field isl integer input tokens per request
---@field osl integer output tokens per request

--- Results of one phase; times are per layer unless the field says otherwise.
---@class infersim.Phase
---@field total_s number|nil TTFT or TPOT: all layers and the overhead
---@field tokens_per_s number|nil per GPU
---@field projections infersim.GemmTimes
---@field linear_projections infersim.GemmTimes
---@field shared infersim.GemmTimes
---@field core_mfu number|nil
---@field core_arithmetic_s number|nil
---@field core_traffic_s number|nil

---@class infersim.Run
---@field shape table from infersim.config
---@field gpu table from infersim.gpus
---@field args infersim.Deployment
---@field prefill infersim.Phase
---@field decode infersim.Phase
---@field needs_smaller_kv_cache boolean
---@field misses_target_tpot boolean
local Run = {}
Run.__index = Run

local static = { defaults = defaults }

--- @return infersim.Phase
local function phase() return { projections = {}, linear_projections = {}, shared = {} } end

--- @param shape table from infersim.config
--- @param gpu table from infersim.gpus
--- @param args infersim.Deployment
--- @param mfu rooflua.Database
--- @param literals table|nil nil: static.defaults
--- @return infersim.Run run call `prepare` before `evaluate`
function static.new(shape, gpu, args, mfu, literals)
  literals = literals or defaults
  return setmetatable({
    shape = shape, gpu = gpu, args = args, literals = literals, mfu = mfu,
    mla = shape.mla, hybrid = shape.hybrid,
    prefill_overhead_s = literals.prefill_overhead_ms / 1000,
    decode_overhead_s = (shape.hybrid and literals.hybrid_decode_overhead_ms or literals.decode_overhead_ms) / 1000,
    prefill = phase(), decode = phase(), needs_smaller_kv_cache = false, misses_target_tpot = false,
  }, Run)
end

-- 3.7 communication, seconds per layer and token -----------------------------------------------

--- Exchange before the experts: FP8 rows where DeepEP runs, else 2 bytes per element from and to all ranks.
local function exchange_before(run, decode)
  local s, args, gpu = run.shape, run.args, run.gpu
  if args.world_size <= 1 then return 0 end
  local row = s.hidden_size / GiB
  if not args.deepep then return 2 * args.world_size * row / run.comm_gib_per_s end
  if decode then return s.experts_per_token * row / run.comm_gib_per_s end  -- DeepEP's low-latency kernels
  return (args.nodes - 1) * row / gpu.rdma_gib_per_s + row / gpu.nvlink_gib_per_s
end

--- Ring all-reduce of the activations of one layer, per token.
local function all_reduce(run)
  local args = run.args
  if args.tp <= 1 or args.world_size <= 1 then return 0 end
  return 2 * run.shape.hidden_size * 2 * (args.tp - 1) / args.tp / GiB / run.gpu.nvlink_gib_per_s
end

local function communication(run)
  local back = run.args.deepep and 2 or 1  -- DeepEP returns bf16
  run.prefill_before_s, run.decode_before_s = exchange_before(run, false), exchange_before(run, true)
  run.prefill_after_s, run.decode_after_s = back * run.prefill_before_s, back * run.decode_before_s
  run.all_reduce_s = all_reduce(run)
end

--- GFLOP of a (query, key) pair in the attention core, in prefill and in decode; MLA counts all heads on every rank.
local function core_gflop(run)
  local s = run.shape
  if s.mla then
    return 2 * s.heads * (s.nope + s.rope + s.v_head_dim) / 1e9, 2 * s.heads * (2 * s.kv_lora_rank + s.rope) / 1e9
  end
  local gflop = 4 * run.heads * s.head_dim / 1e9
  return gflop, gflop
end

--- Computes what does not depend on the load. Raises an error where InferSim does.
function Run:prepare()
  local args, gpu = self.args, self.gpu
  self.gemm_gflop_per_s = args.fp8_gemm and gpu.fp8_gflop_per_s or gpu.fp16_gflop_per_s
  self.core_gflop_per_s = gpu.fp16_gflop_per_s  -- attention never runs in FP8
  self.comm_gib_per_s = args.nodes > 1 and gpu.rdma_gib_per_s or gpu.nvlink_gib_per_s
  sizes.prepare(self)
  self.memory_bytes_per_s = GiB * gpu.memory_gib_per_s
  self.prefill_gflop_per_pair, self.decode_gflop_per_pair = core_gflop(self)
  self.expert_gflop_per_token = 6 * self.shape.hidden_size * self.intermediate_size
                                * self.shape.experts_per_token / 1e9
  self.groups = floor(args.world_size / args.tp)
  self.gemms = gemms.of(self)
  self.prefill_asked, self.decode_asked = lookups.of(self, false), lookups.of(self, true)
  communication(self)
  return self
end

-- 3.4 attention core, seconds per layer --------------------------------------------------------

---@param width number? new tokens of a request, more than 1 where it brings drafts: they read its cache together
local function decode_core(run, out, mfu, batch, context, width)
  local arithmetic = divide(batch * context * run.decode_gflop_per_pair, run.core_gflop_per_s * mfu,
                            "the MFU of decode attention") * (width or 1)
  local traffic = run.kv_bytes_per_layer * context * batch / run.memory_bytes_per_s
  out.core_mfu, out.core_arithmetic_s, out.core_traffic_s = mfu, arithmetic, traffic
  return (max(arithmetic, traffic))
end

--- @param tokens number tokens of one prefill batch, which holds tokens / isl prompts
local function prefill_core(run, out, mfu, isl, tokens)
  local arithmetic = divide(isl * isl * run.prefill_gflop_per_pair / run.literals.causal_divisor,
                            run.core_gflop_per_s * mfu, "the MFU of prefill attention")
  local traffic = run.kv_bytes_per_layer * isl / run.memory_bytes_per_s
  out.core_mfu, out.core_arithmetic_s, out.core_traffic_s = mfu, arithmetic, traffic
  local sequences = divide(tokens, isl, "isl")
  if not run.hybrid then sequences = ceil(sequences) end
  return max(arithmetic, traffic) * sequences
end

--- Gated delta net of one linear attention layer.
local function linear_core(run, out, latency_s, requests)
  local states_s = run.state_bytes / run.shape.linear_layers / run.memory_bytes_per_s * requests
  out.linear_latency_s, out.states_s = latency_s, states_s
  return (max(latency_s, states_s))
end

-- 3.6 FFN, seconds per layer -------------------------------------------------------------------

--- @param all table<string, number> MFUs by name of the question
local function ffn(run, out, all, q)
  divide(1, run.args.world_size, "world_size")
  local mfu = all.experts
  local arithmetic = divide(q * run.expert_gflop_per_token, run.gemm_gflop_per_s * mfu, "the MFU of the FFN")
  local local_experts = divide(run.shape.experts, run.groups, "world_size // tp")
  local traffic = run.expert_bytes * local_experts / run.memory_bytes_per_s
  out.experts_mfu, out.experts_arithmetic_s, out.experts_traffic_s = mfu, arithmetic, traffic
  if run.shape.shared_experts == 0 then return (max(arithmetic, traffic)) end
  return max(arithmetic, traffic) + gemms.shared_experts(run, all, q, out.shared)
end

-- 3.8 assembly ---------------------------------------------------------------------------------

--- Hybrids: both kinds of attention, FFN and communication of all layers. Nothing overlaps.
local function hybrid_total(run, attention, linear, experts, exchange, reduce)
  local s = run.shape
  local comm = run.args.tp > 1 and 2 * reduce or exchange
  return attention * s.full_layers + linear * s.linear_layers + experts * s.layers + comm * s.layers
end

local function prefill(run, load)
  local args, out, tokens, isl = run.args, run.prefill, load.max_prefill_tokens, load.isl
  local L = run.shape.layers
  out.tokens = tokens
  local mfu, latency_s = run.prefill_asked:ask(tokens, isl)
  local core = prefill_core(run, out, mfu.core, isl, tokens)
  local projection, linear = gemms.projections(run, mfu, tokens, out.projections), 0
  if run.hybrid then
    linear = linear_core(run, out, latency_s.linear, 1) * (tokens / isl)
    linear = linear + gemms.linear_projections(run, mfu, tokens, out.linear_projections)
  end
  local experts = ffn(run, out, mfu, tokens)
  local before, after, reduce = tokens * run.prefill_before_s, tokens * run.prefill_after_s, tokens * run.all_reduce_s
  out.before_s, out.after_s, out.all_reduce_s = before, after, reduce
  local total
  if run.hybrid then
    total = hybrid_total(run, core + projection, linear, experts, before + after, reduce)
  elseif args.two_batch_overlap then
    local attention, narrow = (core + projection) / args.sm_ratio, experts / args.sm_ratio
    total = (max(attention, before) + max(attention, after) + max(narrow, before) + max(narrow, after)) * L
    tokens = 2 * tokens
  else
    total = (core + experts + projection + (before + after) + reduce) * L
  end
  total = total + run.prefill_overhead_s
  out.total_s, out.tokens_per_s = total, tokens / args.tp / total
end

local function decode(run, load)
  local args, out, tokens = run.args, run.decode, run.batch
  local L = run.shape.layers
  local mfu, latency_s = run.decode_asked:ask(tokens, run.average_context)
  local core = decode_core(run, out, mfu.core, tokens, run.average_context)
  local projection, linear = gemms.projections(run, mfu, tokens, out.projections), 0
  if run.hybrid then
    linear = linear_core(run, out, latency_s.linear, tokens)
    linear = linear + gemms.linear_projections(run, mfu, tokens, out.linear_projections)
  end
  local experts = ffn(run, out, mfu, tokens)
  local before, after, reduce = tokens * run.decode_before_s, tokens * run.decode_after_s, tokens * run.all_reduce_s
  out.before_s, out.after_s, out.all_reduce_s = before, after, reduce
  local total
  if run.hybrid then
    total = hybrid_total(run, core + projection, linear, experts, before + after, reduce)
  elseif args.two_batch_overlap then
    total = 2 * max(core + projection, experts + before + after) * L
    tokens = 2 * tokens
  else
    total = (core + projection + experts + (before + after) + reduce) * L
  end
  total = total + run.decode_overhead_s
  out.total_s, out.tokens_per_s = total, tokens / args.tp / total
  run.misses_target_tpot = total * 1000 > load.target_tpot_ms
end

--- One evaluation: fills the run and its phases. Raises an error where InferSim does.
--- @param load infersim.Load
function Run:evaluate(load)
  self.isl, self.osl = load.isl, load.osl
  sizes.kv_cache(self, load)
  sizes.flops(self, load)
  if not self.args.decode_only then apart(prefill, self, load) end
  if not self.args.prefill_only then apart(decode, self, load) end
end

--- Builds, prepares and evaluates a run in one call.
--- @param args infersim.Deployment|infersim.Load both in one table
--- @return table values "phase/label" -> number, text or boolean; after an error, those computed before it
--- @return string|nil message of the error that ended the evaluation
function static.evaluate(shape, gpu, args, mfu, literals)
  local run = static.new(shape, gpu, args, mfu, literals)
  local ok, message = pcall(function() run:prepare():evaluate(args) end)
  return report.values(run), not ok and tostring(message) or nil
end

--- infersim/serving.lua prices serving batches with the same layer.
static.decode_core = decode_core
static.ffn = ffn

return static
