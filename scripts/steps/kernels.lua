--- The price of a step as a serving engine runs it: measured kernels, exact work, one rank.
---
---     gpu    = layers(padded M) + attention(prefills) + attention(decodes) + head(requests)
---     period = max(gpu, host)  when scheduling is asynchronous,  gpu + host  otherwise
---     host   = host_step_s + host_request_s * requests
---
--- M is the number of tokens in the step, padded to the size of the CUDA graph that runs it; attention is never
--- padded. GEMMs are looked up in the shape that the engine runs: q, k and v in one GEMM, gate and up in one GEMM,
--- sharded over the ranks, in the number format of their weights. The LM head has one row per request. A prefill
--- chunk of t new tokens after p cached ones costs t p + t (t+1) / 2 query-key pairs. Decodes cost the KV bytes of
--- the sum of their contexts. Both are priced on monotone grids (kernels/monotone.lua, monotone_prefill.lua). In a
--- mixed batch, the time of the two kinds of attention adds up, less the launch that they share.
--- Experts cost at least the weights that they touch. Each layer has two all-reduces.
--- The operations come from cost.layers(model, deployment). Their times come from the database, which falls back on
--- modelled kernels where it has no table (evidence modelled).
---
--- Laws: no operation beats flop / peak or bytes / bandwidth. One more request, a longer context or more new
--- tokens never make a step cheaper, up to rounding (tests/scripts/kernels_law_test.lua).
--- Idioms that keep the code compiled: docs/LUA_API.md, "Hot paths".
--- Not in it: pipeline parallelism, speculative decoding, prefix-shared attention.
--- Source: vLLM 0.11 to 0.28; docs/MODELS.md.
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"
local bounds = require "steps.kernels.bounds"
local elementwise = require "steps.kernels.elementwise"
local graphs = require "steps.kernels.graphs"
local monotone = require "steps.kernels.monotone"
local monotone_prefill = require "steps.kernels.monotone_prefill"
local ops = require "steps.kernels.ops"

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
      doc = "Host time per step: scheduling, preparing inputs, sending tokens to clients.",
    },
    host_request_s = {
      default = 2e-6, unit = "s", min = 0, source = "vLLM V1: 1 to 4 us",
      doc = "Host time per request and step.",
    },
    sampler_s = {
      default = 150e-6, unit = "s", min = 0, source = "about ten small kernels outside the CUDA graph",
      doc = "Sampling on the GPU, per step.",
    },
    sorted_logit_s = {
      default = 0.0, unit = "s", min = 0, source = "0.14 ns: vLLM pull request 40376, 128 rows of 131,072",
      doc = "Sorting the logits, per request and entry of the vocabulary; 0 = sampling without top-p and top-k.",
    },
    small_kernel_s = {
      default = 3e-6, unit = "s", min = 0, source = "launch, ramp and tail of norm and rope kernels on H100",
      doc = "Fixed time of a small kernel in a CUDA graph, beside its traffic; a launch table replaces it.",
    },
    small_kernel_bandwidth = {
      default = 0.7, unit = "1", min = 0.01, max = 1, source = "device copies reach 0.8 to 0.9",
      doc = "Part of the bandwidth that norm, rope, activation and KV write reach where no table measures them.",
    },
    small_kernel_tables = {
      default = true, source = "measured times include launch and tail; small_kernel_s estimates them",
      doc = "Small kernels are priced from elementwise, memory and launch tables, where these exist.",
    },
    attention_launch_s = {
      default = 8e-6, unit = "s", min = 0, source = "shortest attention kernels of vLLM 0.24 on H100: 11 us",
      doc = "An attention call without work. All requests of a step share one call and pay it once.",
    },
    eager_kernel_s = {
      default = 5e-6, unit = "s", min = 0, source = "host time of a kernel launch through PyTorch",
      doc = "Launch of a kernel outside a CUDA graph, without a launch table; lower bound of such a step per kernel.",
    },
    largest_graph = {
      default = 512, unit = "tokens", min = 0, integer = true, source = "vLLM max_cudagraph_capture_size",
      doc = "Largest CUDA graph that the engine captures; 0 = none.",
    },
    overlap = {
      default = 0.0, unit = "1", min = 0, max = 1, source = "upper bound of the time: no overlap was measured",
      doc = "Part of the shorter attention that the longer one hides in a mixed batch; 0 = the times add up.",
    },
    batched_gemm_mfu = {
      default = 0.5, unit = "1", min = 0.0001, max = 1, source = "assumed: half of the peak, no measurement",
      doc = "MFU of batched GEMMs: the absorbed projections of latent attention, which no table measures.",
    },
    expert_parallel = {
      default = false, source = "vLLM: --enable-expert-parallel is off",
      doc = "Each rank holds whole experts and tokens travel to them; otherwise every expert is split over the ranks.",
    },
  },
}

