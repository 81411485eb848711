--- The options in vLLM's start-up log and its configuration (VllmConfig.__str__), by release, and figures of its lines.
-- Read at the same commits as startup.lua. Members of compilation_config that no option here changes are left out.
local config = {}

function config.is_latent(facts) return facts.model ~= nil and facts.model.mla ~= nil end

local gib = 2 ^ 30
local quantisation = { fp8 = "fp8", mxfp4 = "mxfp4", nvfp4 = "modelopt_fp4", awq = "awq_marlin", gptq = "gptq_marlin",
  int4 = "compressed-tensors" }

--- Tokens of the captured graphs, as a list in Python: 1, 2, 4, then steps of 8, above 256 of `step`.
local function captured(most, step)
  local out = {}
  for _, each in ipairs { 1, 2, 4 } do out[#out + 1] = each <= most and each or nil end
  for each = 8, math.min(most, 256), 8 do out[#out + 1] = each end
  for each = 256 + step, most, step do out[#out + 1] = each end
  return out
end

--- Tokens of the largest graph: two for each row of a decode step, from the release on that says so.
local function most_captured(all, facts)
  if not all.graphs then return 0 end
  local is_stated = facts.is_stated "max_cudagraph_capture_size" or not all.captures_seats
  return is_stated and all.largest_graph or math.min(all.largest_graph, 2 * facts.seats * (1 + (facts.drafts or 0)))
end

local function reversed(list)
  local out = {}
  for i = #list, 1, -1 do out[#out + 1] = list[i] end
  return out
end

local function rounded(value) return math.floor(value * 10000 + 0.5) / 10000 end

--- '['A', 'B']', as this release prints back ends that may run.
local function candidates(all)
  local names = {}
  for i, each in ipairs(all.backends or {}) do names[i] = "'" .. each .. "'" end
  return all.open .. table.concat(names, ", ") .. all.close
end

--- Two decimals, or as round() prints them.
local function memory_text(bytes, all)
  local text = ("%.2f"):format(bytes / gib)
  if not all.rounds then return text end
  return (text:gsub("0$", ""))
end

local function add_error_words(all)
  all.request_text, all.kv_text = memory_text(all.request, all), memory_text(all.kv, all)
  local longest = all.longest > 0 and ("Based on the available memory, the estimated maximum model length is %.0f. ")
    :format(all.longest) or ""
  all.estimate = all.cuts_estimate and (all.longest > 0 and " Based on the available memory," or "") .. "  "
    or " " .. longest
end

local function speculative(facts)
  if not facts.drafts then return "None" end
  return ("SpeculativeConfig(method='%s', model=None, num_spec_tokens=%d)"):format(
    facts.drafter == "free" and "ngram" or facts.drafter, facts.drafts)
end

--- More figures.
function config.figures(all, facts, stated)
  local values = facts.values
  all.v0, all.cuda = values.generation == "V0", all.backend ~= nil
  all.runner = all.v0 and "model_runner" or "gpu_model_runner"
  all.compiles = all.graphs and not all.v0 -- the same option turns both off
  all.dynamo_s, all.inductor_s = all.compile_s * 0.25, all.compile_s * 0.75
  all.stated_kv = (values.kv_cache_memory_bytes or 0) > 0
  all.chunked = values.enable_chunked_prefill ~= false and (not all.v0 or values.enable_chunked_prefill == true)
  all.stated_backend = stated.attention_backend ~= nil
  all.backend = stated.attention_backend or all.backend
  all.backend_words = stated.attention_backend and all.backend or all.backend_words
  all.backend_enum = all.backend and "AttentionBackendEnum." .. all.backend
  all.candidates = candidates(all)
  all.graph_bytes = all.graph_bytes > 0 and all.graph_bytes or nil
  local without = (all.graph_bytes or 0) / all.total
  all.share_without, all.share_with = rounded(all.share - without), math.min(1, rounded(all.share + without))
  all.free_first = all.total - all.runtime
  all.override = facts.blocks
  all.profiled_blocks = all.block_bytes > 0 and math.max(0, math.floor(all.kv / all.block_bytes)) or 0
  all.all_ranks = all.world * all.dp
  all.cpu_blocks = math.floor(4 * gib / (all.kv / math.max(1, all.blocks)))
  all.init_s = all.profile_s + (all.compiles and all.compile_s or 0) + (all.graphs and all.capture_s or 0)
  local sizes = captured(most_captured(all, facts), all.capture_step)
  all.sizes, all.sizes_down = table.concat(sizes, ", "), table.concat(reversed(sizes), ",")
  all.most_captured = sizes[#sizes] or 0
  all.quantization_word = stated.quantization or quantisation[facts.counts.weights] or "None"
  all.level = all.compiles and 3 or 0
  all.mode, all.graph_mode = all.compiles and "VLLM_COMPILE: 3" or "NONE: 0", all.graphs and "FULL_AND_PIECEWISE: "
      .. "(2, 1)"
    or "NONE: 0"
  all.speculative = speculative(facts.resolved.facts)
  all.kv_dtype = stated.kv_cache_dtype or "auto"
  all.eager, all.prefix_caching = not all.graphs, all.prefix_caching == true
  all.failed = "{}"
  add_error_words(all)
end

--- Values of figures above by release.
config.values = {
  { logo_at = "utils.py:299", args_at = "utils.py:233", source = "vllm/entrypoints/utils.py at 384e4d5f" },
  { before = "0.10.1", args_at = "cli_args.py:261", source = "vllm/entrypoints/openai/cli_args.py of 0.10.0" },
  { since = "0.23", logo_at = "api_utils.py:339", args_at = "api_utils.py:273",
    source = "vllm/entrypoints/serve/utils/api_utils.py at 0a3e2dbc" },
  { capture_step = 8, source = "vllm/config.py of 0.8.5, _set_cudagraph_sizes" },
  { since = "0.11.1", capture_step = 16, captures_seats = true, source = "pull request 26016 of 2025-10-24" },
  { open = "[", close = "]", source = "pull request 29337 of 2025-11-25" },
  { since = "0.13", open = "(", close = ")", source = "pull request 29903 of 2025-12-13: a tuple" },
  { since = "0.16", open = "[", close = "].", source = "pull request 33570 of 2026-02-02" },
  { since = "0.14", rounds = true, source = "pull request 29493 of 2026-01-06: format_gib" },
  { before = "0.9", cuts_estimate = true, source = "vllm/v1/core/kv_cache_utils.py of 0.8.5: half of a sentence" },
  { models_word = "models's", source = "the same" },
  { since = "0.22", models_word = "model's", source = "pull request 42479 of 2026-05-15" },
  { cpu_word = "", no_memory_more = ".", length_more = "", pcp_word = "", source = "the same, of 0.8.5" },
  { since = "0.14", no_memory_more = ". See https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for "
      .. "more details.", length_more = " See https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for "
      .. "more details.", source = "the same at 8471b27d" },
  { since = "0.22", cpu_word = " (which also controls CPU memory on the CPU backend)",
    no_memory_more = " (this flag also controls CPU memory reservation on the CPU backend, despite its name). See "
        .. "https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for more details.",
      source = "pull request 42479 of 2026-05-15" },
  { since = "0.29", assumed = "its wording is that of 0.28; later ones were not read", source = "at 017e9f44" },
  { ep_word = "", source = "vllm/distributed/parallel_state.py of 0.8.5" },
  { since = "0.9", ep_word = ", EP rank {ep_rank}", source = "the same of 0.10.0" },
  { since = "0.12", pcp_word = "PCP rank 0, ", source = "the same at 3461e7ef" },
  { since = "0.21", ep_word = ", EP rank {ep_rank}, EPLB rank N/A", source = "the same at 0a3e2dbc" },
}

--- Options in the order of `non-default args`, and values at which the parser leaves them.
config.named = {
  of_server = { "tool_call_parser", "host", "port", "api_key" },
  order = "tool_call_parser host port api_key trust_remote_code load_format dtype max_model_len quantization "
    .. "enforce_eager "
    .. "served_model_name reasoning_parser attention_backend pipeline_parallel_size "
      .. "tensor_parallel_size prefill_context_parallel_size decode_context_parallel_size data_parallel_size "
      .. "enable_expert_parallel all2all_backend block_size gpu_memory_utilization kv_cache_memory_bytes "
      .. "kv_cache_dtype num_gpu_blocks_override enable_prefix_caching enable_lora max_loras max_lora_rank "
      .. "max_cpu_loras max_num_batched_tokens max_num_seqs long_prefill_token_threshold enable_chunked_prefill "
      .. "async_scheduling speculative_config max_cudagraph_capture_size compilation_config",
  defaults = { dtype = "auto", tensor_parallel_size = 1, pipeline_parallel_size = 1, data_parallel_size = 1,
    decode_context_parallel_size = 1, enforce_eager = false, kv_cache_dtype = "auto", enable_expert_parallel = false,
    enable_lora = false, max_loras = 1, max_lora_rank = 16, long_prefill_token_threshold = 0 },
}

config.config = { between = ", ", bare = true, rows = {
  { "model", "{model|repr}" }, { "speculative_config", "{speculative}" }, { "tokenizer", "{model|repr}" },
  { "skip_tokenizer_init", "False" }, { "tokenizer_mode", "auto" }, { "revision", "None" },
  { "override_neuron_config", "None", since = "0.6.6", before = "0.12" },
  { "tokenizer_revision", "None" }, { "trust_remote_code", "False" }, { "dtype", "torch.{dtype}" },
  { "max_seq_len", "{max_model_len}" }, { "download_dir", "None" }, { "load_format", "auto" },
  { "tensor_parallel_size", "{tp}" }, { "pipeline_parallel_size", "{pp}" },
  { "data_parallel_size", "{dp}", since = "0.11" },
  { "decode_context_parallel_size", "{dcp}", since = "0.21" }, { "dcp_comm_backend", "ag_rs", since = "0.18" },
  { "disable_custom_all_reduce", "False" }, { "quantization", "{quantization_word}" },
  { "quantization_config", "None", since = "0.24" }, { "enforce_eager", "{eager|repr}" },
  { "enable_return_routed_experts", "False", since = "0.14" }, { "kv_cache_dtype", "{kv_dtype}" },
  { "device_config", "cuda" }, { "structured_outputs_config", "StructuredOutputsConfig(backend='auto')",
    since = "0.11" },
  { "decoding_config", "DecodingConfig(guided_decoding_backend='auto')", before = "0.11" },
  { "observability_config", "ObservabilityConfig(otlp_traces_endpoint=None)" }, { "seed", "0" },
  { "served_model_name", "{served}" }, { "num_scheduler_steps", "1", since = "0.6", before = "0.10" },
  { "multi_step_stream_outputs", "True", since = "0.6.4", before = "0.10" },
  { "enable_prefix_caching", "{prefix_caching|repr}" }, { "chunked_prefill_enabled", "{chunked|repr}",
    before = "0.12" },
  { "enable_chunked_prefill", "{chunked|repr}", since = "0.12" },
  { "use_async_output_proc", "True", before = "0.12" }, { "pooler_config", "None" },
  { "compilation_config", '{"level":{level},"cudagraph_capture_sizes":[{sizes_down}],"max_capture_size":'
      .. "{most_captured}}", since = "0.6.6", before = "0.11.1" },
  { "compilation_config", "{'mode': <CompilationMode.{mode}>, 'cudagraph_mode': <CUDAGraphMode.{graph_mode}>, "
      .. "'cudagraph_capture_sizes': [{sizes}], 'max_cudagraph_capture_size': {most_captured}}", since = "0.11.1" },
  { "kernel_config", "KernelConfig()", since = "0.19" },
} }

return config
