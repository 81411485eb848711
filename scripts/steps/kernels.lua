--- The price of a step as a serving engine runs it: measured kernels, exact work, one rank.
---
---     gpu    = layers(padded M) + attention(prefills) + attention(decodes) + head(requests)
---     period = max(gpu, host)  when scheduling is asynchronous,  gpu + host  otherwise
---     host   = host_step_s + host_request_s * requests
---
--- M is all tokens of the step, padded to the CUDA graph that runs it; attention is never padded.
--- GEMMs are looked up as they run: q, k, v fused, gate and up fused, sharded over the ranks, in their
--- own number format. The LM head sees one row per request. A prefill chunk of t tokens behind p costs
--- t p + t (t+1) / 2 pairs; decodes cost the KV bytes of the sum of their contexts; both on monotone grids
--- (kernels/monotone.lua, monotone_prefill.lua). In a mixed batch the two attentions add, but for the launch they
--- share.
--- Experts cost at least the weights they touch. Two all-reduces per layer.
--- Operations come from cost.layers(model, deployment); times from the database, or, where it has no
--- table, from datasheet figures (evidence modelled).
---
--- Laws: no operation beats flop / peak or bytes / bandwidth; one more request, a longer context or more new
--- tokens never make a step cheaper, within seats and budget (to rounding: kernels_law_test.lua).
--- Not in it: pipeline parallelism, speculative decoding, prefix-shared attention.
--- Source: vLLM 0.11 to 0.28; docs/MODELS.md.
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"
local graphs = require "steps.kernels.graphs"
local monotone = require "steps.kernels.monotone"
local monotone_prefill = require "steps.kernels.monotone_prefill"
local ops = require "steps.kernels.ops"
local physics = require "steps.kernels.physics"
local small = require "steps.kernels.small"

---@class steps.Kernels
---@field host_step_s number
---@field host_request_s number
---@field sampler_s number
---@field sorted_logit_s number
---@field small_kernel_s number
---@field small_kernel_bandwidth number
---@field small_kernel_tables boolean
---@field attention_launch_s number
---@field eager_kernel_s number
---@field largest_graph integer
---@field overlap number
---@field batched_gemm_mfu number
---@field expert_parallel boolean
local Kernels = policy.define {
  name = "kernels",
  doc = "Measured kernels, exact work, as the serving engine runs it on one rank.",
  source = "docs/MODELS.md, vLLM",
  params = {
    host_step_s = {
      default = 700e-6, unit = "s", min = 0, source = "vLLM 0.11 at batch 1, not asynchronous, on H100",
      doc = "Host time per step: scheduling, preparing inputs, handing out tokens.",
    },
    host_request_s = {
      default = 2e-6, unit = "s", min = 0, source = "vLLM V1: 1 to 4 us",
      doc = "Host time per request and step.",
    },
    sampler_s = {
      default = 150e-6, unit = "s", min = 0, source = "some ten small kernels outside the graph",
      doc = "Sampling on the GPU, per step.",
    },
    sorted_logit_s = {
      default = 0.0, unit = "s", min = 0, source = "0.14 ns: vLLM pull request 40376, 128 rows of 131,072",
      doc = "Per request and word of the vocabulary, where top-p or top-k sampling sorts the logits; 0 = it does not.",
    },
    small_kernel_s = {
      default = 3e-6, unit = "s", min = 0, source = "launch, ramp and tail of norm and rope kernels on H100",
      doc = "A small kernel beside its traffic, as a node of a CUDA graph; a launch table stands before it.",
    },
    small_kernel_bandwidth = {
      default = 0.7, unit = "1", min = 0.01, max = 1, source = "device copies reach 0.8 to 0.9",
      doc = "Part of the bandwidth that norm, rope, activation and KV write reach without a table.",
    },
    small_kernel_tables = {
      default = true, source = "a measurement stands before a guess",
      doc = "Measured elementwise, memory and launch tables price small kernels, where there are any.",
    },
    attention_launch_s = {
      default = 8e-6, unit = "s", min = 0, source = "shortest attention kernels of vLLM 0.24 on H100: 11 us",
      doc = "Attention without work. All requests of a step share one call, so only the first pays it.",
    },
    eager_kernel_s = {
      default = 5e-6, unit = "s", min = 0, source = "PyTorch",
      doc = "Launch of one kernel outside a CUDA graph, where no launch table has it: no step takes less for each.",
    },
    largest_graph = {
      default = 512, unit = "tokens", min = 0, integer = true, source = "vLLM max_cudagraph_capture_size",
      doc = "Largest CUDA graph; 0 = none is captured.",
    },
    overlap = {
      default = 0.0, unit = "1", min = 0, max = 1, source = "the safe choice",
      doc = "Part of the smaller attention that the larger hides in a mixed batch: 0 they add.",
    },
    batched_gemm_mfu = {
      default = 0.5, unit = "1", min = 0.0001, max = 1, source = "a guess: half of the peak",
      doc = "MFU of batched GEMMs without a table (absorbed projections of latent attention).",
    },
    expert_parallel = {
      default = false, source = "vLLM: --enable-expert-parallel is off",
      doc = "Whole experts on ranks, tokens sent to them; else every expert split over the ranks.",
    },
  },
}