local max, min = math.max, math.min
local attention_block = 128  -- keys that a decode attention kernel loads at once; fewer keys cost the same

function Kernels:bind(context)
  local model, deployment, hardware = context.model, context.deployment, context.hardware
  if self.expert_parallel and model.moe and deployment.tp > model.moe.experts then
    error(("steps.expert_parallel: %d ranks for %d experts; a rank holds at least one whole expert"):format(
      deployment.tp, model.moe.experts), 0)
  end
  self.model, self.hardware, self.database, self.tp = model, hardware, context.mfu, deployment.tp
  self.asynchronous = (context.async_depth or 2) > 1
  self.peak_flop_per_s = hardware.peak_flop_per_s.bf16
  self.bounds = bounds.of(hardware, context.mfu, deployment.max_num_batched_tokens)
  self.weights = deployment.weights
  self.elementwise = elementwise.of(self)
  self.whole_moe_layers = ops.has_moe_layers(self)
  self.graph_tokens = graphs.largest(self.largest_graph, deployment.max_num_seqs, deployment.max_num_batched_tokens)
  self.dtype, self.kv_dtype = model.dtype, deployment.kv
  self.sorted_row_s = self.sorted_logit_s * model.vocab_size
  self:bind_operations(cost.layers(model, deployment), deployment)
end

