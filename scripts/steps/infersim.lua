--- InferSim: MFU tables with floor lookups, and fixed overheads. The static model (`:static`) says what
--- a deployment reaches: TTFT of a prefill batch, TPOT, tokens per GPU and second, weights, KV cache.
--- The step model prices serving batches with the same layers.
---
--- Equations: infersim/static.lua, infersim/serving.lua. Reading of config.json: infersim/config.lua.
--- GPU figures: infersim/gpus.lua. With InferSim's own tables (layout infersim) and the lookup
--- infersim_head, results agree with InferSim to the last bit; docs/MODELS.md lists its quirks.
--- Source: alibaba/InferSim f2293da.
local policy = require "rooflua.policy"
local config = require "steps.infersim.config"
local gpus = require "steps.infersim.gpus"
local report = require "steps.infersim.report"
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
local literal = "a constant in InferSim's code, without a source there"
local Infersim = policy.define {
  name = "infersim",
  doc = "InferSim: static model of a deployment, and the same layers on a serving batch.",
  source = "alibaba/InferSim f2293da",
  params = {
    device = {
      default = "", values = { "", "H20", "H800", "H200", "GB200" },
      source = cli,
      doc = "GPU whose figures InferSim has; empty = the one with the name of the scenario's hardware.",
    },
    config = {
      default = "", source = cli,
      doc = "A config.json, read as InferSim reads it; empty = the scenario's model.",
    },
    layers_counted = {
      default = "all", values = { "all", "one" },
      source = "all: a step runs every layer; one: the design plan of inference-sim 487017bc",
      doc = "Layers of a serving step. `one` repeats the plan's code: one layer, its KV and weight bytes divided "
            .. "by the number of layers.",
    },
    prefill_divisor = {
      default = static.defaults.causal_divisor, unit = "1", min = 0.01, source = literal,
      doc = "Divides prefill attention, which counts the whole score matrix.",
    },
    prefill_overhead_s = {
      default = 0.030, unit = "s", min = 0, source = literal,
      doc = "Time added to TTFT and to steps with a prefill.",
    },
    decode_overhead_s = {
      default = 0.005, unit = "s", min = 0, source = literal,
      doc = "Time added to TPOT and to steps of decodes alone.",
    },
    hybrid_decode_overhead_s = {
      default = 0.002, unit = "s", min = 0, source = literal,
      doc = "decode_overhead_s of hybrid models (with linear attention layers), in the static report.",
    },
    runtime_gib = {
      default = 15, unit = "GiB", min = 0, source = literal,
      doc = "GPU memory that the runtime takes.",
    },
    activation_gib = {
      default = 5, unit = "GiB", min = 0, source = literal,
      doc = "GPU memory that activations take.",
    },
    world_size = {
      default = 0, unit = "GPUs", min = 0, max = 1000000, integer = true, source = cli .. ": 1",
      doc = "GPUs of the deployment; 0 = tp.",
    },
    num_nodes = {
      default = 1, unit = "nodes", min = 1, max = 1000000, integer = true, source = cli,
      doc = "Nodes that hold these GPUs.",
    },
    max_prefill_tokens = {
      default = 4096, unit = "tokens", min = 1, integer = true, source = cli,
      doc = "Tokens of one prefill batch.",
    },
    decode_bs = {
      default = -1, unit = "requests", min = -1, integer = true, source = cli,
      doc = "Requests of one decode step; -1 = computed from target_tgs and target_tpot_ms.",
    },
    target_tgs = {
      default = 2560, unit = "tokens/s", min = 0, source = cli,
      doc = "Target: output tokens per GPU and second.",
    },
    target_tpot_ms = {
      default = 50, unit = "ms", min = 0, source = cli,
      doc = "Target: time per output token.",
    },
    target_isl = {
      default = 4096, unit = "tokens", min = 1, integer = true, source = cli,
      doc = "Input tokens per request.",
    },
    target_osl = {
      default = 2048, unit = "tokens", min = 1, integer = true, source = cli,
      doc = "Output tokens per request.",
    },
    use_fp8_gemm = {
      default = false, source = cli,
      doc = "GEMMs in FP8. Weights of the deployment in fp8 have the same effect.",
    },
    use_fp8_kv = {
      default = false, source = cli,
      doc = "KV cache in FP8. A KV cache of the deployment in fp8 has the same effect.",
    },
    enable_deepep = { default = false, doc = "Exchange tokens of experts with DeepEP's all-to-all.", source = cli },
    enable_tbo = { default = false, doc = "Two-batch overlap of computing and communication.", source = cli },
    sm_ratio = {
      default = 108 / 132, unit = "1", min = 0.01, max = 1, source = cli,
      doc = "Part of the SMs left to compute under two-batch overlap.",
      idle = { enable_tbo = false },
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

--- The parameters that are constants in InferSim's code, as static.new takes them.
function Infersim:literals()
  return {
    causal_divisor = self.prefill_divisor, runtime_gib = self.runtime_gib, activation_gib = self.activation_gib,
    prefill_overhead_ms = self.prefill_overhead_s * 1000, decode_overhead_ms = self.decode_overhead_s * 1000,
    hybrid_decode_overhead_ms = self.hybrid_decode_overhead_s * 1000,
  }
end

--- Formats of weights that InferSim has: its GEMMs are in 16 bits or in FP8.
local formats = { bf16 = true, fp16 = true, fp8 = true, fp8_block = true }

---@return infersim.Deployment
function Infersim:deployment_of(deployment)
  if not formats[deployment.weights] then
    error(("infersim: weights in %s: it has GEMMs in bf16 and in FP8 alone; say weights = \"fp8\" or \"bf16\"")
      :format(deployment.weights), 0)
  end
  return {
    device = self.device, world_size = self.world_size > 0 and self.world_size or deployment.tp,
    tp = deployment.tp, nodes = self.num_nodes,
    fp8_gemm = self.use_fp8_gemm or deployment.weights == "fp8" or deployment.weights == "fp8_block",
    fp8_kv = self.use_fp8_kv or deployment.kv == "fp8",
    deepep = self.enable_deepep, two_batch_overlap = self.enable_tbo, sm_ratio = self.sm_ratio,
    prefill_only = self.prefill_only, decode_only = self.decode_only,
  }
end

--- The load that the parameters describe. Change a field of it and evaluate again.
---@return infersim.Load
function Infersim:load()
  return {
    max_prefill_tokens = self.max_prefill_tokens, decode_batch = self.decode_bs >= 0 and self.decode_bs or nil,
    target_tokens_per_s = self.target_tgs, target_tpot_ms = self.target_tpot_ms,
    isl = self.target_isl, osl = self.target_osl,
  }
end

local load_names = { "max_prefill_tokens", "decode_batch", "target_tokens_per_s", "target_tpot_ms", "isl", "osl" }
local known_names = {}
for _, name in ipairs(load_names) do known_names[name] = true end

--- The load of the parameters, with the fields in `changes` replaced.
function Infersim:changed_load(changes)
  for name in pairs(changes) do
    if not known_names[name] then
      local known = table.concat(load_names, ", ")
      error(("infersim: static: unknown name '%s' (known: %s)"):format(type(name) == "string" and name
        or "a " .. type(name), known), 0)
    end
  end
  local own, load = self.own_load, self.asked_load
  for i = 1, #load_names do
    local name = load_names[i]
    local value = changes[name]
    if value == nil then value = own[name] end
    load[name] = value
  end
  return load
end

--- Prices depend neither on the seats nor on the budget.
function Infersim:signature() return "" end -- luacheck: ignore 212

function Infersim:bind(context)
  local shape
  if self.config ~= "" then
    shape = config.read(require("rooflua.json").read(self.config), self.config)
  else
    shape = config.read(config.of_model(context.model), context.model.name)
  end
  local gpu = gpus.of(self.device, context.hardware)
  local args = self:deployment_of(context.deployment)
  if self.device == "" then args.device = context.hardware.name end
  local function run() return static.new(shape, gpu, args, context.mfu, self:literals()):prepare() end
  self.run, self.own_load, self.asked_load = run(), self:load(), self:load()
  self.report = { values = report.view(self.run), flags = {} }
  self.batches = serving.new(run(), self.layers_counted == "all" and shape.layers or 1)
end

--- One evaluation of the static model.
---
---     local load = steps:load()
---     for batch = 1, 256 do
---       load.decode_batch = batch
---       print(batch, steps:evaluate(load).decode.total_s)
---     end
---
--- @param load infersim.Load
--- @return infersim.Run run in seconds and bytes; the same record in every call, overwritten by the next call
function Infersim:evaluate(load)
  self.run:evaluate(load)
  return self.run
end

--- The static report: what InferSim prints, under "phase/label", plus times in seconds. Every call returns
--- the same table, which shows the last evaluation: copy what you want to keep.
--- @param changes infersim.Load|nil fields that replace those of the parameters
--- @return infersim.Report report
function Infersim:static(changes)
  local run, out, load = self.run, self.report, self.own_load
  if changes then load = self:changed_load(changes) end
  run:evaluate(load)
  out.ttft_s, out.tpot_s = run.prefill.total_s, run.decode.total_s
  out.prefill_tokens_per_s, out.decode_tokens_per_s = run.prefill.tokens_per_s, run.decode.tokens_per_s
  out.flags.needs_smaller_kv_cache = run.needs_smaller_kv_cache
  out.flags.misses_target_tpot = run.misses_target_tpot
  return out
end

---@param batch rooflua.Batch
---@return number time_s
function Infersim:time(batch)
  if batch.tokens == 0 then return 0 end
  return self.batches:time(batch)
end

return Infersim