local max, min = math.max, math.min
local attention_block = 128  -- keys a decode attention kernel loads at once: less costs the same

function Kernels:bind(context)
  local model, deployment, hardware = context.model, context.deployment, context.hardware
  if self.expert_parallel and model.moe and deployment.tp > model.moe.experts then
    error(("steps.expert_parallel: %d ranks for %d experts; a rank holds at least one whole expert"):format(
      deployment.tp, model.moe.experts), 0)
  end
  self.model, self.hardware, self.database, self.tp = model, hardware, context.mfu, deployment.tp
  self.asynchronous = (context.async_depth or 2) > 1
  self.peak_flop_per_s = hardware.peak_flop_per_s.bf16
  self.physics = physics.of(hardware, context.mfu, deployment.max_num_batched_tokens)
  self.small = small.of(self)
  self.graph_tokens = graphs.largest(self.largest_graph, deployment.max_num_seqs, deployment.max_num_batched_tokens)
  self.dtype, self.kv_dtype = model.dtype, deployment.kv
  self.sorted_row_s = self.sorted_logit_s * model.vocab_size
  self:bind_operations(cost.layers(model, deployment), deployment)
end

--- Sorts the operations by what they see of a batch.
function Kernels:bind_operations(layers, deployment)
  local seen = { tokens = {}, requests = {}, prefill_tokens = {}, decode_tokens = {} }
  self.attention, self.linear, self.kernel_count = nil, nil, 0
  for _, op in ipairs(layers) do
    self.kernel_count = self.kernel_count + op.count
    if op.op == "attention_decode" or op.op == "mla_decode" then
      self.attention = op
    elseif op.op == "linear_attention" then
      self.linear = op
    elseif op.op ~= "attention_prefill" and op.op ~= "mla_prefill" then
      local list = seen[op.rows]
      list[#list + 1] = op
    end
  end
  self.layers_time = self:sum_of(seen.tokens)
  self.head_time = self:sum_of(seen.requests)
  self.decode_rows_time = #seen.decode_tokens > 0 and self:sum_of(seen.decode_tokens)
  self.prefill_rows_time = #seen.prefill_tokens > 0 and self:sum_of(seen.prefill_tokens)
  self:bind_attention(deployment)
end

--- The sum of some operations as a function of their rows, remembered.
function Kernels:sum_of(list)
  return cost.memoize(function(rows)
    local time_s = 0
    for i = 1, #list do time_s = time_s + ops.price(self, list[i], rows) end
    return time_s
  end)
end

function Kernels:bind_attention(deployment)
  local model, op = self.model, self.attention
  self.latent = model.mla ~= nil
  self.decode_query = ops.attention_query(model, deployment, true)
  self.prefill_query = ops.attention_query(model, deployment, false)
  if self.linear then
    self.linear_decode = ops.linear_query(model, deployment, true)
    self.linear_prefill = ops.linear_query(model, deployment, false)
  end
  self.attention_layers = op.count
  self.kv_bytes_per_token = op.bytes_per_row
  self.decode_pair_flop, self.prefill_pair_flop = ops.pair_flop(model, op)
  self.decode_calls = monotone.of(function(n, tokens) return self:decode_latency(n, tokens) end, attention_block)
  self.prefill_grid = monotone_prefill.of(function(t, p) return self:prefill_latency(t, p) end)
  self.prefill_calls = nil
end

--- Where rows stand behind prefill attention, a monotone grid over them; what is modelled is monotone as it is.
--- Found with the first prompt: who asks about decodes needs no such rows.
function Kernels:choose_prefill()
  local _, evidence = self:prefill_latency(1024, 0)
  self.prefill_calls = evidence ~= "modelled" and self.prefill_grid
end

--- Latency of one call, straight from the database.
function Kernels:prefill_latency(t, p)
  local query = self.prefill_query
  query.new_tokens, query.context_tokens = t, p
  local _, estimate = self.database:lookup(query)
  return estimate.latency_s, estimate.evidence
end

-- Attention ------------------------------------------------------------------------------------

--- Latency of one call, straight from the database.
function Kernels:decode_latency(n, tokens)
  local query = self.decode_query
  query.batch, query.context_tokens = n, tokens / n
  local _, estimate = self.database:lookup(query)
  return estimate.latency_s, estimate.evidence
end

--- One new token for each of n requests with `context` tokens cached between them: the new tokens are
--- in the cache when attention runs.
function Kernels:decode_attention(n, context)
  local layers, tokens = self.attention_layers, context + n
  local computed = max(tokens, n * attention_block)
  local latency_s, evidence = self.decode_calls:at(n, computed)
  local flop, bytes = computed * self.decode_pair_flop, computed * self.kv_bytes_per_token
  local shape, note
  if cost.listening() then
    shape, note = ops.decode_text(self.decode_query, n, computed), monotone.note(n, computed)
  end
  local time_s = cost.record("attention_decode", latency_s, evidence, layers, flop, bytes,
                             flop / (latency_s * self.peak_flop_per_s), "memory", note, self.decode_query.op, shape)
  return self.physics:at_least(time_s, tokens * self.decode_pair_flop, tokens * self.kv_bytes_per_token,
                               self.dtype, layers, "attention_decode")
end

--- t new tokens of one request behind p.
--- @param paid_s number of the call's launch, paid by what else is in it
--- @return number time_s, number paid_s of all layers; of the call's launch, with this chunk in it
function Kernels:prefill_attention(t, p, paid_s)
  if self.prefill_calls == nil then self:choose_prefill() end
  local layers, query = self.attention_layers, self.prefill_query
  query.new_tokens, query.context_tokens = t, p
  local pairs = t * p + t * (t + 1) / 2
  local time_s
  if self.prefill_calls then
    time_s = self:measured_prefill(query, pairs, paid_s)
  elseif not self.latent then
    time_s = cost.attention_prefill(self.database, query, t, p, layers, "attention_prefill",
                                    paid_s > 0 and paid_s or nil)
  elseif paid_s == 0 then
    time_s = cost.lookup(self.database, query, layers, "attention_prefill")
  else
    time_s = self:same_call(query, paid_s)
  end
  local launch_s = paid_s
  if time_s > 0 then launch_s = min(self.attention_launch_s, paid_s + time_s / layers) end
  local more_launch_s = min(time_s, layers * (launch_s - paid_s))
  return more_launch_s + self.physics:at_least(time_s - more_launch_s, pairs * self.prefill_pair_flop,
                                               (t + p) * self.kv_bytes_per_token, self.dtype, layers,
                                               "attention_prefill"), launch_s
end

--- A chunk whose kernel was measured, less the launch that its call pays already.
function Kernels:measured_prefill(query, pairs, paid_s)
  local t, p = query.new_tokens, query.context_tokens
  local latency_s, evidence = self.prefill_calls:at(t, p)
  local flop, bytes = pairs * self.prefill_pair_flop, (t + p) * self.kv_bytes_per_token
  local shape, note
  if cost.listening() then
    shape, note = cost.query_text(query), monotone_prefill.note(t, p)
    if paid_s > 0 then note = "in the same call; " .. note end
  end
  return cost.record("attention_prefill", max(0, latency_s - paid_s), evidence, self.attention_layers, flop, bytes,
                     flop / (latency_s * self.peak_flop_per_s), "compute", note, query.op, shape)
end

--- What a chunk adds to an attention call that runs anyway.
function Kernels:same_call(query, paid_s)
  local _, estimate = self.database:lookup(query)
  local shape, note
  if cost.listening() then
    shape, note = cost.query_text(query), "in the same call; " .. estimate.note
  end
  local time_s = max(0, estimate.latency_s - paid_s)
  return cost.record("attention_prefill", time_s, estimate, self.attention_layers, estimate.flop,
                     estimate.bytes, estimate.mfu, "compute", note, query.op, shape)
end

--- Recurrent layers of a hybrid: states are read and written per request.
function Kernels:linear_attention(batch)
  local time_s, layers, query = 0, self.linear.count, self.linear_prefill
  local prefills = batch.prefills
  for i = 1, #prefills do
    query.new_tokens = self.physics:rows_to_run(query, prefills[i].new_tokens, query)
    time_s = time_s + cost.lookup(self.database, query, layers, "linear_attention_prefill")
  end
  if batch.decodes > 0 then
    query = self.linear_decode
    query.batch = self.physics:rows_to_run(query, batch.decodes, query)
    time_s = time_s + cost.lookup(self.database, query, layers, "linear_attention_decode")
  end
  return time_s
end

--- Rows of latent KV that prefill chunks expand again.
function Kernels:expanded_time(batch, chunks)
  if not self.prefill_rows_time then return 0 end
  local prefills, rows = batch.prefills, 0
  for i = 1, chunks do rows = rows + prefills[i].new_tokens + prefills[i].context_tokens end
  return self.prefill_rows_time(rows)
end

--- Attention of a step, one call a layer: what its parts take alone, less the launch that they share, less
--- what the larger of prefill and decode hides of the other. No part that joins makes the call shorter: the
--- launch they share is no longer than the shorter of them.
--- @param chunks integer how many there are, 1 or more
--- @param decode_s number of decodes alone, 0 without them
function Kernels:attention_time(batch, chunks, decode_s)
  local prefills = batch.prefills
  local decode_paid_s = min(self.attention_launch_s, decode_s / self.attention_layers)
  local prefill = prefills[1] -- outside the loop: most steps have one chunk, and code without a loop is one piece
  local prefill_s, paid_s = self:prefill_attention(prefill.new_tokens, prefill.context_tokens, decode_paid_s)
  for i = 2, chunks do
    local time_s
    prefill = prefills[i]
    time_s, paid_s = self:prefill_attention(prefill.new_tokens, prefill.context_tokens, paid_s)
    prefill_s = prefill_s + time_s
  end
  local beside_s = decode_s - self.attention_layers * decode_paid_s
  return prefill_s + decode_s - self.overlap * min(prefill_s, beside_s)
end

-- The step -------------------------------------------------------------------------------------

--- Time on the GPU. Its list of prefills is in no variable while something is looked up: compiled code
--- would have to make it an object of its own to have it behind a call.
function Kernels:gpu_time(batch)
  local chunks, decodes, tokens, requests = #batch.prefills, batch.decodes, batch.tokens, batch.requests
  local time_s = self.layers_time(graphs.padded(tokens, self.graph_tokens)) + self.head_time(requests)
  local decode_s = 0
  if decodes > 0 then
    decode_s = self:decode_attention(decodes, batch.decode_context_tokens)
    if self.decode_rows_time then time_s = time_s + self.decode_rows_time(decodes) end
  end
  local attention_s = decode_s
  if chunks > 0 then
    attention_s = self:attention_time(batch, chunks, decode_s)
    time_s = time_s + self:expanded_time(batch, chunks)
  end
  if self.linear then time_s = time_s + self:linear_attention(batch) end
  local sampler_s = self.sampler_s + self.sorted_row_s * requests
  time_s = time_s + attention_s + cost.record("sampler", sampler_s, "assumed")
  if tokens <= self.graph_tokens then return time_s end
  return max(time_s, self.kernel_count * self.small.eager_s)
end

---@param batch rooflua.Batch
---@return number time_s the step period
function Kernels:time(batch)
  if batch.tokens == 0 then return 0 end
  local host_s = self.host_step_s + self.host_request_s * batch.requests
  local gpu_s = self:gpu_time(batch)
  if not self.asynchronous then return gpu_s + cost.record("host", host_s, "assumed") end
  if host_s <= gpu_s then return gpu_s end
  return gpu_s + cost.record("host", host_s - gpu_s, "assumed")
end

return Kernels
