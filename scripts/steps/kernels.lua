--- The price of a step as a serving engine runs it: measured kernels, exact work, one rank.
---
---     gpu    = layers(padded M) + attention(prefills) + attention(decodes) + head(requests)
---     period = max(gpu, host)  when scheduling is asynchronous,  gpu + host  otherwise
---     host   = host_step_s + host_request_s * requests
---
--- M is the number of tokens in the step, padded to the size of the CUDA graph that runs it; attention is never
--- padded. GEMMs are looked up in the shape that the engine runs: q, k and v in one GEMM, gate and up in one GEMM,
--- sharded over the ranks, in the number format of their weights. The LM head has a row per request and draft. A
--- prefill chunk of t new tokens after p cached ones costs t p + t (t+1) / 2 query-key pairs. Decodes cost the KV bytes
--- of the sum of their contexts. Both are priced on monotone grids (kernels/monotone.lua, monotone_prefill.lua). In a
--- mixed batch, the time of the two kinds of attention adds up, less the launch that they share. Experts cost at least
--- the weights that they touch. Data-parallel ranks share them and pad their tokens to each other's (group.lua); other
--- divisions: context_parallel.lua, afd.lua. The operations come from cost.layers, their times from the database.
--- Laws: no operation beats flop / peak or bytes / bandwidth. One more request, context or new token never makes a
--- step cheaper by a ten-thousandth (tests/scripts/kernels/law_test.lua).
--- Idioms of compiled code: docs/LUA_API.md, "Hot paths". Drafts are tokens of a decode: docs/SPECULATION.md. Not in
--- this price: the drafter, pipelines, prefix-shared attention. Source: vLLM 0.11 to 0.28; docs/MODELS.md.
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"
local adapters = require "steps.kernels.adapters"
local afd = require "steps.kernels.afd"
local apart = require "steps.kernels.apart"
local attention = require "steps.kernels.attention"
local shared_experts = require "steps.kernels.shared_experts"
local bounds = require "steps.kernels.bounds"
local context_parallel = require "steps.kernels.context_parallel"
local decode_run = require "steps.kernels.decode_run"
local elementwise = require "steps.kernels.elementwise"
local engines = require "rooflua.engines"
local exchange = require "steps.kernels.exchange"
local experts = require "steps.kernels.experts"
local graphs = require "steps.kernels.graphs"
local group = require "steps.kernels.group"
local host = require "steps.kernels.host"
local launches = require "steps.kernels.launches"
local modules = require "steps.kernels.modules"
local moving = require "steps.kernels.moving"
local prompts = require "steps.kernels.prompts"
local recurrent = require "steps.kernels.recurrent"
local router = require "steps.kernels.router"
local tail = require "steps.kernels.tail"
local weight_only = require "steps.kernels.weight_only"
local within_attention = require "steps.kernels.within_attention"

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
---@field eager_operation_s number
---@field prompt_overhead number
---@field largest_graph integer
---@field largest_prefill_graph integer
---@field overlap number
---@field batched_gemm_mfu number
---@field index_mfu number
---@field module_eager_s number
---@field state_space_mfu number
---@field recurrent_copies integer
---@field experts_kernels string
---@field expert_block integer
---@field block_gemm string
---@field shared_beside integer
---@field exchange string
---@field dp_padding string
---@field draft_overlap number
---@field expert_imbalance number
local Kernels = policy.define {
  name = "kernels",
  monotone = true,
  ceiling = true,
  doc = "Measured kernels, exact work, as the serving engine runs it on one rank.",
  source = "docs/MODELS.md, vLLM",
  params = afd.with_parameters {
    host_step_s = {
      default = 700e-6, unit = "s", min = 0, source = "vLLM 0.11 at batch 1, not asynchronous, on H100",
      doc = "Host time per step: scheduling, preparing inputs, sending tokens to clients.",
    },
    host_request_s = {
      default = 2e-6, unit = "s", min = 0, source = "vLLM V1: 1 to 4 us",
      doc = "Host time per request and step.",
    },
    sampler_s = {
      default = 150e-6, unit = "s", min = 0, source = "about ten small kernels; H100 rows of sampling alone fit worse",
      doc = "Sampling on the GPU, per step.",
    },
    sorted_logit_s = {
      default = 0.0, unit = "s", min = 0, source = "0.14 ns: vLLM pull request 40376; 0.146: our rows of an H100",
      doc = "Sorting the logits, per request and entry of the vocabulary; 0 = sampling without top-p and top-k.",
    },
    small_kernel_s = {
      default = 3e-6, unit = "s", min = 0, source = "launch, ramp and tail of norm and rope kernels on H100",
      doc = "Fixed time of a small kernel in a CUDA graph, without its traffic; a launch table replaces it.",
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
    eager_operation_s = {
      default = -1, unit = "s", min = -1, source = "fitted per engine: scripts/engines",
      doc = "Host time of an operation outside of CUDA graphs; lower bound of such a step; -1 = the engine's own.",
    },
    prompt_overhead = {
      default = -1, unit = "1", min = -1, max = 10, source = "fitted per engine: scripts/engines",
      doc = "Time of prompts outside of their kernels, as a part of these without attention; -1 = the engine's own.",
    },
    largest_graph = {
      default = 512, unit = "tokens", min = 0, integer = true, source = "vLLM max_cudagraph_capture_size",
      doc = "Largest CUDA graph that the engine captures; 0 = none, and every operation waits for its host time.",
    },
    largest_prefill_graph = {
      default = -1, unit = "tokens", min = -1, integer = true, source = "scripts/engines",
      doc = "Largest CUDA graph for steps with prefill chunks, whole or piecewise; 0 = none; -1 = the engine's own.",
    },
    overlap = {
      default = 0.0, unit = "1", min = 0, max = 1, source = "upper bound of the time: no overlap was measured",
      doc = "Part of the shorter attention that the longer one hides in a mixed batch; 0 = the times add up.",
    },
    batched_gemm_mfu = {
      default = 0.5, unit = "1", min = 0.0001, max = 1, source = "assumed: half of the peak, no measurement",
      doc = "MFU of batched GEMMs: the absorbed projections of latent attention, which no table measures.",
    },
    index_mfu = {
      default = 0.38, unit = "1", min = 0.0001, max = 1,
      source = "0.34 to 0.44 on five GPUs: published rows of dsv4_paged_mqa_logits_module, calls above 0.5 ms",
      doc = "MFU of the scores of an index of sparse attention.",
    },
    module_eager_s = {
      default = 57.5e-6, unit = "s", min = 0, source = "50 to 65 us, by the publisher (notes of the tables)",
      doc = "Eager norms and rope in rows of whole attention modules, which no engine runs so.",
    },
    state_space_mfu = {
      default = 0.18, unit = "1", min = 0.0001, max = 1,
      source = "the gated delta rule, counted alike: 0.18, 0.19 on H100, H200, 0.10 on Blackwell; no table of its own",
      doc = "MFU of the scan of state-space layers, which no table measures.",
    },
    recurrent_copies = {
      default = 1, unit = "kernels", min = 0, integer = true,
      source = "SGLang pull request 21019, TensorRT-LLM 12966: one since then; before them each part was copied",
      doc = "Kernels that put what a layer of the gated delta rule projects in its order.",
    },
    experts_kernels = {
      default = "own", values = engines.with_names { "own", "marlin" }, source = "the engine's own choice",
      doc = "Engine whose kernels run the routed experts; own = the deployment's; marlin = four bits, expanded.",
    },
    expert_block = {
      default = -1, unit = "rows", min = -1, integer = true, source = "scripts/engines",
      doc = "Rows of a block of experts in block-scaled FP8, run for every expert; 0 = none; -1 = the engine's own.",
    },
    block_gemm = {
      default = "own", values = { "own", "flashinfer" }, source = "the tables' kernels; kernels/blockscale.lua",
      doc = "Who runs GEMMs in block-scaled FP8 on Blackwell: own = the tables' kernels; flashinfer = FlashInfer.",
    },
    shared_beside = {
      default = -1, unit = "tokens", min = -1, integer = true, source = "scripts/engines",
      doc = "Tokens of a graph up to which shared and routed experts run at once; -1 = the engine's own.",
    },
    exchange = {
      default = "own", values = { "own", "gathered", "deepep", "nvlink_one_sided", "nvlink_two_sided" },
      source = "kernels/exchange.lua", idle = { "one rank" },
      doc = "How tokens reach experts of other data-parallel ranks; own = the engine's own.",
    },
    dp_padding = {
      default = engines.default_name(), values = group.rules(), source = "kernels/group.lua", idle = { "one rank" },
      doc = "How ranks that step together (deployment.dp) pad their tokens to the same number.",
    },
    draft_overlap = {
      default = 0.4, unit = "1", min = 0, max = 1, idle = { "no speculation" },
      source = "fitted to gpt-oss-120b on H200 with 1 and 3 drafts, leaving out 7 (docs/SPECULATION.md)",
      doc = "Part of the experts of a draft that other tokens of its request touch anyway.",
    },
    expert_imbalance = {
      default = 1.0, unit = "1", min = 1, source = "1: as the rows were measured; GEMMs alone are balanced",
      doc = "Rows of the fullest rank over those of a balanced one, where ranks hold whole experts (deployment.ep).",
    },
  },
}

--- Layers of each kind are priced on their own, and experts see the tokens of all ranks (docs/MODELS.md).
Kernels.follows_kinds, Kernels.follows_groups, Kernels.follows_context = true, true, true
Kernels.prices_adapters, Kernels.prices_expert_load, Kernels.follows_apart = true, true, true

--- Parameters that the scenario leaves open follow from its engine.
Kernels.follows_engine, Kernels.signature = true, graphs.signature

local min, record, assumed = math.min, cost.record, cost.evidence_codes().assumed
local padded = graphs.padded

function Kernels:bind(context)
  local model, deployment, hardware = context.model, context.deployment, context.hardware
  self.model, self.hardware, self.database, self.tp = model, hardware, context.mfu, deployment.tp
  self.dp, self.cp, self.dcp = deployment.dp, deployment.cp, deployment.dcp
  self.ep, self.moe_tp, self.ranks = deployment.ep, deployment.moe_tp, self.tp * self.dp * self.cp
  self.padding, self.fullest = group.rule(self.dp_padding), self.ep > 1 and self.expert_imbalance or 1
  self.asynchronous = (context.async_depth or 2) > 1
  self.peak_flop_per_s = hardware.peak_flop_per_s.bf16
  self.bounds = bounds.of(hardware, context.mfu, deployment.max_num_batched_tokens, self.block_gemm)
  experts.bind(self, deployment.max_num_batched_tokens)
  self.elementwise = elementwise.of(self)
  self.whole_moe_layers = {}
  self.graph_tokens = graphs.largest(self.largest_graph, deployment.max_num_seqs, deployment.max_num_batched_tokens,
    context.draft_depth)
  local engine = context.engine or engines.of_tables(self.database.engine, context)
  self:bind_engine(engine.values)
  self.dtype, self.kv_dtype, self.sorted_row_s = model.dtype, deployment.kv, self.sorted_logit_s * model.vocab_size
  local layers = cost.layers(model, deployment)
  experts.check(self.experts_kernels, layers)
  self.travels = exchange.of(self, engine.values, layers)
  router.bind(self, layers)
  self:bind_operations(layers, deployment)
  context_parallel.bind(self, engine.values, layers)
  afd.bind(self, deployment)
  self.adapters = adapters.of(self, context.adapters)
  moving.bind(self, context.experts)
  self.prompt_token_s = prompts.token_s(self, engine.values, deployment.max_num_batched_tokens)
  self.eager_s, self.verify_s = host.least_times(self, layers, engine.values)
end

--- What the deployment's engine does in its own way.
--- @param engine table values of an engine (scripts/engines)
function Kernels:bind_engine(engine)
  local largest = self.largest_prefill_graph
  self.prefill_graph_tokens = largest < 0 and graphs.with_prefill(engine, self.graph_tokens) or largest
  self.reduces_by_nccl = engine.all_reduce_across_nodes == "nccl" and self.tp > self.hardware.node_gpus
    and self.tp <= self.hardware.domain_gpus and self.database:measures "collective"
  self.engine_values, self.fuses_norm = engine, engine.fuses_norm and self.tp > 1
  self.shared_tokens = min(self.shared_beside >= 0 and self.shared_beside or engine.shared_beside, self.graph_tokens)
  self.block_rows = self.expert_block
  if self.block_rows < 0 then
    local theirs = self.experts_database == self.database and engine
      or engines.of_tables(self.experts_database.engine, self).values
    self.block_rows = experts.block(theirs, self.moe_tp)
  end
  self.bounds.weight_only = weight_only.of(self.bounds, engine)
  self.bounds.fused_quantize = engine.fuses_static_fp8 and self.database:includes("gemm", "fp8", "quantize")
    and elementwise.quantize_query or nil
end

--- Sorts the operations by the rows of a batch that they see: all tokens, one row per request, ...
function Kernels:bind_operations(layers, deployment)
  local seen = { tokens = {}, group_tokens = {}, tail_tokens = {}, requests = {} }
  seen.prefill_tokens, seen.decode_tokens = {}, {}
  self.attention, self.more_attention, self.recurrent, self.kernel_count = false, {}, {}, 0
  for _, op in ipairs(layers) do
    if op.name:find "^gdn_split" then op.count = op.count * self.recurrent_copies end
    self.kernel_count = self.kernel_count + op.count
    if op.op == "attention_decode" or op.op == "mla_decode" then
      self:add_attention(attention.of(self, op, self.model.attention[op.kind], deployment))
    elseif op.op == "linear_attention" then
      self.recurrent[#self.recurrent + 1] = recurrent.of(self, op, self.model.attention[op.kind])
    elseif op.op ~= "attention_prefill" and op.op ~= "mla_prefill" then
      within_attention.put(self, seen, op)
    end
  end
  recurrent.check(self)
  shared_experts.add_sums(self, seen.tokens)
  apart.add(self, seen)
  launches.add(self, seen)
  modules.bind(self, { self.attention, unpack(self.more_attention) }, seen.tokens, deployment)
  self:bind_sums(seen)
  self.seen, self.has_more = seen, tail.bind(self, seen) or #self.more_attention > 0 or #self.recurrent > 0
  self.head_time = self:sum_of(seen.requests)
  self.decode_rows_time = #seen.decode_tokens > 0 and self:sum_of(seen.decode_tokens)
  self.prefill_rows_time = #seen.prefill_tokens > 0 and self:sum_of(seen.prefill_tokens)
end

--- The layers of the first kind, and those of further kinds, which few models have.
function Kernels:add_attention(kind)
  local more = self.attention and self.more_attention
  if more then more[#more + 1] = kind else self.attention = kind end
end

Kernels.sum_of, Kernels.bind_sums = shared_experts.sum_of, shared_experts.bind_sums
Kernels.settles = attention.settles_with

-- Attention ------------------------------------------------------------------------------------

--- Expanding the latent KV of prefill chunks: new tokens and cached context. A chunk of one token is absorbed, as a
--- decode is: the last token of a prompt whose keys and values have arrived from another engine.
function Kernels:expanded_time(batch, chunks)
  if not self.prefill_rows_time then return 0 end
  local prefills, rows = batch.prefills, 0
  for i = 1, chunks do
    local chunk = prefills[i]
    if chunk.new_tokens > 1 then rows = rows + chunk.new_tokens + chunk.context_tokens end
  end
  return rows > 0 and self.prefill_rows_time(rows) or 0
end

--- Attention of a kind in a step with prefill chunks, one call per layer: the sum of the parts, less the launch that
--- they share, less what the longer of prefill and decode hides of the shorter. The shared launch is at most the time
--- of the shortest part, so that a further part never makes the call shorter.
--- @param kind steps.kernels.Attention
--- @param chunks integer number of prefill chunks, 1 or more
--- @param decode_s number time of the decodes alone, 0 without decodes
function Kernels:attention_time(kind, batch, chunks, decode_s)
  local decode_paid_s = min(self.attention_launch_s, decode_s / kind.layers)
  local prefill_s, paid_s = kind:chunk(batch, 1, decode_paid_s)
  if chunks > 1 then prefill_s, paid_s = kind:add_chunk(batch, 2, prefill_s, paid_s) end
  if chunks > 2 then prefill_s, paid_s = kind:add_chunk(batch, 3, prefill_s, paid_s) end
  for i = 4, chunks do prefill_s, paid_s = kind:add_chunk(batch, i, prefill_s, paid_s) end
  local beside_s = decode_s - kind.layers * decode_paid_s
  return prefill_s + decode_s - self.overlap * min(prefill_s, beside_s)
end

--- Attention of further kinds, recurrent layers, and layers that see the tails of prompts.
function Kernels:more_time(batch, chunks, decodes)
  local time_s, kinds, states = 0, self.more_attention, self.recurrent
  for i = 1, #kinds do
    local decode_s = decodes > 0 and kinds[i]:decode(decodes, batch.decode_context_tokens, batch) or 0
    time_s = time_s + (chunks > 0 and self:attention_time(kinds[i], batch, chunks, decode_s) or decode_s)
  end
  for i = 1, #states do time_s = time_s + states[i]:batch_time(batch) end
  if self.tail_time then time_s = time_s + tail.time(self, batch) end
  return time_s
end

-- The step -------------------------------------------------------------------------------------

--- Time of the model's own part of rows_time.
function Kernels:model_rows_time(batch)
  local tokens, drafts = batch.tokens, batch.decode_tokens - batch.decodes
  local rows = batch.requests + drafts
  if self.dp > 1 then
    local time_s, most = group.time(self, batch, drafts)
    return time_s + self.head_time(rows), most
  end
  if drafts > 0 then return self.drafts_time(tokens, drafts) + self.head_time(rows), tokens end
  return self.layers_time(padded(tokens, self.graph_tokens), tokens) + self.head_time(rows), tokens
end

--- Time of what sees rows and no contexts: layers, experts, adapters and the head. Second: tokens of the fullest rank.
function Kernels:rows_time(batch)
  local time_s, most = self:model_rows_time(batch)
  if not self.adapters then return time_s, most end
  return time_s + adapters.time(self.adapters, batch), most
end

--- Time of the step on the GPU.
--- @param rows_s number rows_time of the batch
--- @param fullest integer tokens of the fullest rank
function Kernels:gpu_time(batch, rows_s, fullest)
  local chunks, decodes, tokens, decode_tokens = #batch.prefills, batch.decodes, batch.tokens, batch.decode_tokens
  local rows = decode_tokens - decodes + batch.requests
  local time_s, decode_s = rows_s, 0
  if decodes > 0 then
    decode_s = self.attention:decode(decodes, batch.decode_context_tokens, batch)
    if self.decode_rows_time then time_s = time_s + self.decode_rows_time(decode_tokens) end
  end
  local attention_s = decode_s
  if chunks > 0 then
    attention_s = self:attention_time(self.attention, batch, chunks, decode_s)
    time_s = time_s + self:expanded_time(batch, chunks)
    if self.prompt_token_s > 0 then time_s = time_s + prompts.extra(self, tokens - decode_tokens) end
  end
  if self.has_more then time_s = time_s + self:more_time(batch, chunks, decodes) end
  time_s = time_s + attention_s + record("sampler", self.sampler_s + self.sorted_row_s * rows, assumed)
  local least_s = decode_tokens > decodes and self.verify_s or 0
  if fullest > (tokens == rows and self.graph_tokens or self.prefill_graph_tokens) then least_s = self.eager_s end
  if time_s >= least_s then return time_s end
  return time_s + record("eager", least_s - time_s, assumed)
end

--- Time of the step on the GPU and, where it is longer, on the host.
function Kernels:period(batch, rows_s, fullest)
  local host_s = self.host_step_s + self.host_request_s * batch.requests
  local gpu_s = self:gpu_time(batch, rows_s, fullest)
  if not self.asynchronous then return gpu_s + record("host", host_s, assumed) end
  if host_s <= gpu_s then return gpu_s end
  return gpu_s + record("host", host_s - gpu_s, assumed)
end

---@param batch rooflua.Batch
---@return number time_s from the start of this step to the start of the next
function Kernels:time(batch) return batch.tokens == 0 and 0 or self:period(batch, self:rows_time(batch)) end

--- The next steps of the same decodes (kernels/decode_run.lua).
---@param batch rooflua.Batch the first one
---@param run rooflua.StepRun
function Kernels:run(batch, run) return decode_run.price(self, batch, run) end

return Kernels
