-- Compares steps/roofline_v2, preset blis487, with recorded steps of inference-sim 487017bc, one
-- comparison per step: step_us exactly, terms to 1e-12.
--   rooflua lua tests/parity/blis487_steps.lua GOLDEN.json TABLES_DIR MODEL_CONFIGS_DIR
local golden_path, tables, configs = ...
if not configs then
  print "usage: blis487_steps.lua GOLDEN.json TABLES_DIR MODEL_CONFIGS_DIR"
  os.exit(2)
end
local rooflua = require "rooflua"
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."
local compare = dofile(here .. "/compare.lua")
local RooflineV2 = require "steps.roofline_v2"

local tolerance = 1e-12
local null = rooflua.json.null
local golden = compare.read(golden_path)
local database = rooflua.mfu.open {
  path = tables .. "/bench_data", layout = "blis", gpu = "h100", lookup = "blis487",
}

local dtypes = {  -- bytes per parameter as in inference-sim, where four bits count as one byte
  float32 = "fp32", fp32 = "fp32", float16 = "fp16", fp16 = "fp16", bfloat16 = "bf16", bf16 = "bf16",
  int8 = "fp8", fp8 = "fp8", float8_e4m3fn = "fp8", int4 = "fp8", nf4 = "fp8",
}

local function first(...)
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    if value ~= nil and value ~= null then return value end
  end
end

--- A config.json as inference-sim reads it: text_config over the root, experts ignored.
local function read_model(name)
  local root = compare.read(configs .. "/" .. name .. "/config.json")
  local text = first(root.text_config, {})
  local function get(key) return first(text[key], root[key]) end
  local H, h = get "hidden_size", get "num_attention_heads"
  local dtype = dtypes[first(get "torch_dtype", get "dtype")]
  if not dtype then error(name .. ": no number format that inference-sim knows") end
  return {
    layers = get "num_hidden_layers", hidden_size = H, heads = h, head_dim = math.floor(H / h),
    kv_heads = first(get "num_key_value_heads", get "num_kv_heads", get "multi_query_group_num", h),
    intermediate_size = first(get "intermediate_size", get "ffn_hidden_size", 0),
    vocab_size = first(get "vocab_size", 0),
  }, dtype
end

local models = {}
local function model(name)
  if not models[name] then
    local read, dtype = read_model(name)
    models[name] = { model = read, dtype = dtype }
  end
  return models[name]
end

--- A bound step model per (model, hardware, tp).
local bound = {}
local function steps(name, hw_name, tp)
  local key = name .. "|" .. hw_name .. "|" .. tp
  if bound[key] then return bound[key] end
  local hw, of = golden.hardware[hw_name], model(name)
  local instance = RooflineV2:preset "blis487" {
    bandwidth_efficiency = hw.bwEfficiencyFactor ~= 0 and hw.bwEfficiencyFactor or 1,
    overhead_per_layer_s = hw.perLayerOverhead / 1e6,
  }
  instance:bind {
    model = of.model, mfu = database,
    deployment = { tp = tp, weights = of.dtype, kv = "bf16" },
    hardware = { peak_flop_per_s = { bf16 = hw.TFlopsPeak * 1e12 }, memory_bytes_per_s = hw.BwPeakTBs * 1e12 },
  }
  bound[key] = instance
  return instance
end

local batches = {}
for _, step in ipairs(golden.step_defs) do
  local prefills, contexts = {}, {}
  for i, request in ipairs(first(step.config.prefill_requests, {})) do
    prefills[i] = { new_tokens = request.num_new_prefill_tokens, context_tokens = request.progress_index }
  end
  for i, request in ipairs(first(step.config.decode_requests, {})) do contexts[i] = request.progress_index end
  batches[step.name] = rooflua.cost.batch { prefills = prefills, decode_contexts = contexts }
end

local terms = {  -- name in inference-sim, name in steps/roofline_v2
  { "dec_gemm", "decode_gemm_s" }, { "dec_attn", "decode_attention_s" }, { "dec_mem", "decode_memory_s" },
  { "pre_gemm", "prefill_gemm_s" }, { "pre_attn", "prefill_attention_s" }, { "pre_mem", "prefill_memory_s" },
}

local counter = compare.counter()
for _, result in ipairs(golden.results) do
  local instance, differences = steps(result.model, result.hw, result.tp), {}
  local ours = instance.terms
  for _, term in ipairs(terms) do ours[term[2]] = 0 end
  local time_s = instance:time(batches[result.step])
  local step_us = math.floor(time_s * 1e6 + 0.5)
  counter:value(differences, "step_us", result.step_us, step_us, 0)
  if math.abs(time_s * 1e6 - step_us) > 1e-6 then
    differences[#differences + 1] = "the step is not whole microseconds"
  end
  for _, term in ipairs(terms) do
    counter:value(differences, term[1], result.terms_us[term[1]], ours[term[2]] * 1e6, tolerance)
  end
  counter:value(differences, "overhead", result.terms_us.overhead, instance.overhead_us, tolerance)
  counter:value(differences, "total", result.terms_us.total, ours.total_us, tolerance)
  counter:count(("%s tp%d %s %s"):format(result.model, result.tp, result.hw, result.step), differences)
end
counter:finish()
