--- Options that vLLM sets by itself where others are stated: vllm/engine/arg_utils.py, __post_init__ of vllm/config,
--- vllm/platforms/cuda.py (check_and_update_config). The form of rows: docs/ENGINES.md.
local json = require "rooflua.json"
local states = require "engines.vllm.states"

local implications = {}

local args, config = "vllm/engine/arg_utils.py", "vllm/config/vllm.py, __post_init__"

local function has_ranks(facts) return facts.dp > 1 and facts.model ~= nil and facts.model.moe ~= nil end
local function is_latent(facts) return facts.model ~= nil and facts.model.mla ~= nil end
local function looks_up(facts) return facts.drafter == "free" end
local function has_no_states(facts) return not states.are_in(facts.model) end

--- Tokens of the longest request.
local function longest(facts, own) return own.max_model_len or facts.model and facts.model.max_model_len or 0 end

--- A piecewise mode needs the compiler; other modes stay.
local function without_compiler(_, _, options)
  local mode = options["compilation_config.cudagraph_mode"]
  return (mode == nil or mode == "PIECEWISE" or mode == "FULL_AND_PIECEWISE") and "NONE" or nil
end

--- A budget that is not stated holds a whole prompt where prompts are not cut.
local function of_whole_prompts(facts, own) return math.max(own.max_num_batched_tokens, longest(facts, own)) end

--- Nor does it exceed what all seats can hold.
local function within_seats(facts, own)
  local most = own.max_num_seqs * longest(facts, own)
  return most > 0 and most < own.max_num_batched_tokens and most or nil
end

--- Seats that are not stated do not exceed the budget.
local function within_budget(_, own) return math.min(own.max_num_seqs, own.max_num_batched_tokens) end

--- Whether a document asks for no image and no video.
local function takes_text_alone(_, _, options)
  local ok, limits = pcall(json.decode, options.limit_mm_per_prompt)
  return ok and type(limits) == "table" and limits.image == 0 and limits.video == 0 or nil
end

local function doubled(name)
  return function(_, own) return 2 * own[name] end
end

--- A block size, where the one that holds is no multiple of what kernels take.
local function multiple_of(size, also)
  return function(_, own) return own.block_size % size ~= 0 and own.block_size ~= also and size or nil end
end

local function stated(name)
  return function(_, _, options) return options[name] end
end

implications.rows = {
  { before = "0.16", where = { "VLLM_ALL2ALL_BACKEND" }, fills = true, all2all_backend = stated "VLLM_ALL2ALL_BACKEND",
    source = "vllm/config/parallel.py, __post_init__; pull request 33535 takes it away" },
  { before = "0.15", where = { "VLLM_ATTENTION_BACKEND" }, fills = true,
    attention_backend = stated "VLLM_ATTENTION_BACKEND",
    source = "vllm/config/attention.py and vllm/envs.py; pull request 32812 takes it away" },
  -- Seats and budget.
  { seen = "0.28",
    code = "vllm/engine/arg_utils.py: EngineArgs._set_default_max_num_seqs_and_batched_tokens_args",
    { since = "0.16", where = { performance_mode = "throughput" }, fills = true,
      max_num_batched_tokens = doubled "max_num_batched_tokens", max_num_seqs = doubled "max_num_seqs",
      source = args .. ", _set_default_max_num_seqs_and_batched_tokens_args of 2026" },
    { since = "0.11", where = { enable_chunked_prefill = false }, fills = true,
      max_num_batched_tokens = of_whole_prompts,
      source = args .. ", _set_default_max_num_seqs_and_batched_tokens_args" },
    { since = "0.11", where = { "max_num_seqs" }, fills = true, max_num_batched_tokens = within_seats,
      source = "the same" },
    { since = "0.10", where = { "max_num_batched_tokens" }, fills = true, max_num_seqs = within_budget,
      source = "the same" },
  },
  -- Graphs.
  { since = "0.11", where = { ["compilation_config.mode"] = { "0", "1", "2", "NONE", "STOCK_TORCH_COMPILE",
      "DYNAMO_TRACE_ONCE" } }, ["compilation_config.cudagraph_mode"] = without_compiler,
    seen = "0.28", code = "vllm/config/vllm.py: VllmConfig.__post_init__, cudagraph_mode",
    source = config .. ": piecewise graphs need compilation mode 3" },
  { since = "0.12", where = { optimization_level = { "0", "O0" } }, fills = true,
    ["compilation_config.cudagraph_mode"] = "NONE", seen = "0.28",
    code = "vllm/config/vllm.py: OPTIMIZATION_LEVEL_00", source = "vllm/config/vllm.py, OPTIMIZATION_LEVEL_00" },
  { where = { TORCH_COMPILE_DISABLE = "1" }, since = "0.11", ["compilation_config.cudagraph_mode"] = without_compiler,
    seen = "0.28", code = "vllm/config/vllm.py: VllmConfig.__post_init__, TORCH_COMPILE_DISABLE",
    source = config .. ": the same as compilation mode 0" },
  { since = "0.9.1", where = { all2all_backend = "deepep_high_throughput" }, when = has_ranks,
    ["compilation_config.cudagraph_mode"] = "NONE", seen = "0.28",
    code = "vllm/config/compilation.py: CompilationConfig.set_splitting_ops_for_v1",
    source = "vllm/platforms/cuda.py, later vllm/config/compilation.py, set_splitting_ops_for_v1: no CUDA graphs" },
  -- Steps.
  { since = "0.14", where = {}, when = looks_up, async_scheduling = false, seen = "0.28",
    code = "vllm/config/vllm.py: VllmConfig.__post_init__, async_scheduling",
    source = config .. ": not with look-ups in the prompt" },
  -- Blocks.
  { since = "0.8", where = { attention_backend = "CUTLASS_MLA" }, when = is_latent, block_size = multiple_of(128),
    seen = "0.28", code = "vllm/v1/attention/backends/mla/cutlass_mla.py: get_supported_kernel_block_sizes",
    source = "vllm/platforms/cuda.py, check_and_update_config" },
  { since = "0.8", where = { attention_backend = "FLASHINFER_MLA" }, when = is_latent, block_size = multiple_of(64, 32),
    seen = "0.28", code = "vllm/v1/attention/backends/mla/flashinfer_mla.py: get_supported_kernel_block_sizes",
    source = "the same" },
  { since = "0.8", where = { attention_backend = { "FLASHMLA", "FLASHMLA_SPARSE" } }, when = is_latent,
    block_size = multiple_of(64), seen = "0.28",
    code = "vllm/v1/attention/backends/mla/flashmla.py: get_supported_kernel_block_sizes", source = "the same" },
  { since = "0.9.2", before = "0.22", where = { "kv_transfer_config" }, fills = true, when = has_no_states,
    disable_hybrid_kv_cache_manager = true,
    source = config .. "; pull request 41847 of 2026-05 leaves it on for connectors that support it" },
  { since = "0.9.2", before = "0.19", where = { "kv_events_config" }, fills = true, when = has_no_states,
    disable_hybrid_kv_cache_manager = true,
    source = config .. "; issue 49537: 0.18 turns it off, 0.21 does not; the releases between were not read" },
  { since = "0.12", where = { "limit_mm_per_prompt" }, fills = true, language_model_only = takes_text_alone,
    seen = "0.28", code = "vllm/config/multimodal.py: MultiModalConfig.language_model_only",
    source = "vllm/config/multimodal.py: language_model_only is a limit of 0 for every modality" },
}

