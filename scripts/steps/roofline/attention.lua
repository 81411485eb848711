--- Attention as the MFU roofline prices it: (query, key) pairs times flop, at the MFU of a context.
local cost = require "rooflua.cost"
local gemms = require "steps.roofline.gemms"

local attention = {}

--- The MFUs of roofline_v1, which zero_mfu = "v1" takes for an empty cell.
attention.v1_mfu = { prefill = 0.45, decode = 0.30 }
local v1_mfu = attention.v1_mfu

local evidence_names, evidence_rank = {}, {}
for i, name in ipairs(cost.evidence_names()) do evidence_names[i - 1], evidence_rank[name] = name, i - 1 end

local function next_power_of_two(x)
  local power = 1
  while power < x do power = power * 2 end
  return power
end

--- (query, key) pairs of t new tokens after p tokens of context, as `attention_flop` counts them.
local function prefill_pairs(steps, t, p)
  if steps.attention_flop == "causal_exact" then return t * p + t * (t + 1) / 2 end
  local pairs = t * (p + t)
  return steps.attention_flop == "causal_mask" and pairs * steps.prefill_mask or pairs
end

local function decode_pairs(steps, requests, context_tokens)
  if steps.attention_flop == "causal_exact" then return context_tokens + requests end
  return steps.attention_flop == "causal_mask" and context_tokens * steps.decode_mask or context_tokens
end

local function decode_mfu(steps, batch_size, context_tokens)
  local mfu, estimate = steps:ask_decode(context_tokens, batch_size)
  if gemms.usable(mfu) then return mfu, estimate end
  return gemms.instead_of_zero(steps, "ask_decode", v1_mfu.decode, context_tokens, batch_size)
end

local function prefill_mfu(steps, seq_len)
  local mfu, estimate = steps:ask_prefill(seq_len)
  if gemms.usable(mfu) then return mfu, estimate end
  return gemms.instead_of_zero(steps, "ask_prefill", v1_mfu.prefill, seq_len)
end

--- Attention of all layers from its pairs, spread over tp.
local function time_of(steps, name, pairs, mfu, estimate, divisor)
  local layers = steps.model.layers
  local flop = pairs * steps.attention_flop_per_pair / steps.tp
  local time_s = flop / divisor / (steps.peak_flop_per_s * mfu)
  local shape
  if cost.shapes_wanted() then
    local model = steps.model
    shape = ("pairs=%.14g heads=%d/%d tp=%d"):format(pairs, model.heads, model.kv_heads, steps.tp)
  end
  return (cost.record(name, time_s, estimate, layers, flop, 0, mfu, "compute", nil, name, shape))
end

--- What one context adds to the mean over a batch: pairs x MFU, or pairs / MFU for the harmonic mean.
--- @return number weight, integer rank of the evidence
function attention.contribution(steps, batch_size, context)
  local pairs = decode_pairs(steps, 1, context)
  if pairs == 0 then return 0, 0 end
  local at = steps.decode_context == "bucketed" and next_power_of_two(context) or math.max(1, context)
  local mfu, estimate = decode_mfu(steps, batch_size, at)
  return steps.decode_mfu_mean == "harmonic" and pairs / mfu or pairs * mfu, evidence_rank[cost.mixed(estimate)]
end

--- Pairs of decodes that bring drafts, over those of the same decodes without: as many as the flop grow.
local function width_of(batch)
  local n, tokens = batch.decodes, batch.decode_tokens
  if tokens == n then return 1 end
  return batch.decode_pairs / (batch.decode_context_tokens + n)
end

--- Each request is looked up at its own context (or at the next power of two); the MFUs are averaged by flop.
local function decode_time_by_request(steps, batch)
  local n, contexts = batch.decodes, batch.decode_contexts
  local total = decode_pairs(steps, n, batch.decode_context_tokens)
  if total == 0 then return 0 end
  local known = steps.contexts:of_batch(n)
  local sum = steps.contexts:sum(known, contexts, n)
  local mfu = steps.decode_mfu_mean == "harmonic" and total / sum or sum / total
  return (time_of(steps, "attention_decode", total * width_of(batch), mfu,
                  evidence_names[known:worst_rank(contexts, n)], 1))
end

--- Attention of the batch's decodes, all layers, as `decode_context` says.
function attention.decode_time(steps, batch)
  local rule = steps.decode_context
  if rule == "per_request" or rule == "bucketed" then return (decode_time_by_request(steps, batch)) end
  local n, sum = batch.decodes, batch.decode_context_tokens
  local total, at = sum, sum / n
  if rule ~= "mean" then at = batch.decode_context_max end
  if rule == "max" then total = n * at end
  local pairs = decode_pairs(steps, n, total)
  if pairs == 0 then return 0 end
  local mfu, estimate = decode_mfu(steps, n, math.max(1, at))
  return (time_of(steps, "attention_decode", pairs * width_of(batch), mfu, estimate, 1))
end

--- Attention of one group of prefills: the flop of its members, the MFU at the group's length.
function attention.group_time(steps, group, prefills)
  local pairs, members = 0, group.members
  for i = 1, #members do
    local prefill = prefills[members[i]]
    local t, p = prefill.new_tokens, prefill.context_tokens
    if steps.bucket_flop == "bucket" then
      if steps.bucket_key == "new" then t = group.seq_len else p = math.max(0, group.seq_len - t) end
    end
    pairs = pairs + prefill_pairs(steps, t, p)
  end
  local mfu, estimate = prefill_mfu(steps, group.seq_len)
  return (time_of(steps, "attention_prefill", pairs, mfu, estimate, steps.prefill_divisor))
end

return attention
