--- The calibrated roofline: no kernel tables, fourteen fitted factors.
---
---     phase = max( gemm / (peak mfu multiplier) + vector / (peak vector_peak_fraction),
---                  (weights + dynamic bytes) / (bandwidth bw_eff phase_bw_factor) )
---
--- Per request with progress s and t new tokens (H hidden, h heads, D head dim, g KV heads, I MLP,
--- L layers, b bytes per element, c = s, or s + (t-1)/2 when t > 1):
---
---     gemm   = L (2t (H H + 2 H g D) + 2t H H + 6t H I)
---     vector = L (2 h t c D + 4 h t c + 2 h t c D)            QK, softmax, AV
---     bytes  = KV written + KV read x (0.80 if t = 1 else 0.92) + activations x (0.75 if t = 1 else 0.85)
---
--- The model leaves out: communication beyond a constant, the LM head, experts, the effect of the batch size on
--- efficiency.
--- Source: inference-sim before 487017bc; docs/MODELS.md.
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"
local batches = require "steps.roofline.batches"

---@class steps.RooflineV1
---@field mfu_prefill number
---@field mfu_decode number
---@field mfu_prefill_multiplier number
---@field mfu_decode_multiplier number
---@field bw_eff_constant number
---@field prefill_bw_factor number
---@field decode_bw_factor number
---@field vector_peak_fraction number
---@field tp_scaling_exponent number
---@field decode_tp_scaling_exponent number
---@field step_overhead_s number
---@field prefill_overhead_s number
---@field mixed_prefill_overhead_s number
---@field all_reduce_latency_s number
local source = "inference-sim before 487017bc, its calibration on H100"
local neutral = "neutral value: it changes nothing"
local RooflineV1 = policy.define {
  name = "roofline_v1",
  doc = "Roofline with one MFU per phase and fourteen fitted factors.",
  source = "inference-sim before 487017bc",
  params = {
    mfu_prefill = {
      default = 0.45, unit = "1", min = 0.0001, max = 1, source = source,
      doc = "Part of the peak that prefill GEMMs reach.",
    },
    mfu_decode = {
      default = 0.30, unit = "1", min = 0.0001, max = 1, source = source,
      doc = "Part of the peak that decode GEMMs reach.",
    },
    mfu_prefill_multiplier = {
      default = 1.0, unit = "1", min = 0.0001, source = neutral,
      doc = "Calibration factor on mfu_prefill.",
    },
    mfu_decode_multiplier = {
      default = 1.0, unit = "1", min = 0.0001, source = neutral,
      doc = "Calibration factor on mfu_decode.",
    },
    bw_eff_constant = {
      default = 1.0, unit = "1", min = 0.0001, max = 1, source = neutral,
      doc = "Part of the peak bandwidth that both phases reach.",
    },
    prefill_bw_factor = {
      default = 1.0, unit = "1", min = 0.0001, source = neutral,
      doc = "Further factor on the bandwidth of prefill.",
    },
    decode_bw_factor = {
      default = 1.0, unit = "1", min = 0.0001, source = neutral,
      doc = "Further factor on the bandwidth of decode.",
    },
    vector_peak_fraction = {
      default = 0.1, unit = "1", min = 0.0001, max = 1, source = source,
      doc = "Peak for attention, as part of the tensor-core peak.",
    },
    tp_scaling_exponent = {
      default = 0.68, unit = "1", min = 0, max = 1, source = source,
      doc = "Prefill arithmetic speeds up by tp to the power of this.",
      idle = { "one GPU" },
    },
    decode_tp_scaling_exponent = {
      default = 1.0, unit = "1", min = 0, max = 1, source = source,
      doc = "Decode, arithmetic and traffic, speeds up by tp to the power of this.",
      idle = { "one GPU" },
    },
    step_overhead_s = { default = 0.0, unit = "s", min = 0, doc = "Time added to every step.", source = neutral },
    prefill_overhead_s = {
      default = 0.0, unit = "s", min = 0, source = neutral,
      doc = "Time added to a step with a prefill.",
    },
    mixed_prefill_overhead_s = {
      default = 0.0, unit = "s", min = 0, source = neutral,
      doc = "Further time added to a step with prefills and decodes.",
    },
    all_reduce_latency_s = {
      default = 0.0, unit = "s", min = 0, source = neutral,
      doc = "Time of one all-reduce; two per layer where tp > 1.",
      idle = { "one GPU" },
    },
  },
}

--- Prices depend neither on the seats nor on the budget.
function RooflineV1:signature() return "" end -- luacheck: ignore 212

