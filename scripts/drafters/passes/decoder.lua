--- The passes of a drafter that is a small decoder: its kernels are priced as steps.kernels prices those of a model.
---
---     first pass    over all tokens of the step (chunks of prompts, rejected drafts among them), attention like the
---                   step's own, LM head over the rows that draft
---     later passes  one token for each row that drafts, or `topk` of them where drafts are a tree
---
--- Contexts of the rows that draft are those of the decodes; of prompts that complete, the whole prompt. Every pass
--- pays `pass_s` as well. Where steps are not planned ahead, the host launches every pass and prepares every
--- request of the step on the critical path (`host_pass_s`, `host_row_s`).
--- Source: vLLM v1/spec_decode/eagle.py (propose).
local cost = require "rooflua.cost"
local policy = require "rooflua.policy"
local spec = require "rooflua.spec"
local Kernels = require "steps.kernels"
local graphs = require "steps.kernels.graphs"
local host = require "steps.kernels.host"

local decoder = {}
decoder.__index = decoder

-- Operations -----------------------------------------------------------------------------------------------------

--- The drafter's own deployment: as many seats and tokens as the target's.
function decoder.deployment(model, context, tp)
  local own = context.deployment
  return spec.deployment { model = model, hardware = context.hardware, tp = tp > 0 and tp or own.tp,
    max_num_seqs = own.max_num_seqs, max_num_batched_tokens = own.max_num_batched_tokens, kv_blocks = 1,
    block_size = own.block_size, kv = own.kv }
end

--- A copy of an operation, with a longer input where `factor` is above 1: weights and flop grow with it.
local function widened(op, factor)
  local out = {}
  for key, value in pairs(op) do out[key] = value end
  out.k, out.flop_per_row, out.weight_bytes = op.k * factor, op.flop_per_row * factor, op.weight_bytes * factor
  return out
end

--- A copy of a projection of which queries alone are left.
local function of_queries(op, model, tp)
  local out, columns = {}, model.heads * model.head_dim / tp
  for key, value in pairs(op) do out[key] = value end
  local share = columns / op.n
  out.n, out.flop_per_row, out.weight_bytes = columns, op.flop_per_row * share, op.weight_bytes * share
  return out
end

