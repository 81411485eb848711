--- Options that TensorRT-LLM sets by itself where others are stated, and keys of the YAML file of older releases. The
--- form of rows: docs/ENGINES.md.
--- Source: tensorrt_llm/_torch/pyexecutor/config.py of 0.17 to 0.20 (PyTorchConfig, the group pytorch_backend_config);
--- pull request 4603 puts its keys at the top, later ones into groups of their own.
local flags = require "engines.rules.flags"

local implications = {}

local group = "pytorch_backend_config."
local of_group, of_top = "0.21.0", "1.0.0" -- the releases that have these keys no more

local function negated(on) return not on end
local function sizes_off(on) return not on and 0 or nil end
local function above_zero(size) return size > 0 and size or nil end

--- Keys that have another name since: {name, type, new name, fun(value) -> value, release without it}.
local renamed = {
  { "use_cuda_graph", "switch", "cuda_graph_config.max_batch_size", sizes_off },
  { "cuda_graph_batch_sizes", "list", "cuda_graph_config.batch_sizes" },
  { "cuda_graph_max_batch_size", "integer", "cuda_graph_config.max_batch_size", above_zero },
  { "enable_overlap_scheduler", "switch", "disable_overlap_scheduler", negated, "0.20.0" },
  { "moe_backend", "text", "moe_config.backend" },
  { "kv_cache_dtype", "text", "kv_cache_config.dtype" },
}

local function looks_up(facts) return facts.drafter == "free" end

local function option(name, kind, now, before)
  return { name, type = kind, items = kind == "list" and "integer" or nil, before = before, read_by = now,
    doc = now .. " of older releases" }
end

local function follows(name, now, change, before)
  return { before = before, where = { name }, fills = true, [now] = function(_, _, options)
    local value = options[name]
    if change then return change(value) end
    return value
  end, source = "tensorrt_llm/_torch/pyexecutor/config.py; pull request 4603" }
end

implications.rows, implications.options = {}, {}

local function add(name, kind, now, change, before)
  table.insert(implications.options, option(name, kind, now, before))
  table.insert(implications.rows, follows(name, now, change, before))
end

for _, each in ipairs(renamed) do
  add(group .. each[1], each[2], each[3], each[4], each[5] or of_group)
  add(each[1], each[2], each[3], each[4], each[5] or of_top)
end
add(group .. "disable_overlap_scheduler", "switch", "disable_overlap_scheduler", nil, of_group)

table.insert(implications.rows, { where = {}, when = looks_up, disable_overlap_scheduler = true,
  code = "tensorrt_llm/_torch/speculative/interface.py: SpeculativeDecodingMode.support_overlap_scheduler",
  source = "tensorrt_llm/_torch/pyexecutor/py_executor_creator.py: not for drafts that are looked up in the prompt" })

--- Those without effect, and those that are not modelled.
local function plain(before, prefix)
  local function named(text) return (text:gsub("([%a_]+)(:?%a?)", prefix .. "%1%2<" .. before)) end
  return flags.list {
    spelled = function(each) each.flag = nil end,
    without_effect = named [[ cuda_graph_padding_enabled autotuner_enabled mixed_sampler enable_trtllm_sampler
      enable_trtllm_decoder ]] .. (prefix ~= "" and named [[ print_iter_log enable_iter_perf_stats
      enable_iter_req_stats enable_layerwise_nvtx_marker load_format:t ]] or ""),
    not_modelled = {
      { "what is compiled is the engine's default", named [[ torch_compile_enabled torch_compile_fullgraph
        torch_compile_inductor_enabled torch_compile_piecewise_cuda_graph torch_compile_enable_userbuffers ]] },
      { "kernels are those of the tables, whichever back end is chosen",
        prefix ~= "" and named "attn_backend:t enable_min_latency allreduce_strategy:t stream_interval:i" or "" },
      { "experts are balanced as `experts` says", named "moe_load_balancer:t moe_max_num_tokens:i" },
    },
  }
end

implications.flags = flags.joined(plain(of_group, group), plain(of_top, ""))

return implications
