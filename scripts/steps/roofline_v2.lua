--- The MFU roofline, with every disputed choice a switch.
---
---     time(op) = flop / (peak mfu(shape))
---
--- Decode and prefill are priced apart and combined; seven GEMMs per layer (q, k, v, o, gate, up,
--- down). Each parameter below is a question that reviews of this model raised; turn one at a time
--- to see what it is worth. The defaults are the reviewed answers in their fastest form.
---
--- Presets: `plan` the first plan; `reviewed` with its bugs fixed; `blis487` as it landed in
--- inference-sim 487017bc, to the last bit (with that project's tables).
--- Not in it: experts (read as one dense MLP), latent attention, embeddings, norms.
--- Source: docs/MODELS.md.
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"
local batches = require "steps.roofline.batches"
local contexts_of = require "steps.roofline.contexts"
local gemms = require "steps.roofline.gemms"

---@class steps.RooflineV2
---@field prefill_m string
---@field bucket_key string
---@field bucketing string|table
---@field bucket_flop string
---@field attention_flop string
---@field prefill_mask number
---@field decode_mask number
---@field softmax_flop boolean
---@field prefill_divisor number
---@field decode_context string
---@field decode_mfu_mean string
---@field mixed string
---@field gemm_memory_floor boolean
---@field fused_gemm boolean
---@field shard_shapes boolean
---@field bandwidth_efficiency number
---@field decode_bandwidth_factor number
---@field zero_mfu string
---@field overhead_per_layer_s number
---@field overhead_divides_by_tp boolean
---@field overhead_per_step_s number
---@field overhead_per_prefill_step_s number
---@field step_resolution_s number
---@field lm_head boolean
---@field all_reduce boolean
---@field head_dim string
---@field lookup string
local blis = "inference-sim 487017bc"
local the_reviews = "reviews of the plan of " .. blis
local RooflineV2 = policy.define {
  name = "roofline_v2",
  doc = "MFU roofline; every disputed choice is a parameter.",
  source = "inference-sim 487017bc and the reviews of its plan",
  params = {
    prefill_m = {
      default = "tokens", values = { "tokens", "requests" },
      source = the_reviews .. ": tokens; the plan: requests",
      doc = "m of a bucket's GEMMs: its new tokens, or (a bug of the plan) its requests.",
    },
    bucket_key = {
      default = "context_plus_new", values = { "new", "context_plus_new" },
      source = the_reviews .. ": context and new tokens; the plan: new ones",
      doc = "What a prefill is bucketed by.",
    },
    bucketing = {
      default = "pow2", values = { "exact", "pow2", "fused", "quantile" }, policy = "bucketing",
      source = blis,
      doc = "How prefills are grouped: a name, or a bucketing policy.",
    },
    bucket_flop = {
      default = "actual", values = { "actual", "bucket" },
      source = the_reviews,
      doc = "Attention flop from real lengths or from the bucket's.",
    },
    attention_flop = {
      default = "causal_exact", values = { "dense", "causal_mask", "causal_exact" },
      source = blis .. ": dense; counting pairs is exact",
      doc = "4hDtS; the same times a mask; or t p + t (t+1)/2 pairs.",
    },
    prefill_mask = {
      default = 0.5, unit = "1", min = 0.0001, max = 1,
      source = "half of a square score matrix is causal",
      doc = "Part of the scores that causal_mask keeps in prefill.",
    },
    decode_mask = {
      default = 1.0, unit = "1", min = 0.0001, max = 1, source = "a new token sees every key",
      doc = "The same in decode.",
    },
    softmax_flop = { default = false, source = the_reviews, doc = "Add 4htS." },
    prefill_divisor = {
      default = 1.0, unit = "1", min = 0.01, source = "1.8: alibaba/InferSim",
      doc = "Divides prefill attention: 1.8 with dense, 1 where pairs are counted.",
    },
    decode_context = {
      default = "mean", values = { "per_request", "max", "mean", "sum", "bucketed" },
      source = blis .. ": per_request; the plan: max",
      doc = "Context in flop and lookup of a decode batch. sum: flop of all, looked up at the "
            .. "longest; bucketed: looked up at the next power of two.",
    },
    decode_mfu_mean = {
      default = "arithmetic", values = { "arithmetic", "harmonic" },
      source = blis .. ": arithmetic",
      doc = "How the MFUs of requests are averaged, weighted by flop; harmonic is exact.",
    },
    mixed = {
      default = "max", values = { "max", "sum", "weighted" },
      source = blis .. ": max; the plan: weighted",
      doc = "Prefill and decode in one step.",
    },
    gemm_memory_floor = {
      default = true, source = the_reviews,
      doc = "A GEMM takes at least its weights over the bandwidth.",
    },
    fused_gemm = {
      default = false, source = blis .. "; engines fuse them",
      doc = "q, k, v and gate, up as one GEMM each.",
    },
    shard_shapes = {
      default = false, source = blis,
      doc = "Look up k, n of one rank; else the whole, divided by tp.",
    },
    bandwidth_efficiency = {
      default = 0.82, unit = "1", min = 0.01, max = 1, source = blis .. ", H100; 0.80 on A100",
      doc = "Part of the peak bandwidth that is reached.",
    },
    decode_bandwidth_factor = {
      default = 1.0, unit = "1", min = 0.01, max = 1, source = "a review asked for 0.5 to 0.6",
      doc = "Of that, for scattered KV reads.",
    },
    zero_mfu = {
      default = "nearest", values = { "nearest", "first_nonzero", "v1", "error" },
      source = blis .. ": nearest; the plan: v1",
      doc = "Where the lookup answers 0: the nearest by doubling and halving, the first from 1 on, "
            .. "the MFU of roofline_v1, or an error.",
    },
    overhead_per_layer_s = {
      default = 100e-6, unit = "s", min = 0, source = blis,
      doc = "Host time per layer.",
    },
    overhead_divides_by_tp = {
      default = true, source = blis,
      doc = "That time is shared by the ranks.",
    },
    overhead_per_step_s = {
      default = 0.0, unit = "s", min = 0, source = "InferSim: 0.005",
      doc = "Host time per step.",
    },
    overhead_per_prefill_step_s = {
      default = 0.0, unit = "s", min = 0, source = "InferSim: 0.025",
      doc = "More, in steps with a prefill.",
    },
    step_resolution_s = {
      default = 0.0, unit = "s", min = 0, source = blis .. ": 1e-6",
      doc = "Steps are whole multiples of this, at least one; 0 = exact.",
    },
    lm_head = { default = false, source = blis, doc = "Add the LM head GEMM, a row per request." },
    all_reduce = { default = false, source = blis, doc = "Add two all-reduces per layer." },
    head_dim = {
      default = "model", values = { "model", "hidden_over_heads" },
      source = blis .. ": the latter",
      doc = "Head dimension: the model's, or always H / h.",
    },
    lookup = {
      default = "", source = "each project reads its tables in its own way",
      doc = "Named lookup over the tables; empty = the database's own.",
    },
  },
  presets = {
    plan = {
      prefill_m = "requests", bucket_key = "new", bucketing = "exact", attention_flop = "dense",
      prefill_divisor = 1.8, decode_context = "max", mixed = "weighted", zero_mfu = "v1",
      overhead_per_layer_s = 0.0, overhead_per_step_s = 0.005, overhead_per_prefill_step_s = 0.025,
      lookup = "infersim_floor",
    },
    reviewed = {
      prefill_m = "tokens", bucket_key = "context_plus_new", bucketing = "pow2", attention_flop = "causal_mask",
      prefill_divisor = 1.0, decode_context = "per_request", mixed = "max", zero_mfu = "nearest",
    },
    blis487 = {
      prefill_m = "tokens", bucket_key = "context_plus_new", bucketing = "pow2", attention_flop = "dense",
      prefill_divisor = 1.8, decode_context = "per_request", mixed = "max", zero_mfu = "nearest",
      head_dim = "hidden_over_heads", step_resolution_s = 1e-6, lookup = "blis487",
    },
  },
}

--- The MFU that roofline_v1 uses, for zero_mfu = "v1".
local v1_mfu = { prefill = 0.45, decode = 0.30 }

local evidence_names, evidence_rank = {}, {}
for i, name in ipairs(cost.evidence_names()) do evidence_names[i - 1], evidence_rank[name] = name, i - 1 end

local function next_power_of_two(x)
  local power = 1
  while power < x do power = power * 2 end
  return power
end

function RooflineV2:bind(context)
  local model, deployment, hardware = context.model, context.deployment, context.hardware
  local tp = deployment.tp
  self.model, self.hardware, self.tp = model, hardware, tp
  self.database = self.lookup ~= "" and context.mfu:with(self.lookup) or context.mfu
  self.dtype = deployment.weights or "bf16"
  self.kv_dtype = deployment.kv or "bf16"
  self.element_bytes = batches.element_bytes[self.dtype]
  self.v1_mfu = v1_mfu.decode
  self.peak_flop_per_s = hardware.peak_flop_per_s.bf16
  self.bytes_per_s = hardware.memory_bytes_per_s * self.bandwidth_efficiency
  self.dim = self.head_dim == "model" and model.head_dim or math.floor(model.hidden_size / model.heads)
  self.traffic = batches.traffic(model, self.element_bytes, self.dim)
  self.traffic.kv_read_factor = 1 / self.decode_bandwidth_factor
  self.attention_flop_per_pair = 4 * model.heads * self.dim + (self.softmax_flop and 4 * model.heads or 0)
  self.overhead_us = self.overhead_per_layer_s * 1e6 * model.layers / (self.overhead_divides_by_tp and tp or 1)
                     + self.overhead_per_step_s * 1e6
  self.groups_of = self.bucketing
  if type(self.bucketing) == "string" then
    self.groups_of = require("bucketing." .. self.bucketing) { key = self.bucket_key }
  end
  self:bind_gemms(model)
  self.terms = {}
  self.contexts = contexts_of.new(function(batch_size, tokens) return self:contribution(batch_size, tokens) end)
end

--- All layers' GEMMs as a function of m alone, remembered.
function RooflineV2:bind_gemms(model)
  local ranks = self.shard_shapes and self.tp or 1
  self.spread_ranks = self.tp / ranks
  local dims = { hidden = model.hidden_size, q = model.heads * self.dim, kv = model.kv_heads * self.dim,
                 mlp = batches.dense_width(model) }
  local shapes = gemms.layer(dims, self.fused_gemm, ranks)
  local layers = model.layers
  self.layer_gemms = cost.memoize(function(m)
    local total_s = 0
    for i = 1, #shapes do
      local shape = shapes[i]
      total_s = total_s + gemms.time(self, shape.name, m, shape.k, shape.n, layers)
    end
    return total_s
  end)
  self.head_gemm = cost.memoize(function(m)
    return gemms.time(self, "lm_head", m, model.hidden_size, model.vocab_size / ranks, 1)
  end)
end

-- Attention ------------------------------------------------------------------------------------

--- (query, key) pairs of t new tokens behind p old ones, as `attention_flop` counts them.
function RooflineV2:prefill_pairs(t, p)
  if self.attention_flop == "causal_exact" then return t * p + t * (t + 1) / 2 end
  local pairs = t * (p + t)
  return self.attention_flop == "causal_mask" and pairs * self.prefill_mask or pairs
end

function RooflineV2:decode_pairs(requests, context_tokens)
  if self.attention_flop == "causal_exact" then return context_tokens + requests end
  return self.attention_flop == "causal_mask" and context_tokens * self.decode_mask or context_tokens
end

function RooflineV2:ask_decode(context_tokens, batch_size)
  local model = self.model
  local mfu, estimate = self.database:decode(model.heads, model.kv_heads, self.dim, batch_size, context_tokens,
                                             self.tp, self.kv_dtype)
  return mfu, estimate  -- here and elsewhere: more than fifteen tail calls end a trace
end

function RooflineV2:ask_prefill(seq_len)
  local model = self.model
  local mfu, estimate = self.database:prefill(model.heads, model.kv_heads, self.dim, seq_len, self.tp, self.kv_dtype)
  return mfu, estimate
end

function RooflineV2:decode_mfu(batch_size, context_tokens)
  local mfu, estimate = self:ask_decode(context_tokens, batch_size)
  if gemms.usable(mfu) then return mfu, estimate end
  return gemms.instead_of_zero(self, "ask_decode", v1_mfu.decode, context_tokens, batch_size)
end

function RooflineV2:prefill_mfu(seq_len)
  local mfu, estimate = self:ask_prefill(seq_len)
  if gemms.usable(mfu) then return mfu, estimate end
  return gemms.instead_of_zero(self, "ask_prefill", v1_mfu.prefill, seq_len)
end

function RooflineV2:ask_gemm(m, k, n)
  local mfu, estimate = self.database:gemm(m, k, n, self.dtype)
  return mfu, estimate
end

--- Attention of all layers from its pairs, spread over tp.
function RooflineV2:attention_time(name, pairs, mfu, estimate, divisor)
  local layers = self.model.layers
  local flop = pairs * self.attention_flop_per_pair / self.tp
  local time_s = flop / divisor / (self.peak_flop_per_s * mfu)
  local shape
  if cost.listening() then
    local model = self.model
    shape = ("pairs=%.14g heads=%d/%d tp=%d"):format(pairs, model.heads, model.kv_heads, self.tp)
  end
  return (cost.record(name, time_s, estimate, layers, flop, 0, mfu, "compute", nil, name, shape))
end

--- What one context contributes to the mean: pairs x MFU (or pairs / MFU for the harmonic one).
--- @return number weight, integer rank of the evidence
function RooflineV2:contribution(batch_size, context)
  local pairs = self:decode_pairs(1, context)
  if pairs == 0 then return 0, 0 end
  local at = self.decode_context == "bucketed" and next_power_of_two(context) or math.max(1, context)
  local mfu, estimate = self:decode_mfu(batch_size, at)
  return self.decode_mfu_mean == "harmonic" and pairs / mfu or pairs * mfu, evidence_rank[cost.mixed(estimate)]
end

--- Each request at its own context (or its power of two), their MFUs averaged by flop.
function RooflineV2:decode_attention_by_request(batch)
  local n, contexts = batch.decodes, batch.decode_contexts
  local total = self:decode_pairs(n, batch.decode_context_tokens)
  if total == 0 then return 0 end
  local known = self.contexts:of_batch(n)
  local sum = self.contexts:sum(known, contexts, n)
  local mfu = self.decode_mfu_mean == "harmonic" and total / sum or sum / total
  return (self:attention_time("attention_decode", total, mfu, evidence_names[known:worst_rank(contexts, n)], 1))
end

function RooflineV2:decode_attention(batch)
  local rule = self.decode_context
  if rule == "per_request" or rule == "bucketed" then return (self:decode_attention_by_request(batch)) end
  local n, sum = batch.decodes, batch.decode_context_tokens
  local total, at = sum, sum / n
  if rule ~= "mean" then at = batch.decode_context_max end
  if rule == "max" then total = n * at end
  local pairs = self:decode_pairs(n, total)
  if pairs == 0 then return 0 end
  local mfu, estimate = self:decode_mfu(n, math.max(1, at))
  return (self:attention_time("attention_decode", pairs, mfu, estimate, 1))
end

--- One bucket's attention: flop of its members, MFU at its length.
function RooflineV2:bucket_attention(group, prefills)
  local pairs, members = 0, group.members
  for i = 1, #members do
    local prefill = prefills[members[i]]
    local t, p = prefill.new_tokens, prefill.context_tokens
    if self.bucket_flop == "bucket" then
      if self.bucket_key == "new" then t = group.seq_len else p = math.max(0, group.seq_len - t) end
    end
    pairs = pairs + self:prefill_pairs(t, p)
  end
  local mfu, estimate = self:prefill_mfu(group.seq_len)
  return (self:attention_time("attention_prefill", pairs, mfu, estimate, self.prefill_divisor))
end

-- Phases ---------------------------------------------------------------------------------------

--- The slower of arithmetic and traffic; the weights are read once per phase.
function RooflineV2:phase_time(name, compute_s, bytes)
  bytes = (self.traffic.weight_bytes + bytes) / self.tp
  local memory_s = bytes / self.bytes_per_s
  if memory_s <= compute_s then return compute_s, memory_s end
  local above_s = memory_s - compute_s  -- what the traffic takes beyond the operations recorded above
  return compute_s + cost.record(name, above_s, "modelled", 1, 0, bytes, nil, "memory"), memory_s
end

function RooflineV2:decode_time(batch)
  local terms = self.terms
  local gemm_s = self.layer_gemms(batch.decodes)
  local attention_s = self:decode_attention(batch)
  local bytes = self.traffic:decode_bytes(batch.decodes, batch.decode_context_tokens)
  local time_s, memory_s = self:phase_time("decode_memory", gemm_s + attention_s, bytes)
  terms.decode_gemm_s, terms.decode_attention_s, terms.decode_memory_s = gemm_s, attention_s, memory_s
  return time_s
end

function RooflineV2:prefill_time(batch)
  local prefills, terms = batch.prefills, self.terms
  local groups = self.groups_of:groups(prefills)
  local gemm_s, attention_s, bytes = 0, 0, 0
  for g = 1, #groups do
    local group = groups[g]
    gemm_s = gemm_s + self.layer_gemms(self.prefill_m == "tokens" and group.new_tokens or group.requests)
    attention_s = attention_s + self:bucket_attention(group, prefills)
  end
  for i = 1, #prefills do
    local prefill = prefills[i]
    bytes = bytes + self.traffic:request_bytes(prefill.context_tokens, prefill.new_tokens)
  end
  local time_s, memory_s = self:phase_time("prefill_memory", gemm_s + attention_s, bytes)
  terms.prefill_gemm_s, terms.prefill_attention_s, terms.prefill_memory_s = gemm_s, attention_s, memory_s
  return time_s
end

function RooflineV2:combine(prefill_s, decode_s, prefill_tokens, decodes)
  if self.mixed == "sum" then return prefill_s + decode_s end
  if self.mixed == "weighted" then return (batches.weighted(prefill_s, decode_s, prefill_tokens, decodes)) end
  return (math.max(prefill_s, decode_s))
end

--- What this model can add beside its two phases.
function RooflineV2:extras(batch)
  local time_s = 0
  if self.lm_head and batch.requests > 0 then time_s = time_s + self.head_gemm(batch.requests) end
  if self.all_reduce and self.tp > 1 and batch.tokens > 0 then
    local bytes = batch.tokens * self.model.hidden_size * self.element_bytes
    time_s = time_s + cost.all_reduce(self.database, bytes, self.tp, 2 * self.model.layers)
  end
  return time_s
end

---@param batch rooflua.Batch
---@return number time_s
function RooflineV2:time(batch)
  local prefills, decodes = #batch.prefills, batch.decodes
  local time_s, overhead_us = 0, self.overhead_us
  if prefills > 0 then overhead_us = overhead_us + self.overhead_per_prefill_step_s * 1e6 end
  if prefills > 0 and decodes > 0 then
    local prefill_s, decode_s = self:prefill_time(batch), self:decode_time(batch)
    time_s = self:combine(prefill_s, decode_s, batch.tokens - decodes, decodes)
  elseif prefills > 0 then
    time_s = self:prefill_time(batch)
  elseif decodes > 0 then
    time_s = self:decode_time(batch)
  end
  if self.lm_head or self.all_reduce then time_s = time_s + self:extras(batch) end
  if overhead_us > 0 then
    local host_s = overhead_us / 1e6
    local corrected_s = cost.record("host", host_s, "assumed")
    if corrected_s ~= host_s then overhead_us = corrected_s * 1e6 end  -- else to the last bit
  end
  return (self:resolve(time_s * 1e6 + overhead_us))
end

--- Microseconds to seconds, in whole steps of the resolution.
function RooflineV2:resolve(time_us)
  local resolution_us = self.step_resolution_s * 1e6
  self.terms.total_us = math.max(time_us, resolution_us)
  if resolution_us == 0 then return time_us / 1e6 end
  return math.max(1, math.floor(time_us / resolution_us + 0.5)) * resolution_us / 1e6
end

return RooflineV2
