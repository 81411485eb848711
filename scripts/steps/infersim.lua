--- InferSim: MFU tables with floor lookups, and fixed overheads. The static model (`:static`) says what
--- a deployment reaches: TTFT of a prefill batch, TPOT, tokens per GPU and second, weights, KV cache.
--- As a step model it prices serving batches with the same layers.
---
--- Equations: infersim/static.lua, infersim/serving.lua. Reading of config.json: infersim/config.lua.
--- GPU figures: infersim/gpus.lua. To agree with the reference to the last bit it needs its tables
--- (layout infersim) and the lookup infersim_head; its quirks are listed in docs/MODELS.md.
--- Source: alibaba/InferSim f2293da.
local policy = require "rooflua.policy"
local config = require "steps.infersim.config"
local gpus = require "steps.infersim.gpus"
local lookups = require "steps.infersim.lookups"
local serving = require "steps.infersim.serving"
local static = require "steps.infersim.static"

---@class steps.Infersim
---@field device string
---@field config string
---@field layers_counted string
---@field prefill_divisor number
---@field prefill_overhead_s number
---@field decode_overhead_s number
---@field hybrid_decode_overhead_s number
---@field runtime_gib number
---@field activation_gib number
---@field world_size integer
---@field num_nodes integer
---@field max_prefill_tokens integer
---@field decode_bs integer
---@field target_tgs number
---@field target_tpot_ms number
---@field target_isl integer
---@field target_osl integer
---@field use_fp8_gemm boolean
---@field use_fp8_kv boolean
---@field enable_deepep boolean
---@field enable_tbo boolean
---@field sm_ratio number
---@field prefill_only boolean
---@field decode_only boolean
local cli = "InferSim's command line"
local literal = "a literal in InferSim"
local Infersim = policy.define {
  name = "infersim",
  doc = "InferSim: static model of a deployment, and the same layers on a serving batch.",
  source = "alibaba/InferSim f2293da",
  params = {
    device = {
      default = "", values = { "", "H20", "H800", "H200", "GB200" },
      doc = "GPU as InferSim knows it; empty = by the hardware's name.",
    },
    config = {
      default = "",
      doc = "A config.json to read as InferSim reads it; empty = the scenario's model.",
    },
    layers_counted = {
      default = "all", values = { "all", "one" },
      doc = "Layers in a step; `one` is what the plan's code did, with KV and weight bytes divided by the layers.",
    },
    prefill_divisor = {
      default = static.defaults.causal_divisor, unit = "1", min = 0.01, source = literal,
      doc = "Divides prefill attention, which counts the whole score matrix.",
    },
    prefill_overhead_s = {
      default = 0.030, unit = "s", min = 0, source = literal,
      doc = "Added to TTFT and to steps with a prefill.",
    },
    decode_overhead_s = {
      default = 0.005, unit = "s", min = 0, source = literal,
      doc = "Added to TPOT and to other steps.",
    },
    hybrid_decode_overhead_s = {
      default = 0.002, unit = "s", min = 0, source = literal,
      doc = "The same for hybrid models.",
    },
    runtime_gib = {
      default = 15, unit = "GiB", min = 0, source = literal,
      doc = "Memory the runtime takes.",
    },
    activation_gib = {
      default = 5, unit = "GiB", min = 0, source = literal,
      doc = "Memory activations take.",
    },
    world_size = {
      default = 0, unit = "GPUs", min = 0, source = cli .. ": 1",
      doc = "GPUs of the deployment; 0 = tp.",
    },
    num_nodes = { default = 1, unit = "nodes", min = 1, doc = "Nodes they are in.", source = cli },
    max_prefill_tokens = {
      default = 4096, unit = "tokens", min = 1, source = cli,
      doc = "Tokens of one prefill batch.",
    },
    decode_bs = {
      default = -1, unit = "requests", min = -1, source = cli,
      doc = "Requests of one decode step; -1 = from the targets.",
    },
    target_tgs = {
      default = 2560, unit = "tokens/s", min = 0, source = cli,
      doc = "Output tokens per GPU and second to reach.",
    },
    target_tpot_ms = {
      default = 50, unit = "ms", min = 0, source = cli,
      doc = "Time per output token to reach.",
    },
    target_isl = {
      default = 4096, unit = "tokens", min = 1, source = cli,
      doc = "Input tokens per request.",
    },
    target_osl = {
      default = 2048, unit = "tokens", min = 1, source = cli,
      doc = "Output tokens per request.",
    },
    use_fp8_gemm = {
      default = false, source = cli,
      doc = "GEMMs in FP8, also where the deployment's weights are.",
    },
    use_fp8_kv = {
      default = false, source = cli,
      doc = "KV cache in FP8, also where the deployment's is.",
    },
    enable_deepep = { default = false, doc = "DeepEP all-to-all.", source = cli },
    enable_tbo = { default = false, doc = "Two-batch overlap.", source = cli },
    sm_ratio = {
      default = 108 / 132, unit = "1", min = 0.01, max = 1, source = cli,
      doc = "Part of the SMs left to compute under two-batch overlap.",
    },
    prefill_only = {
      default = false, source = cli,
      doc = "Leave decode out of the static report.",
    },
    decode_only = {
      default = false, source = cli,
      doc = "Leave prefill out of the static report.",
    },
  },
}