--- The operations of a small model whose first layer reads two hidden states side by side.
--- @param shares_cache boolean? its keys and values are the target's
function decoder.two_inputs(model, deployment, shares_cache)
  local out = {}
  for _, op in ipairs(cost.layers(model, deployment)) do
    if op.op == "gemm" and op.name:find "^qkv" then
      if shares_cache then op = of_queries(op, model, deployment.tp) end
      -- the layers of a kind are one operation: one of them has the wider input
      op = widened(op, (op.count + 1) / op.count)
    end
    if not (shares_cache and op.name == "kv_write") then out[#out + 1] = op end
  end
  return out
end

--- The GEMM that makes one hidden state of several, whole on every rank.
local function fusing(states, model)
  local k, n = states * model.hidden_size, model.hidden_size
  return { name = "fuse", op = "gemm", groups = 1, count = 1, k = k, n = n, dtype = model.dtype,
    flop_per_row = 2 * k * n, weight_bytes = 2 * k * n, bytes_per_row = 2 * (k + n), rows = "tokens",
    rows_per_token = 1 }
end

--- @param context table {model, deployment, hardware, mfu, async_depth, draft_depth} as :bind gets it
--- The step model's own parameters where it is of the same kind, without the host's time, which a step pays once.
local function kernels_of(steps)
  local own = steps and steps.name == "kernels" and steps or Kernels {}
  return policy.fresh(policy.with(own, { host_step_s = 0, host_request_s = 0, sampler_s = 0 }))
end

--- @param given table {model, deployment, operations, beside = {pass_s, host_pass_s, host_row_s, steps?, topk?},
---   fuses = hidden states that one GEMM joins in front of the first pass, or of every pass (fuses_in_every_pass)}
function decoder.of(context, given)
  local kernels = kernels_of(context.steps)
  kernels:bind { model = given.model, deployment = given.deployment, hardware = context.hardware, mfu = context.mfu,
    async_depth = 2, draft_depth = context.draft_depth }
  kernels:bind_operations(given.operations, given.deployment)
  local waits, beside, engine = context.async_depth == 1, given.beside, context.engine
  local is_captured = not engine or host.verifies_in_graphs(engine.values, context.deployment.kv)
  local self = setmetatable({ kernels = kernels, operations = given.operations, pass_s = beside.pass_s,
    host_pass_s = waits and beside.host_pass_s or 0, host_row_s = waits and beside.host_row_s or 0,
    steps = beside.steps or 0, topk = beside.topk or 1, fuse_time = false,
    shares_cache = beside.shares_cache,
    least_s = is_captured and 0 or host.layers_s(kernels, given.operations, kernels.engine_values),
    later_fuse_time = false, pass = { prefills = {} } }, decoder)
  if given.fuses then
    self.fuse = fusing(given.fuses, given.model)
    self.fuse_time = kernels:sum_of { self.fuse }
    self.later_fuse_time = given.fuses_in_every_pass and self.fuse_time
  end
  return self
end

-- Passes ---------------------------------------------------------------------------------------------------------

--- Operations that see tokens. Data-parallel ranks share experts, and each of them drafts.
local function tokens_time(kernels, batch, tokens)
  if kernels.dp == 1 then return kernels.layers_time(graphs.padded(tokens, kernels.graph_tokens)) end
  local own, all = kernels.padding(batch, kernels.dp, kernels.graph_tokens, kernels.ep > 1)
  local share = tokens / batch.tokens
  return kernels.layers_time(math.ceil(own * share)) + kernels.experts_time(math.ceil(all * share))
end

--- The pass over all tokens of the step and `more` tokens that are in no cache.
--- @param heads number rows of the LM head
function decoder:first_pass(batch, more, heads)
  local kernels, chunks, decodes = self.kernels, #batch.prefills, batch.decodes
  local time_s = tokens_time(kernels, batch, batch.tokens + more)
  if self.fuse_time then time_s = time_s + self.fuse_time(graphs.padded(batch.tokens, kernels.graph_tokens)) end
  if heads > 0 then time_s = time_s + kernels.head_time(heads) end
  local decode_s = 0
  if decodes > 0 then
    decode_s = kernels.attention:decode(decodes, batch.decode_context_tokens, batch)
    if kernels.decode_rows_time then time_s = time_s + kernels.decode_rows_time(batch.decode_tokens) end
  end
  if kernels.has_more then time_s = time_s + kernels:more_time(batch, chunks, decodes) end
  if chunks == 0 then return time_s + decode_s end
  return time_s + kernels:attention_time(kernels.attention, batch, chunks, decode_s)
    + kernels:expanded_time(batch, chunks)
end

--- Attention of further kinds, and recurrent layers, for one token of each of `rows` requests.
function decoder:more_rows_time(batch, rows, context)
  local kernels, pass, time_s = self.kernels, self.pass, 0
  for _, each in ipairs(kernels.more_attention) do time_s = time_s + each:decode_rows(rows, context, batch) end
  pass.decodes, pass.decode_tokens = rows, rows
  for _, each in ipairs(kernels.recurrent) do time_s = time_s + each:batch_time(pass) end
  return time_s
end

--- A pass with one token for each of `rows` requests, or branches of theirs.
function decoder:later_pass(batch, rows, context)
  local kernels = self.kernels
  local time_s = tokens_time(kernels, batch, rows) + kernels.head_time(rows)
    + kernels.attention:decode_rows(rows, context, batch)
  if kernels.has_more then time_s = time_s + self:more_rows_time(batch, rows, context) end
  if self.later_fuse_time then time_s = time_s + self.later_fuse_time(graphs.padded(rows, kernels.graph_tokens)) end
  if kernels.decode_rows_time then time_s = time_s + kernels.decode_rows_time(rows) end
  return time_s
end

--- Contexts of the rows that draft, as a sum.
local function context_of(batch)
  local tokens, prefills = batch.decode_context_tokens, batch.prefills
  for i = 1, #prefills do
    local chunk = prefills[i]
    if chunk.completes then tokens = tokens + chunk.context_tokens + chunk.new_tokens end
  end
  return tokens
end

--- Time of the passes that have no kernels, and of the host.
local function beside(self, batch, passes)
  local time_s = cost.record("pass", self.pass_s, "assumed", passes)
  local host_s = self.host_pass_s * passes + self.host_row_s * batch.requests
  if host_s > 0 then time_s = time_s + cost.record("host", host_s, "assumed") end
  return time_s
end

--- The time of a pass, or of its host where no graph of it is captured.
local function launched(self, time_s)
  if time_s >= self.least_s then return time_s end
  return time_s + cost.record("eager", self.least_s - time_s, "assumed")
end

--- Time of a step's passes, one for each draft or level of a tree; without drafts the first pass still keeps the
--- drafter's cache.
--- @param batch rooflua.Batch
function decoder:time(batch)
  local rows, passes = batch.draft_rows, batch.draft_passes
  if self.steps > 0 then passes = math.min(passes, self.steps) end
  local time_s = launched(self, self:first_pass(batch, 0, rows)) + beside(self, batch, math.max(passes, 1))
  if passes < 2 or rows == 0 then return time_s end
  local context = context_of(batch)
  for _ = 2, passes do
    context = context + rows
    time_s = time_s + launched(self, self:later_pass(batch, rows * self.topk, context * self.topk))
  end
  return time_s
end

--- Time of one pass that makes all drafts: every draft is a token of it, after those of the step.
--- @param batch rooflua.Batch
function decoder:parallel_time(batch)
  local rows, drafts = batch.draft_rows, batch.draft_tokens
  local time_s = launched(self, self:first_pass(batch, drafts, drafts)) + beside(self, batch, 1)
  if rows == 0 then return time_s end
  return time_s + self.kernels.attention:further_queries(rows, context_of(batch), batch, drafts)
end

-- Memory ---------------------------------------------------------------------------------------------------------

--- Weights of one rank.
--- @param without string? an operation that the drafter shares with the target
function decoder:weight_bytes(without)
  local bytes = self.fuse and self.fuse.weight_bytes or 0
  for _, op in ipairs(self.operations) do
    if op.name ~= without then bytes = bytes + op.count * op.weight_bytes end
  end
  return bytes
end

--- KV of one token on one rank.
function decoder:kv_bytes_per_token()
  if self.shares_cache then return 0 end
  local attention = self.kernels.attention
  local bytes = attention.layers * attention.kv_bytes_per_token
  for _, each in ipairs(self.kernels.more_attention) do bytes = bytes + each.layers * each.kv_bytes_per_token end
  return bytes
end

return decoder