function RooflineV1:bind(context)
  local model, deployment, hardware = context.model, context.deployment, context.hardware
  local dtype = deployment.weights or "bf16"
  local element_bytes = batches.element_bytes[dtype]
  self.tp = deployment.tp
  self.layers = model.layers
  self.peak_flop_per_s = hardware.peak_flop_per_s.bf16
  self.bytes_per_s = hardware.memory_bytes_per_s * self.bw_eff_constant
  local H, q, kv = model.hidden_size, model.heads * model.head_dim, model.kv_heads * model.head_dim
  local I = batches.dense_width(model)
  self.gemm_flop_per_token = self.layers * (2 * H * (q + 2 * kv) + 2 * q * H + 6 * H * I)
  -- Per (query, key) pair: QK and AV 2 h D each, softmax 4 h
  self.vector_flop_per_pair = self.layers * model.heads * (4 * model.head_dim + 4)
  self.traffic = batches.traffic(model, element_bytes)
end

--- Time of one phase from its totals over the requests.
--- @param pairs number (query, key) pairs: sum over requests of t c
function RooflineV1:phase(name, tokens, pairs, bytes, mfu, speed_up, memory_ranks, bw_factor)
  local gemm_s = tokens * self.gemm_flop_per_token / (self.peak_flop_per_s * mfu) / speed_up
  local vector_peak = self.peak_flop_per_s * self.vector_peak_fraction
  local vector_s = pairs * self.vector_flop_per_pair / vector_peak / speed_up
  local memory_s = (self.traffic.weight_bytes + bytes) / (self.bytes_per_s * bw_factor) / memory_ranks
  local compute_s = gemm_s + vector_s
  local shape = cost.shapes_wanted() and ("tokens=%.14g pairs=%.14g"):format(tokens, pairs) or nil
  -- Both are of one rank: what the bound hides is work all the same.
  local flop = (tokens * self.gemm_flop_per_token + pairs * self.vector_flop_per_pair) / self.tp
  local moved = (self.traffic.weight_bytes + bytes) / self.tp
  if memory_s > compute_s then
    return (cost.record(name, memory_s, "assumed", 1, flop, moved, nil, "memory", nil, name, shape))
  end
  return (cost.record(name, compute_s, "assumed", 1, flop, moved, mfu, "compute", nil, name, shape))
end

function RooflineV1:prefill_time(batch)
  local prefills, traffic = batch.prefills, self.traffic
  local tokens, pairs, bytes = 0, 0, 0
  for i = 1, #prefills do
    local prefill = prefills[i]
    local t, s = prefill.new_tokens, prefill.context_tokens
    local c = t > 1 and s + (t - 1) / 2 or s
    tokens, pairs = tokens + t, pairs + t * c
    bytes = bytes + traffic:request_bytes(s, t)
  end
  return self:phase("prefill", tokens, pairs, bytes, self.mfu_prefill * self.mfu_prefill_multiplier,
                    self.tp ^ self.tp_scaling_exponent, self.tp, self.prefill_bw_factor)
end

function RooflineV1:decode_time(batch)
  local n, context = batch.decode_tokens, batch.decode_context_tokens
  local pairs = n > batch.decodes and batch.decode_pairs - n or context  -- a new token is not its own key here
  local speed_up = self.tp ^ self.decode_tp_scaling_exponent
  return self:phase("decode", n, pairs, self.traffic:decode_bytes(n, context),
                    self.mfu_decode * self.mfu_decode_multiplier, speed_up, speed_up, self.decode_bw_factor)
end

---@param batch rooflua.Batch
---@return number time_s
function RooflineV1:time(batch)
  local prefills, decodes = #batch.prefills, batch.decodes
  local overhead_s = self.step_overhead_s
  if self.tp > 1 then overhead_s = overhead_s + 2 * self.layers * self.all_reduce_latency_s end
  local time_s = 0
  if prefills > 0 and decodes > 0 then
    local prefill_s, decode_s = self:prefill_time(batch), self:decode_time(batch)
    local tokens = batch.decode_tokens
    time_s = batches.weighted(prefill_s, decode_s, batch.tokens - tokens, tokens)
    overhead_s = overhead_s + self.prefill_overhead_s + self.mixed_prefill_overhead_s
  elseif prefills > 0 then
    time_s = self:prefill_time(batch)
    overhead_s = overhead_s + self.prefill_overhead_s
  elseif decodes > 0 then
    time_s = self:decode_time(batch)
  end
  if overhead_s > 0 then overhead_s = cost.record("overhead", overhead_s, "assumed") end
  return time_s + overhead_s
end

return RooflineV1
