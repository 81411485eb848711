--- Recurrent layers: each request reads and writes a state, whatever its context. A request that verifies drafts reads
--- its state once and writes one for each of its tokens. The gated delta rule is measured
--- (gdn_prefill, gdn_decode, kda_prefill, kda_decode) or modelled. State-space layers (Mamba2) have no table: their
--- flop run at state_space_mfu, and the state moves at the bandwidth of small kernels.
local cost = require "rooflua.cost"
local declared = require "steps.kernels.declared"

local recurrent = {}
recurrent.__index = recurrent

local chunk = 256  -- tokens of a prompt that the scan of Mamba2 computes at once

--- The query of a delta rule.
--- @param rule string|false "gdn" or "kda" where the tables tell prompts and decodes apart
local function delta_query(delta, tp, decode, rule)
  local op = rule and rule .. (decode and "_decode" or "_prefill") or "linear_attention"
  local query = {
    op = op, conv = delta.conv_kernel,
    key_heads = delta.key_heads / tp, key_head_dim = delta.key_head_dim,
    value_heads = delta.value_heads / tp, value_head_dim = delta.value_head_dim, batch = 1,
  }
  if op == "kda_prefill" then query.conv = nil end
  if not (rule and decode) then query.new_tokens = 1 end
  if not rule then query.decode = decode end
  return query
end

--- @param steps steps.Kernels
--- @param op table the operation of cost.layers
--- @param kind table one of model.attention
function recurrent.of(steps, op, kind)
  if op.bound then return declared.of(steps, op) end
  local suffix = op.name:match "@.*$" or ""
  local self = setmetatable({
    steps = steps, op = op, layers = op.count,
    prefill_name = "linear_attention_prefill" .. suffix, decode_name = "linear_attention_decode" .. suffix,
  }, recurrent)
  if kind.mamba then
    self.mamba, self.batch_time = kind.mamba, recurrent.mamba_time
    return self
  end
  local rule = kind.delta.rule
  self.delta = kind.delta
  local database = steps.database
  if not (database:measures(rule .. "_decode") and database:measures(rule .. "_prefill")) then rule = false end
  self.decode_query = delta_query(kind.delta, steps.tp, true, rule)
  self.prefill_query = delta_query(kind.delta, steps.tp, false, rule)
  return self
end

--- Refuses a model in which no token attends to another one, as far as kinds of files go.
function recurrent.check(steps)
  if steps.attention then return end
  error(("steps.kernels: no layer of %s attends to other tokens; one of its kinds must"):format(steps.model.name), 0)
end

--- A call of a delta rule's kernels for `tokens` of `requests`, each of which reads and writes a matrix per head.
function recurrent:delta_call(query, requests, tokens, name)
  local op, delta = self.op, self.delta
  local _, estimate = self.steps.database:lookup(query)
  local time_s, flop = estimate.latency_s, tokens * op.flop_per_row
  local state = 4 * op.heads * delta.key_head_dim * delta.value_head_dim
  local bytes = 2 * requests * state + tokens * op.bytes_per_row + op.weight_bytes
  local shape, note
  if cost.shapes_wanted() then shape, note = cost.query_text(query), estimate.note end
  local paid_s = cost.record(name, time_s, estimate, self.layers, flop, bytes,
                             flop / (time_s * self.steps.peak_flop_per_s), "memory", note, query.op, shape)
  return paid_s
end

--- Time of all layers of the kind in a step.
function recurrent:batch_time(batch)
  local time_s, query = 0, self.prefill_query
  local prefills, bounds = batch.prefills, self.steps.bounds
  for i = 1, #prefills do
    local tokens = prefills[i].new_tokens
    query.new_tokens = bounds:rows_to_run(query, tokens, query)
    time_s = time_s + self:delta_call(query, 1, tokens, self.prefill_name)
  end
  if batch.decodes > 0 then
    local tokens = batch.decode_tokens
    local states = (batch.decodes + tokens) / 2  -- a pair is one read and one write
    query = self.decode_query
    query.batch = bounds:rows_to_run(query, states, query)
    time_s = time_s + self:delta_call(query, states, tokens, self.decode_name)
  end
  return time_s
end

--- A call of a state-space kernel: `tokens` of `requests`, and flop besides those of the recurrence.
function recurrent:state_space(requests, tokens, more_flop, kernels, name)
  local steps, op, mamba = self.steps, self.op, self.mamba
  local flop = tokens * op.flop_per_row + more_flop
  local state = 4 * op.heads * mamba.head_dim * mamba.state_size
  local bytes = 2 * requests * state + tokens * op.bytes_per_row + op.weight_bytes
  local bandwidth = steps.hardware.memory_bytes_per_s * steps.small_kernel_bandwidth
  local time_s, bound = cost.roofline(flop, bytes, steps.peak_flop_per_s, steps.state_space_mfu, bandwidth)
  local shape = cost.shapes_wanted() and ("requests=%.14g tokens=%.14g heads=%.14g"):format(requests, tokens, op.heads)
    or nil
  time_s = time_s + kernels * steps.small_kernel_s
  return cost.record(name, time_s, "assumed", self.layers, flop, bytes, flop / (time_s * steps.peak_flop_per_s), bound,
                     "state_space_mfu", "linear_attention", shape)
end

--- Time of Mamba2 layers in a step. The scan of a prompt also computes the pairs of tokens within a chunk.
function recurrent:mamba_time(batch)
  local mamba, op, time_s, prefills = self.mamba, self.op, 0, batch.prefills
  local pair_flop = 2 * (op.kv_heads * mamba.state_size + op.heads * mamba.head_dim)
  for i = 1, #prefills do
    local tokens = prefills[i].new_tokens
    local more = tokens * math.min(tokens, chunk) * pair_flop
    time_s = time_s + self:state_space(1, tokens, more, 5, self.prefill_name)
  end
  if batch.decodes > 0 then
    local tokens = batch.decode_tokens
    time_s = time_s + self:state_space((batch.decodes + tokens) / 2, tokens, 0, 2, self.decode_name)
  end
  return time_s
end

return recurrent