--- Whether a model has an index beside compressed attention.
local function of_compressed_index(value, facts)
  for _, kind in ipairs(facts.model and facts.model.attention or {}) do
    if kind.compression and kind.index then return value end
  end
  return nil
end
local no_compressed_index = "no layer has an index beside compressed attention"

implications.options = {
  { "attention_backend", flag = "--attention-backend",
    also = { "attention_config.backend" }, type = "text", read_by = "block_size",
    note = "kernels are those of the tables, whichever back end is chosen", doc = "kernels of the attention" },
  { "attention_config.use_fp4_indexer_cache", since = "0.20", type = "switch", idle = { false },
    read = of_compressed_index, unread = no_compressed_index, read_by = "index_format",
    doc = "entries of the index beside compressed attention in MXFP4" },
  { "attention_config.indexer_kv_dtype", type = "text", idle = { "auto", "bf16", "fp8" },
    values = { "auto", "bf16", "fp8", "mxfp4", "nvfp4" }, read = of_compressed_index, unread = no_compressed_index,
    read_by = "index_format", doc = "their format, in newer releases" },
  { "VLLM_ATTENTION_BACKEND", before = "0.15", variable = true, type = "text", read_by = "attention_backend",
    doc = "the same in older releases" },
  { "VLLM_ALL2ALL_BACKEND", before = "0.16", variable = true, type = "text", read_by = "all2all_backend",
    doc = "how tokens reach experts of other ranks, in older releases" },
  { "TORCH_COMPILE_DISABLE", variable = true, type = "text", read_by = "compilation_config.cudagraph_mode",
    idle = { "0" }, doc = "nothing is compiled" },
  { "compilation_config.mode", also = { "compilation_config.level" }, type = "text",
    idle = { "3", "VLLM_COMPILE" }, read_by = "compilation_config.cudagraph_mode",
    note = "what is compiled is the engine's default", doc = "which compiler" },
  { "compilation_config.full_cuda_graph", since = "0.9", before = "0.12", type = "switch", idle = { false },
    read_by = "piecewise_layer_s", doc = "a step of decodes is one CUDA graph" },
  { "optimization_level", flag = "--optimization-level", also = { "-O" }, type = "text", idle = { "2", "O2" },
    read_by = "compilation_config.cudagraph_mode", note = "what is compiled is the engine's default",
    doc = "how much is compiled and captured" },
  { "performance_mode", flag = "--performance-mode", type = "text", idle = { "balanced" }, since = "0.16",
    values = { "balanced", "interactivity", "throughput" }, read_by = "max_num_seqs",
    says = function(mode)
      return mode == "interactivity" and "what is compiled and captured is the engine's default" or nil
    end, doc = "throughput doubles seats and budget that are not stated" },
  { "kv_events_config", flag = "--kv-events-config", type = "json", read_by = "layer_groups",
    doc = "what reports blocks of the cache" },
  { "disable_hybrid_kv_cache_manager", flag = "--disable-hybrid-kv-cache-manager", negates = true, type = "switch",
    read_by = "layer_groups", doc = "all layers keep as much as those with full attention" },
}

return implications
