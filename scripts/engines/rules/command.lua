--- What options of several engines mean, as `read` and `says` of their tables.
local command = {}

local formats = { bfloat16 = "bf16", float16 = "fp16", fp8_ds_mla = "fp8", fp8_inc = "fp8",
  nvfp4_4over6 = "nvfp4", fp4_e2m1 = "nvfp4" }

--- The format of a KV cache by the name that engines give it; nil leaves it to the model.
function command.kv_format(name)
  if name == "auto" then return nil end
  return formats[name] or name
end

--- Whether a checkpoint is in 16 bits, so that the engine quantises it.
local function is_plain(facts)
  for _, format in pairs(facts.own_formats or {}) do
    if format ~= "bf16" and format ~= "fp16" and format ~= "fp32" then return false end
  end
  return true
end

--- Into what engines quantise weights of 16 bits at start. Source: vllm/config/quantization.py, _ONLINE_SHORTHANDS;
--- vllm/model_executor/layers/quantization: bitsandbytes (nf4), rtn (8 bits), ptpc_fp8; SGLang's w8a8_fp8.
local at_start = { fp8 = "fp8", fp8_per_tensor = "fp8", fp8_per_channel = "fp8", ptpc_fp8 = "fp8", w8a8_fp8 = "fp8",
  fp8_per_block = "fp8_block", mxfp8 = "mxfp8", rtn = "int8", bitsandbytes = "int4" }
local of_experts = { int8_per_channel_weight_only = true, experts_int8 = true, nvfp4_per_token = true }

--- The format of weights that an engine quantises at start. A checkpoint that is quantised keeps its own.
function command.quantised_at_start(name, facts)
  return is_plain(facts) and at_start[name] or nil
end

function command.quantisation_note(name)
  if at_start[name] then return nil end
  if of_experts[name] then
    return "experts that are quantised at start are counted in the format of the checkpoint that is named"
  end
  return "weights are in the format of the checkpoint that is named"
end

--- The largest of the sizes of CUDA graphs.
function command.largest(sizes) return #sizes > 0 and math.max(unpack(sizes)) or nil end

--- Tokens of a CUDA graph of so many requests, each with its drafts.
function command.tokens_of_requests(requests, facts) return requests * (1 + (facts.drafts or 0)) end

--- Tokens of the largest CUDA graph of a list of sizes in requests.
function command.largest_of_requests(sizes, facts)
  local most = command.largest(sizes)
  return most and command.tokens_of_requests(most, facts)
end

--- What an option of context parallel says where the deployment has such ranks; nil, and a sentence, elsewhere.
function command.with_dcp(value, facts) return facts.dcp > 1 and value or nil end
function command.with_cp(value, facts) return facts.cp > 1 and value or nil end
command.no_dcp = "it changes nothing without ranks of dcp"
command.no_cp = "it divides no prompt without ranks of cp"

--- What is said of options whose values change nothing (`unread`).
command.own_kernels = "kernels are those of the tables, whichever back end is chosen"
command.own_exchange = "the exchange of tokens among experts is that of the engine's default"

--- A reader of values that mean something by a table; others leave the key open.
function command.meaning(by_value)
  return function(value) return by_value[tostring(value):lower()] end
end

return command
