--- The MFU roofline, with every disputed choice a parameter.
---
---     time(op) = flop / (peak mfu(shape))
---
--- Decode and prefill are priced separately and then combined. A layer has seven GEMMs (q, k, v, o, gate, up,
--- down). inference-sim got this model in commit 487017bc, after a design plan and reviews of that plan.
--- Each parameter is a question that the reviews raised: change one at a time to see its effect. The
--- defaults are the reviewed answers in their fastest form.
---
--- Presets: `plan` is the design plan; `reviewed` is the plan with its bugs fixed; `blis487` is commit
--- 487017bc of inference-sim, to the last bit with that project's tables.
--- The model leaves out: experts (read as one dense MLP), latent attention, embeddings, norms.
--- Source: docs/MODELS.md.
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"
local attention = require "steps.roofline.attention"
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
local reviews = "reviews of the design plan of " .. blis
local RooflineV2 = policy.define {
  name = "roofline_v2",
  doc = "MFU roofline; every disputed choice is a parameter.",
  source = blis .. " and the reviews of its design plan",
  params = {
    prefill_m = {
      default = "tokens", values = { "tokens", "requests" },
      source = reviews .. ": tokens; the plan itself: requests",
      doc = "m of a group's GEMMs: its new tokens, or its requests (a bug of the design plan).",
    },
    bucket_key = {
      default = "context_plus_new", values = { "new", "context_plus_new" },
      source = reviews .. ": context_plus_new; the plan itself: new",
      doc = "Length that groups prefills: new tokens alone, or with the tokens in the KV cache.",
    },
    bucketing = {
      default = "pow2", values = { "exact", "pow2", "fused", "quantile" }, policy = "bucketing",
      source = blis,
      doc = "How the prefills of a step are grouped: a name, or a bucketing policy.",
    },
    bucket_flop = {
      default = "actual", values = { "actual", "bucket" },
      source = reviews,
      doc = "Attention flop from the real lengths of prefills, or from the length of their group.",
    },
    attention_flop = {
      default = "causal_exact", values = { "dense", "causal_mask", "causal_exact" },
      source = blis .. ": dense; causal_exact counts the pairs of a causal mask",
      doc = "(query, key) pairs of t new tokens after p old ones. dense: t (p + t); causal_mask: that times "
            .. "prefill_mask or decode_mask; causal_exact: t p + t (t+1)/2.",
    },
    prefill_mask = {
      default = 0.5, unit = "1", min = 0.0001, max = 1,
      source = "a causal mask keeps half of a square score matrix",
      doc = "Part of the scores that causal_mask keeps in prefill.",
      idle = { attention_flop = { other_than = "causal_mask" } },
    },
    decode_mask = {
      default = 1.0, unit = "1", min = 0.0001, max = 1, source = "a decoded token attends to every key",
      doc = "Part of the scores that causal_mask keeps in decode.",
      idle = { attention_flop = { other_than = "causal_mask" } },
    },
    softmax_flop = {
      default = false, source = reviews,
      doc = "Count the flop of softmax: 4 per head and (query, key) pair.",
    },
    prefill_divisor = {
      default = 1.0, unit = "1", min = 0.01, source = "1.8: alibaba/InferSim",
      doc = "Divides the time of prefill attention: 1.8 with dense, 1 where only causal pairs are counted.",
    },
    decode_context = {
      default = "mean", values = { "per_request", "max", "mean", "sum", "bucketed" },
      source = blis .. ": per_request; its design plan: max",
      doc = "Context of a decode batch, in its flop and its lookup. per_request: each request at its own; max: all "
            .. "at the longest; mean: all at the mean; sum: real flop, looked up at the longest; bucketed: as "
            .. "per_request, looked up at the next power of two.",
    },
    decode_mfu_mean = {
      default = "arithmetic", values = { "arithmetic", "harmonic" },
      source = blis .. ": arithmetic",
      doc = "Mean of the requests' MFUs, weighted by flop. harmonic gives the exact sum of their times.",
      idle = { decode_context = { other_than = "per_request" } },
    },
    mixed = {
      default = "max", values = { "max", "sum", "weighted" },
      source = blis .. ": max; its design plan: weighted",
      doc = "Time of a step with both phases: the longer, the sum, or a mean weighted by tokens.",
    },
    gemm_memory_floor = {
      default = true, source = reviews,
      doc = "A GEMM takes at least the time to read its weights.",
    },
    fused_gemm = {
      default = false, source = blis .. "; serving engines fuse them",
      doc = "One GEMM for q, k and v, one for gate and up.",
    },
    shard_shapes = {
      default = false, source = blis,
      doc = "Look up k and n of one rank; otherwise of the whole model, with the time divided by tp.",
      idle = { "one GPU" },
    },
    bandwidth_efficiency = {
      default = 0.82, unit = "1", min = 0.01, max = 1, source = blis .. ", H100; 0.80 on A100",
      doc = "Part of the peak bandwidth that memory traffic reaches.",
    },
    decode_bandwidth_factor = {
      default = 1.0, unit = "1", min = 0.01, max = 1, source = "1: neutral; one of the reviews asked for 0.5 to 0.6",
      doc = "Part of that bandwidth that the scattered KV reads of decode reach.",
    },
    zero_mfu = {
      default = "nearest", values = { "nearest", "first_nonzero", "v1", "error" },
      source = blis .. ": nearest; its design plan: v1",
      doc = "MFU where the table has 0. nearest: of the nearest length, found by doubling and halving; "
            .. "first_nonzero: of the first of 1, 2, 4, ...; v1: of roofline_v1; error: an error.",
    },
    overhead_per_layer_s = {
      default = 100e-6, unit = "s", min = 0, source = blis,
      doc = "Host time of a step, per layer.",
    },
    overhead_divides_by_tp = {
      default = true, source = blis,
      doc = "Divide overhead_per_layer_s by tp.",
      idle = { { overhead_per_layer_s = 0 }, { "one GPU" } },
    },
    overhead_per_step_s = {
      default = 0.0, unit = "s", min = 0, source = "neutral; alibaba/InferSim: 0.005",
      doc = "Host time of every step.",
    },
    overhead_per_prefill_step_s = {
      default = 0.0, unit = "s", min = 0, source = "neutral; alibaba/InferSim: 0.025",
      doc = "Further host time of a step with a prefill.",
    },
    step_resolution_s = {
      default = 0.0, unit = "s", min = 0, source = "0: exact; " .. blis .. ": 1e-6",
      doc = "Step times are rounded to whole multiples of this, at least one; 0 = not rounded.",
    },
    lm_head = { default = false, source = blis, doc = "Add the GEMM of the LM head, one row per request." },
    all_reduce = { default = false, source = blis, doc = "Add two all-reduces per layer where tp > 1.",
      idle = { "one GPU" } },
    head_dim = {
      default = "model", values = { "model", "hidden_over_heads" },
      source = "model: config.json; " .. blis .. ": hidden_over_heads",
      doc = "Head dimension: as the model declares it, or always hidden size / heads.",
    },
    lookup = {
      default = "", source = "empty: the scenario decides; each preset names the lookup of its project",
      doc = "Lookup that reads the tables; empty = the one of the scenario's mfu.",
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

--- Prices depend neither on the seats nor on the budget.
function RooflineV2:signature() return "" end -- luacheck: ignore 212

function RooflineV2:bind(context)
  local model, deployment, hardware = context.model, context.deployment, context.hardware
  local tp = deployment.tp
  self.model, self.hardware, self.tp = model, hardware, tp
  self.database = self.lookup ~= "" and context.mfu:with(self.lookup) or context.mfu
  self.dtype = deployment.weights or "bf16"
  self.kv_dtype = deployment.kv or "bf16"
  self.element_bytes = batches.element_bytes[self.dtype]
  self.v1_mfu = attention.v1_mfu.decode
  self.peak_flop_per_s = hardware.peak_flop_per_s.bf16
  self.bytes_per_s = hardware.memory_bytes_per_s * self.bandwidth_efficiency
  self.dim = self.head_dim == "model" and model.head_dim or math.floor(model.hidden_size / model.heads)
  self.traffic = batches.traffic(model, self.element_bytes, self.dim)
  self.traffic.kv_read_factor = 1 / self.decode_bandwidth_factor
  self.attention_flop_per_pair = 4 * model.heads * self.dim + (self.softmax_flop and 4 * model.heads or 0)
  self.overhead_us = self.overhead_per_layer_s * 1e6 * model.layers / (self.overhead_divides_by_tp and tp or 1)
                     + self.overhead_per_step_s * 1e6
  self.groups_of = self:bound_bucketing()
  self:bind_gemms(model)
  self.terms = {}
  self.contexts = contexts_of.new(function(batch_size, tokens)
    return attention.contribution(self, batch_size, tokens)
  end)
end

--- The bucketing, with bucket_key where it counts a length and nothing says how.
function RooflineV2:bound_bucketing()
  local bucketing = self.bucketing
  if type(bucketing) == "string" then return require("bucketing." .. bucketing) { key = self.bucket_key } end
  local given, by_preset = policy.is_given(self, "bucket_key")
  local counts = policy.describe(bucketing).params.key ~= nil
  if given and not by_preset and (not counts or policy.is_given(bucketing, "key")) then
    error(("bucket_key: has no effect, because the bucketing %s %s"):format(bucketing.name,
      counts and "states its own key" or "has no parameter key"), 0)
  end
  if not counts or policy.is_given(bucketing, "key") then return bucketing end
  return policy.with(bucketing, { key = self.bucket_key })
end

--- Time of the GEMMs of all layers as a function of m alone; its values are remembered.
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

-- Questions to the tables -----------------------------------------------------------------------

function RooflineV2:ask_decode(context_tokens, batch_size)
  local model = self.model
  local mfu, estimate = self.database:decode(model.heads, model.kv_heads, self.dim, batch_size, context_tokens,
                                             self.tp, self.kv_dtype)
  return mfu, estimate  -- Not a tail call. Compiled-code idiom: docs/LUA_API.md, "Hot paths".
end

function RooflineV2:ask_prefill(seq_len)
  local model = self.model
  local mfu, estimate = self.database:prefill(model.heads, model.kv_heads, self.dim, seq_len, self.tp, self.kv_dtype)
  return mfu, estimate
end

function RooflineV2:ask_gemm(m, k, n)
  local mfu, estimate = self.database:gemm(m, k, n, self.dtype)
  return mfu, estimate
end

-- Phases ---------------------------------------------------------------------------------------

--- The slower of arithmetic and traffic; the weights are read once per phase.
function RooflineV2:phase_time(name, compute_s, bytes)
  bytes = (self.traffic.weight_bytes + bytes) / self.tp
  local memory_s = bytes / self.bytes_per_s
  if memory_s <= compute_s then return compute_s, memory_s end
  local above_s = memory_s - compute_s  -- the operations are recorded already; the rest of the traffic is not
  return compute_s + cost.record(name, above_s, "modelled", 1, 0, bytes, nil, "memory"), memory_s
end

function RooflineV2:decode_time(batch)
  local terms = self.terms
  local gemm_s = self.layer_gemms(batch.decode_tokens)
  local attention_s = attention.decode_time(self, batch)
  local bytes = self.traffic:decode_bytes(batch.decode_tokens, batch.decode_context_tokens)
  local time_s, memory_s = self:phase_time("decode_memory", gemm_s + attention_s, bytes)
  terms.decode_gemm_s, terms.decode_attention_s, terms.decode_memory_s = gemm_s, attention_s, memory_s
  return time_s
end

function RooflineV2:prefill_time(batch)
  local prefills, terms = batch.prefills, self.terms
  local groups = cost.groups(self.groups_of, prefills)
  local gemm_s, attention_s, bytes = 0, 0, 0
  for g = 1, #groups do
    local group = groups[g]
    gemm_s = gemm_s + self.layer_gemms(self.prefill_m == "tokens" and group.new_tokens or group.requests)
    attention_s = attention_s + attention.group_time(self, group, prefills)
  end
  for i = 1, #prefills do
    local prefill = prefills[i]
    bytes = bytes + self.traffic:request_bytes(prefill.context_tokens, prefill.new_tokens)
  end
  local time_s, memory_s = self:phase_time("prefill_memory", gemm_s + attention_s, bytes)
  terms.prefill_gemm_s, terms.prefill_attention_s, terms.prefill_memory_s = gemm_s, attention_s, memory_s
  return time_s
end

function RooflineV2:combine(prefill_s, decode_s, prefill_tokens, decode_tokens)
  if self.mixed == "sum" then return prefill_s + decode_s end
  if self.mixed == "weighted" then return (batches.weighted(prefill_s, decode_s, prefill_tokens, decode_tokens)) end
  return (math.max(prefill_s, decode_s))
end

--- LM head and all-reduces, where they are switched on.
function RooflineV2:extras(batch)
  local time_s = 0
  local rows = batch.requests + batch.decode_tokens - batch.decodes
  if self.lm_head and rows > 0 then time_s = time_s + self.head_gemm(rows) end
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
    time_s = self:combine(prefill_s, decode_s, batch.tokens - batch.decode_tokens, batch.decode_tokens)
  elseif prefills > 0 then
    time_s = self:prefill_time(batch)
  elseif decodes > 0 then
    time_s = self:decode_time(batch)
  end
  if self.lm_head or self.all_reduce then time_s = time_s + self:extras(batch) end
  if overhead_us > 0 then
    local host_s = overhead_us / 1e6
    local corrected_s = cost.record("host", host_s, "assumed")
    if corrected_s ~= host_s then overhead_us = corrected_s * 1e6 end  -- uncorrected: every bit stays
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