--- The reference's literals, from the parameters.
function Infersim:literals()
  return {
    causal_divisor = self.prefill_divisor, runtime_gib = self.runtime_gib, activation_gib = self.activation_gib,
    prefill_overhead_ms = self.prefill_overhead_s * 1000, decode_overhead_ms = self.decode_overhead_s * 1000,
    hybrid_decode_overhead_ms = self.hybrid_decode_overhead_s * 1000,
  }
end

---@return infersim.Arguments
function Infersim:arguments(deployment)
  local batch = self.decode_bs
  if batch < 0 then batch = nil end
  return {
    device = self.device, world_size = self.world_size > 0 and self.world_size or deployment.tp,
    tp = deployment.tp, nodes = self.num_nodes,
    max_prefill_tokens = self.max_prefill_tokens, decode_batch = batch,
    target_tokens_per_s = self.target_tgs, target_tpot_ms = self.target_tpot_ms,
    isl = self.target_isl, osl = self.target_osl,
    fp8_gemm = self.use_fp8_gemm or deployment.weights == "fp8",
    fp8_kv = self.use_fp8_kv or deployment.kv == "fp8",
    deepep = self.enable_deepep, two_batch_overlap = self.enable_tbo, sm_ratio = self.sm_ratio,
    prefill_only = self.prefill_only, decode_only = self.decode_only,
  }
end

function Infersim:bind(context)
  if self.config ~= "" then
    self.shape_read = config.read(require("rooflua.json").read(self.config), self.config)
  else
    self.shape_read = config.read(config.of_model(context.model), context.model.name)
  end
  self.gpu = gpus.of(self.device, context.hardware)
  self.args = self:arguments(context.deployment)
  if self.device == "" then self.args.device = context.hardware.name end
  self.lookups = lookups.over(context.mfu)
  local layers = self.layers_counted == "all" and self.shape_read.layers or 1
  self.batches = serving.new(self.shape_read, self.gpu, self.args, self.lookups, self:literals(), layers)
end

--- The static report: what InferSim prints, under "phase/label", plus times in seconds.
--- @return table {values, flags, ttft_s, tpot_s, prefill_tokens_per_s, decode_tokens_per_s}
function Infersim:static()
  local values, problem, flags = static.evaluate(self.shape_read, self.gpu, self.args, self.lookups, self:literals())
  if problem then error("infersim: " .. problem, 0) end
  local ttft_ms, tpot_ms = values["prefill/TTFT (ms)"], values["decode/TPOT (ms)"]
  return {
    values = values, flags = flags,
    ttft_s = ttft_ms and ttft_ms / 1000, tpot_s = tpot_ms and tpot_ms / 1000,
    prefill_tokens_per_s = values["prefill/Throughput (TGS:tok/GPU/s)"],
    decode_tokens_per_s = values["decode/Throughput (TGS:tok/GPU/s)"],
  }
end

---@param batch rooflua.Batch
---@return number time_s
function Infersim:time(batch)
  if batch.tokens == 0 then return 0 end
  return self.batches:time(batch)
end

return Infersim