--- Sorts the operations by the rows of a batch that they see: all tokens, one row per request, ...
function Kernels:bind_operations(layers, deployment)
  local prefill = self.model.mla and "mla_prefill" or "attention_prefill"
  self.written_in_prefill = self.database:includes(prefill, self.kv_dtype, "kv_write")
  local seen = { tokens = {}, requests = {}, prefill_tokens = {}, decode_tokens = {} }
  self.attention, self.linear, self.kernel_count = nil, nil, 0
  for _, op in ipairs(layers) do
    self.kernel_count = self.kernel_count + op.count
    if op.op == "attention_decode" or op.op == "mla_decode" then
      self.attention = op
    elseif op.op == "linear_attention" then
      self.linear = op
    elseif op.op ~= "attention_prefill" and op.op ~= "mla_prefill" then
      local list = seen[op.name == "kv_write" and self.written_in_prefill and "decode_tokens" or op.rows]
      list[#list + 1] = op
    end
  end
  self.layers_time = self:sum_of(seen.tokens)
  self.head_time = self:sum_of(seen.requests)
  self.decode_rows_time = #seen.decode_tokens > 0 and self:sum_of(seen.decode_tokens)
  self.prefill_rows_time = #seen.prefill_tokens > 0 and self:sum_of(seen.prefill_tokens)
  self:bind_attention(deployment)
end

--- The price of a list of operations as a memoized function of their rows.
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
    local measured = self.database:measures "gdn_decode" and self.database:measures "gdn_prefill"
    self.linear_decode = ops.linear_query(model, deployment, true, measured)
    self.linear_prefill = ops.linear_query(model, deployment, false, measured)
  end
  self.attention_layers = op.count
  self.kv_bytes_per_token = op.bytes_per_row
  self.decode_pair_flop, self.prefill_pair_flop = ops.pair_flop(model, op)
  self.decode_calls = monotone.of(function(n, tokens) return self:decode_latency(n, tokens) end, attention_block)
  self.prefill_grid = monotone_prefill.of(function(t, p) return self:prefill_latency(t, p) end)
  self.prefill_calls = nil
end

--- Chooses how prefill attention is priced. Measured rows need a monotone grid; the modelled kernel is monotone.
--- The choice is made at the first prefill chunk, so that pricing decodes alone reads no prefill table.
function Kernels:choose_prefill()
  local _, evidence = self:prefill_latency(1024, 0)
  self.prefill_calls = evidence ~= "modelled" and self.prefill_grid
end

--- Latency and evidence of one prefill call from the database, without a grid.
function Kernels:prefill_latency(t, p)
  local query = self.prefill_query
  query.new_tokens, query.context_tokens = t, p
  local _, estimate = self.database:lookup(query)
  return estimate.latency_s, estimate.evidence
end

-- Attention ------------------------------------------------------------------------------------

--- Latency and evidence of one decode call from the database, without a grid.
function Kernels:decode_latency(n, tokens)
  local query = self.decode_query
  query.batch, query.context_tokens = n, tokens / n
  local _, estimate = self.database:lookup(query)
  return estimate.latency_s, estimate.evidence
end

--- Decode attention of n requests that have `context` cached tokens in total. The new token of each request is in
--- the cache when attention runs.
function Kernels:decode_attention(n, context)
  local layers, tokens = self.attention_layers, context + n
  local computed = max(tokens, n * attention_block)
  local latency_s, evidence = self.decode_calls:at(n, computed)
  local flop, bytes = computed * self.decode_pair_flop, computed * self.kv_bytes_per_token
  local shape, note
  if cost.shapes_wanted() then
    shape, note = ops.decode_text(self.decode_query, n, computed), monotone.note(n, computed)
  end
  local time_s = cost.record("attention_decode", latency_s, evidence, layers, flop, bytes,
                             flop / (latency_s * self.peak_flop_per_s), "memory", note, self.decode_query.op, shape)
  return self.bounds:at_least(time_s, tokens * self.decode_pair_flop, tokens * self.kv_bytes_per_token,
                               self.dtype, layers, "attention_decode")
end

--- Prefill attention of a chunk: t new tokens after p cached ones.
--- @param paid_s number part of the call's launch that other requests in the call have paid
--- @return number time_s of all layers
--- @return number paid_s part of the call's launch that is paid with this chunk
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
  return more_launch_s + self.bounds:at_least(time_s - more_launch_s, pairs * self.prefill_pair_flop,
                                               (t + p) * self.kv_bytes_per_token, self.dtype, layers,
                                               "attention_prefill"), launch_s
end

--- The price of a chunk from the grid of measured rows, less the launch that is paid already.
function Kernels:measured_prefill(query, pairs, paid_s)
  local t, p = query.new_tokens, query.context_tokens
  local latency_s, evidence = self.prefill_calls:at(t, p)
  local flop, bytes = pairs * self.prefill_pair_flop, (t + p) * self.kv_bytes_per_token
  local shape, note
  if cost.shapes_wanted() then
    shape, note = cost.query_text(query), monotone_prefill.note(t, p)
    if note and paid_s > 0 then note = "in the same call; " .. note end
  end
  return cost.record("attention_prefill", max(0, latency_s - paid_s), evidence, self.attention_layers, flop, bytes,
                     flop / (latency_s * self.peak_flop_per_s), "compute", note, query.op, shape)
end

--- What a chunk of latent attention adds to a call whose launch is paid already.
function Kernels:same_call(query, paid_s)
  local _, estimate = self.database:lookup(query)
  local shape, note
  if cost.shapes_wanted() then
    shape, note = cost.query_text(query), "in the same call; " .. estimate.note
  end
  local time_s = max(0, estimate.latency_s - paid_s)
  return cost.record("attention_prefill", time_s, estimate, self.attention_layers, estimate.flop,
                     estimate.bytes, estimate.mfu, "compute", note, query.op, shape)
end

--- Recurrent layers of a hybrid model: each request reads and writes its state.
function Kernels:linear_attention(batch)
  local time_s, layers, query = 0, self.linear.count, self.linear_prefill
  local prefills = batch.prefills
  for i = 1, #prefills do
    query.new_tokens = self.bounds:rows_to_run(query, prefills[i].new_tokens, query)
    time_s = time_s + cost.lookup(self.database, query, layers, "linear_attention_prefill")
  end
  if batch.decodes > 0 then
    query = self.linear_decode
    query.batch = self.bounds:rows_to_run(query, batch.decodes, query)
    time_s = time_s + cost.lookup(self.database, query, layers, "linear_attention_decode")
  end
  return time_s
end

--- Expanding the latent KV of prefill chunks: new tokens and cached context.
function Kernels:expanded_time(batch, chunks)
  if not self.prefill_rows_time then return 0 end
  local prefills, rows = batch.prefills, 0
  for i = 1, chunks do rows = rows + prefills[i].new_tokens + prefills[i].context_tokens end
  return self.prefill_rows_time(rows)
end

--- Attention of a step with prefill chunks, one call per layer. Its time is the sum of the parts, less the launch
--- that they share, less what the longer of prefill and decode hides of the shorter. The shared launch is at most
--- the time of the shortest part, so that a further part never makes the call shorter.
--- @param chunks integer number of prefill chunks, 1 or more
--- @param decode_s number time of the decodes alone, 0 without decodes
function Kernels:attention_time(batch, chunks, decode_s)
  local prefills = batch.prefills
  local decode_paid_s = min(self.attention_launch_s, decode_s / self.attention_layers)
  local prefill = prefills[1]
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

--- Time of the step on the GPU.
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
  return max(time_s, self.kernel_count * self.elementwise.eager_s)
end

---@param batch rooflua.Batch
---@return number time_s from the start of this step to the start of the next
function Kernels:time(batch)
  if batch.tokens == 0 then return 0 end
  local host_s = self.host_step_s + self.host_request_s * batch.requests
  local gpu_s = self:gpu_time(batch)
  if not self.asynchronous then return gpu_s + cost.record("host", host_s, "assumed") end
  if host_s <= gpu_s then return gpu_s end
  return gpu_s + cost.record("host", host_s - gpu_s, "assumed")
end

return Kernels
