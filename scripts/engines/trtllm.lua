--- TensorRT-LLM: what `trtllm-serve` takes, the settings that it reads from a YAML file, and what its releases do. Its
--- tp counts the ranks of the attention's data parallelism as well; its memory fraction is that of what weights leave.
--- The form of this file: docs/ENGINES.md.
local command = require "engines.rules.command"
local flags = require "engines.rules.flags"
local memory = require "engines.trtllm.memory"
local tiers = require "engines.trtllm.tiers"

local decoding_types = { MTP = "mtp", NGRAM = "free", EAGLE = "eagle", EAGLE3 = "eagle", DRAFT_TARGET = "draft_model",
  DFLASH = "block_parallel", DSPARK = "block_parallel" }

--- The drafter of the YAML file.
local function drafts_of(options)
  local method = options["speculative_config.decoding_type"]
  if method == nil then return nil end
  local drafter = decoding_types[method:upper()]
  return { drafter = drafter, method = method,
    parameters = drafter == "block_parallel" and { layers = 5 } or nil, -- published DFlash checkpoints: 5 to 8
    draft_tokens = options["speculative_config.max_draft_len"]
      or options["speculative_config.num_nextn_predict_layers"],
    model = options["speculative_config.speculative_model"] }
end

--- The back end TRTLLM runs experts in FP8 blocks on Blackwell by kernels that FlashInfer gives to vLLM, too.
local function experts_of(backend, facts)
  local is_blackwell = facts.hardware and facts.hardware.architecture == "blackwell"
  return backend == "TRTLLM" and is_blackwell and facts.weights == "fp8_block" and "vllm" or nil
end

return {
  name = "trtllm",
  title = "TensorRT-LLM",
  aliases = { "tensorrt-llm", "tensorrt_llm", "tensorrt llm", "tensorrtllm", "trt-llm", "trt_llm", "trt llm" },
  releases = { { "0.9.0", "2024-04-15" }, { "0.20.0", "2025-06-19" }, { "0.21.0", "2025-08-04" },
    { "1.0.0rc3", "2025-07-16" }, { "1.0.0", "2025-09-24" }, { "1.1.0rc5", "2025-09-17" }, { "1.2.0rc0", "2025-09-30" },
    { "1.2.0rc1", "2025-10-22" }, { "1.2.0rc2", "2025-11-07" }, { "1.2.0rc3", "2025-11-21" },
    { "1.3.0rc1" }, { "1.3.0rc10" }, { "1.3.0rc20", "2026-06-30" }, { "1.3.0rc24" }, { "1.3.0rc27" }, { "1.3.0" },
    { "1.4.0rc1", "2026-10-22" }, { "1.4.0rc4" } },
  seen = "1.3.0",
  tables = { name = "trtllm", libraries = "own", lends = 3 },
  memory = memory,
  log = function() return require "engines.trtllm.log" end,
  profile = function() return require "engines.trtllm.profile" end,
  metrics = function() return require "engines.trtllm.metrics" end,
  tiers = tiers.of,
  host_memory = tiers.host_memory,

  command = "trtllm-serve",
  starts = { "trtllm-serve serve", "trtllm-serve" },
  positional = true,
  variable_prefixes = { "TRTLLM_", "TLLM_" },
  oldest_command = "1.0.0",
  image = "nvcr.io/nvidia/tensorrt-llm/release:%s",
  port = 8000,
  startup = function() return require "engines.trtllm.startup" end,
  model = "",
  model_flags = {},
  host = { "--host", "--port" },
  source = "TensorRT-LLM documentation, trtllm-serve (--config and --extra_llm_api_options are one option by 1.3) and "
    .. "LLM API options; tensorrt_llm/commands/serve.py",
  kv_names = { fp8 = "fp8", bf16 = "auto", fp16 = "auto", nvfp4 = "nvfp4" },
  weight_options = {},
  counts_all_ranks = { "tp" },
  no_split = "a disaggregated cluster of TensorRT-LLM takes a configuration of its own",
  speculation = {
    mtp = { source = "TensorRT-LLM docs/source/features/speculative-decoding.md, 1.3; examples of 1.0.0: "
        .. "num_nextn_predict_layers",
      before = { release = "1.3.0", options = function(drafts)
        return { ["speculative_config.decoding_type"] = "MTP",
          ["speculative_config.num_nextn_predict_layers"] = drafts }
      end },
      options = function(drafts)
        return { ["speculative_config.decoding_type"] = "MTP", ["speculative_config.max_draft_len"] = drafts }
      end },
    free = { source = "TensorRT-LLM docs/source/features/speculative-decoding.md, NGram: its example disables the "
        .. "overlap scheduler and matches four tokens; some releases match none by default",
      not_async = "TensorRT-LLM looks up drafts in the prompt without its overlap scheduler",
      options = function(drafts)
        return { ["speculative_config.decoding_type"] = "NGram", ["speculative_config.max_draft_len"] = drafts,
          ["speculative_config.max_matching_ngram_size"] = 4 }
      end },
  },
  drafts = drafts_of,
  --- Keys of the YAML file whose null says something: {option, value}.
  nulls = { cuda_graph_config = { "cuda_graph_config.max_batch_size", 0 } },

  options = function() return flags.joined({
    { "backend", parameter = "backend", flag = "--backend", type = "text", idle = { "pytorch" },
      note = "only the PyTorch backend is modelled", elsewhere = "only the PyTorch backend is modelled",
      doc = "which runtime runs the model" },
    { "tp_size", parameter = "tp", flag = "--tp_size", also = { "--tensor_parallel_size", "tensor_parallel_size" },
      type = "integer", min = 1, key = "deployment.tp", read = function(all, facts) return all / facts.dp end,
      doc = "GPUs of an engine, all ranks of the attention" },
    { "pp_size", parameter = "pp", flag = "--pp_size", also = { "--pipeline_parallel_size", "pipeline_parallel_size" },
      type = "integer", min = 1, key = "deployment.pp", doc = "stages of layers" },
    { "ep_size", parameter = "ep", flag = "--ep_size",
      also = { "--moe_expert_parallel_size", "moe_expert_parallel_size" }, type = "integer", min = 1,
      key = "deployment.ep", doc = "ranks with whole experts" },
    { "max_batch_size", parameter = "max_num_seqs", flag = "--max_batch_size", type = "integer", min = 1,
      key = "scheduler.max_num_seqs", doc = "most requests in a step, of one rank" },
    { "max_num_tokens", parameter = "max_num_batched_tokens", flag = "--max_num_tokens", type = "integer", min = 1,
      key = "scheduler.max_num_batched_tokens", doc = "most tokens in a step, of one rank" },
    { "max_seq_len", parameter = "max_model_len", flag = "--max_seq_len", type = "integer", min = 1,
      key = "deployment.max_model_len", doc = "longest request" },
    { "kv_cache_config.free_gpu_memory_fraction", parameter = "free_fraction",
      flag = "--kv_cache_free_gpu_memory_fraction", also = { "--free_gpu_memory_fraction" }, type = "number",
      min = 0.01, max = 1, memory = "free",
      key = "deployment.memory_utilization", doc = "share of what weights and activations leave for the KV cache" },
    { "extra_llm_api_options", flag = "--extra_llm_api_options", type = "text",
      file = "options", written_before = "1.3.0", elsewhere = "say the options themselves", doc = "the YAML file" },
    { "config", flag = "--config", since = "1.2.0rc0", written_since = "1.3.0",
      type = "text", file = "options", elsewhere = "say the options themselves", doc = "the YAML file" },
    { "fail_fast_on_attention_window_too_large", flag = "--fail_fast_on_attention_window_too_large", type = "switch",
      read_by = "applied.ledger", doc = "the engine stops where its KV cache does not hold the longest request" },
    { "enable_attention_dp", parameter = "dp_attention", type = "switch", key = "deployment.dp",
      read = function(on, _, values) return on and values.tp_size or 1 end,
      doc = "every rank has its own requests in the attention" },
    { "enable_chunked_prefill", parameter = "chunked", also = { "--enable_chunked_prefill" }, type = "switch",
      key = "scheduler.enable_chunked_context", doc = "prompts that exceed the budget are cut" },
    { "disable_overlap_scheduler", parameter = "async", inverted = true, type = "switch", key = "async_depth",
      read = function(off) return off and 1 or 2 end, doc = "no step is planned while one runs" },
    { "kv_cache_config.enable_block_reuse", parameter = "prefix_caching", type = "switch",
      key = "deployment.prefix_caching", doc = "equal prefixes share KV blocks" },
    { "kv_cache_config.enable_partial_reuse", type = "switch", key = "deployment.partial_reuse",
      doc = "they share a part of a block, too, which is copied" },
    { "kv_cache_config.dtype", parameter = "kv", also = { "--kv_cache_dtype" }, type = "text", key = "deployment.kv",
      values = { "auto", "bf16", "bfloat16", "float16", "fp8", "fp8_ds_mla", "nvfp4" }, read = command.kv_format,
      doc = "format of keys and values" },
    { "kv_cache_config.tokens_per_block", parameter = "block_size", type = "integer", min = 1,
      key = "deployment.block_size", doc = "tokens of a KV block" },
    { "kv_cache_config.max_tokens", type = "integer", min = 1, key = "engine.most_kv_blocks",
      read = function(tokens, _, values)
        return math.ceil(tokens / values["kv_cache_config.tokens_per_block"])
      end, doc = "most tokens of the KV cache" },
    { "kv_cache_config.use_kv_cache_manager_v2", type = "switch", unstated = { "auto" }, read_by = "applied.ledger",
      doc = "the second version of the KV cache, in which windows have pools of their own" },
    { "kv_cache_config.max_gpu_total_bytes", type = "integer", min = 0, read_by = "engines.ledger",
      doc = "most bytes of the KV cache of a GPU; 0: no limit" },
    { "cuda_graph_config.max_batch_size", type = "integer", min = 0, key = "steps.largest_graph",
      read = command.tokens_of_requests, doc = "requests of the largest CUDA graph" },
    { "cuda_graph_config.batch_sizes", type = "list", items = "integer", key = "steps.largest_graph",
      read = command.largest_of_requests, doc = "requests of the CUDA graphs" },
    { "torch_compile_config.capture_num_tokens", type = "list", items = "integer",
      key = "steps.largest_prefill_graph", read = command.largest,
      doc = "tokens of the piecewise CUDA graphs, in which prompts run" },
    { "prefill_cuda_graph_backend", since = "1.3.0rc24", type = "text",
      values = { "disabled", "piecewise", "breakable" }, read_by = "prefill_capture_num_tokens",
      doc = "which CUDA graphs prompts run in" },
    { "prefill_capture_num_tokens", since = "1.3.0rc24", type = "list", items = "integer",
      key = "steps.largest_prefill_graph",
      read = function(sizes, _, values)
        return values.prefill_cuda_graph_backend ~= "disabled" and command.largest(sizes) or nil
      end, unread = "prompts run outside of CUDA graphs", doc = "tokens of these graphs" },
    { "moe_config.backend", type = "text", idle = { "AUTO" }, key = "steps.experts_kernels", read = experts_of,
      unread = command.own_kernels, doc = "whose kernels run the experts" },
    { "TRTLLM_FORCE_COMM_METHOD", variable = true, type = "text", key = "steps.exchange",
      read = command.meaning { nvlink_one_sided = "nvlink_one_sided", nvlink_two_sided = "nvlink_two_sided",
        deepep = "deepep", deepeplowlatency = "deepep", allgather = "gathered" },
      unread = command.own_exchange, doc = "how tokens reach experts of other ranks" },
    { "TRTLLM_ENABLE_PDL", variable = true, type = "text", read_by = "launches_apart",
      doc = "a kernel is launched before the one in front of it ends" },
    { "batch_wait_timeout_iters", type = "integer", min = 0, key = "scheduler.batch_wait_timeout_iters",
      doc = "steps that prompts wait for others" },
    { "batch_wait_max_tokens_ratio", type = "number", min = 0, max = 1, key = "scheduler.batch_wait_max_tokens_ratio",
      doc = "part of the budget at which prompts wait no longer" },
    { "scheduler_config.capacity_scheduler_policy", type = "text", key = "scheduler.capacity_scheduler_policy",
      values = { "GUARANTEED_NO_EVICT", "MAX_UTILIZATION", "STATIC_BATCH" }, read = string.lower,
      says = function(name)
        return name == "MAX_UTILIZATION" and "a request that is paused computes its KV again; TensorRT-LLM 1.4 keeps "
          .. "it in the host's memory" or nil
      end,
      doc = "which requests may run: those that fit until they end, or those that fit now" },
    { "scheduler_config.context_chunking_policy", type = "text", key = "scheduler.context_chunking_policy",
      values = { "FIRST_COME_FIRST_SERVED", "EQUAL_PROGRESS", "FORCE_CHUNK" },
      read = function(name) return name ~= "FORCE_CHUNK" and name:lower() or nil end,
      unread = "prompts get the tokens of a step in the order in which they came",
      doc = "which prompts get the tokens of a step" },
    { "attention_dp_config.enable_balance", type = "switch", key = "scheduler.attention_dp_balance",
      doc = "prompts wait until every rank has one" },
    { "attention_dp_config.timeout_iters", type = "integer", min = 1, key = "scheduler.attention_dp_timeout_iters",
      doc = "most steps that they wait" },
    { "attention_dp_config.batching_wait_iters", type = "integer", min = 0,
      key = "scheduler.attention_dp_batching_wait_iters", doc = "steps that collect further prompts" },
    { "speculative_config.decoding_type", type = "text", drafts = true, elsewhere = "say `speculation`",
      doc = "which drafter" },
    { "speculative_config.max_draft_len", type = "integer", min = 0, drafts = true, elsewhere = "say `speculation`",
      doc = "drafts of a request" },
    { "speculative_config.num_nextn_predict_layers", type = "integer", min = 0, drafts = true,
      elsewhere = "say `speculation`", doc = "the same of multi-token prediction" },
    { "speculative_config.max_matching_ngram_size", type = "integer", min = 0, drafts = true,
      elsewhere = "say `speculation`", doc = "tokens that a look-up matches" },
    { "speculative_config.speculative_model", also = { "speculative_config.speculative_model_dir" }, type = "text",
      drafts = true, elsewhere = "say `speculation`", doc = "a drafter of its own" },
    { "speculative_config", type = "json", note = "drafts are made and accepted as `speculation` says",
      elsewhere = "say `speculation`", doc = "drafts of a step" },
  }, require("engines.trtllm.implications").options, require("engines.trtllm.implications").flags, tiers.options,
    require "engines.trtllm.flags")() end,

  implies = function() return require("engines.trtllm.implications").rows end,

  rules = function() return {
    require "engines.trtllm.encoder",
    { scheduler = "trtllm", max_batch_size = 2048, max_num_tokens = 8192, ["kv_cache_config.tokens_per_block"] = 32,
      disable_overlap_scheduler = false, ["cuda_graph_config.max_batch_size"] = 128,
      batch_wait_timeout_iters = 0, batch_wait_max_tokens_ratio = 0, seen = "1.4.0rc4",
      code = "tensorrt_llm/llmapi/llm_args.py: BaseLlmArgs, TorchLlmArgs, BaseCudaGraphConfig",
      source = "tensorrt_llm/llmapi/llm_args.py; the same in main of 2026-09" },
    { ["kv_cache_config.free_gpu_memory_fraction"] = 0.9, ["kv_cache_config.dtype"] = "auto",
      ["kv_cache_config.enable_block_reuse"] = true, ["kv_cache_config.enable_partial_reuse"] = true,
      enable_chunked_prefill = false, seen = "1.4.0rc4",
      code = "tensorrt_llm/llmapi/llm_args.py: KvCacheConfig, TorchLlmArgs",
      source = "tensorrt_llm/llmapi/llm_args.py" },
    { before = "1.0.0rc0", ["kv_cache_config.enable_block_reuse"] = false, own_sampling = false,
      ["kv_cache_config.tokens_per_block"] = 64,
      source = "the C++ runtime of 2024: reuse of KV blocks is off by default" },
    { before = "0.19.0", ["kv_cache_config.enable_partial_reuse"] = false,
      source = "docs/source/advanced/kv-cache-reuse.md of 0.17: only full blocks are shared" },
    { when = function(facts) return facts.role == "decode" end, chunk_unit_size = 1,
      source = "a prompt whose keys and values have arrived needs one token of the step, not a block of them" },
    { handover_s = 10e-6, fitted = true,
      source = "assumed: the latency of a message; TTFT shows no more: docs/records/fitted.md, \"Handing over\"" },
    { split_front_ends = 2, split_texts = 1,
      code = "tensorrt_llm/serve/openai_disagg_service.py: OpenAIDisaggregatedService",
      source = "tensorrt_llm/serve/openai_disagg_server.py, later openai_disagg_service.py: prompt_token_ids "
        .. "of the first go to the second" },
    { before = "0.14", max_batch_size = 256, source = "pull requests 1763 (256) and 2253 (2,048)" },
    { router = "trtllm_dp", dp_padding = "vllm",
      code = "tensorrt_llm/_torch/pyexecutor/scheduler/adp_router.py: DefaultADPRouter",
      source = "_torch/pyexecutor/scheduler/adp_router.py; before 1.3 "
        .. "executor_request_queue.py" },
    { before = "1.0.0", router = "trtllm_dp_new_tokens",
      source = "pull request 6061: tokens of requests that run count, too" },
    { pipeline_steps = function(facts) return facts.pp end,
      code = "tensorrt_llm/_torch/pyexecutor/py_executor.py: PyExecutor.__init__, num_micro_batches",
      source = "_torch/pyexecutor/py_executor.py: num_micro_batches of _executor_loop_pp. Pull request 10349 of "
        .. "2026-01 makes it 1,024 and more where tokens go between stages asynchronously, which 16170 of 2026-07 "
        .. "turns off again: which candidates of 1.3 lie between was not read" },
    { own_sampling = false, sorted_logit_s = 0, seen = "1.4.0rc4",
      code = "tensorrt_llm/llmapi/llm_args.py: TorchLlmArgs.generation_config",
      source = "pull request 17213: sampling only where asked for" },
    -- Host.
    { prompt_overhead = 0, fitted = true, source = "fitted: docs/records/fitted.md, \"Prompts under load\"" },
    -- Kernels.
    { fuses_static_fp8 = true, recurrent_copies = 1, norm_apart_s = 0, piecewise_layer_s = 0,
      fitted = true,
      source = "inferred from closed loops of Llama-3.1-70B; of the norms documented: docs/records/decisions.md" },
    { fuses_norm = true, source = "AllReduceFusionOp.RESIDUAL_RMS_NORM; pull request 9197" },
    { family = { "qwen2", "qwen3" }, fuses_norm = false,
      code = "tensorrt_llm/_torch/models/modeling_qwen.py",
      source = "models/modeling_qwen.py and modeling_qwen3.py at 010bb95f do not use it" },
    { ropes_in_attention = true, code = "cpp/tensorrt_llm/kernels/unfusedAttentionKernels.h",
      source = "cpp/tensorrt_llm/kernels: unfusedAttentionKernels and mlaKernels.cu turn "
        .. "queries and keys, quantise and write them in one kernel of the attention" },
    { launch_apart_s = 0.69e-6, blocks_launch_apart = false, fitted = true,
      source = "docs tech_blog 1: 168 to 173 tokens/s with 2.82 tokens a step, 64 layers of 11 operations" },
    -- In which candidate of 1.2 the default changed is not known: runs of the sixth that leave it are as slow as those
    -- of 1.1 (docs/records/fitted.md), and recipes for it still ask.
    { before = "1.2.0", launches_apart = function(_, own) return own.TRTLLM_ENABLE_PDL ~= "1" end,
      source = "cpp/tensorrt_llm/common/envUtils.cpp, getEnvEnablePDL: off unless asked for" },
    { since = "1.2.0", launches_apart = function(_, own) return own.TRTLLM_ENABLE_PDL == "0" end,
      code = "cpp/tensorrt_llm/common/envUtils.cpp: getEnvEnablePDL",
      source = "release notes of 1.2: programmatic dependent launch is on by default" },
    { before = "1.3.0rc15", architecture = "blackwell", blocks_launch_apart = true, source = "pull request 14311" },
    { shared_beside = math.huge, source = "_torch/modules/fused_moe: shared experts on a stream of their own" },
    { all_reduce_across_nodes = "own",
      source = "cpp/tensorrt_llm/thop/allreduceOp.cpp: kernels for NVLink between nodes (mnnvlTwoShotAllreduce)" },
    { before = "1.2.0rc5", exchange = "nvlink_two_sided", source = "_torch/modules/fused_moe/communication" },
    { since = "1.2.0rc5", exchange = "nvlink_one_sided", seen = "1.4.0rc4",
      code = "tensorrt_llm/_torch/moe/fused_moe/communication/communication_factory.py: create_strategy",
      source = "pull request 9486 and communication_factory.py: the one-sided exchange is tried first" },
    { pixel_s = 11.65e-9, source = "the processor of transformers, as vLLM's pull request 50411 measured it" },
    { encoder_mode = "weights",
      source = "tensorrt_llm/_torch/models: encoders have the mapping of the language model" },
    { cp_of = {}, dcp_of = {}, dcp_combines = "all_to_all",
      source = "docs/source/features/helix.md, as of 1.3.0rc26: Helix alone, on decode servers behind "
        .. "servers that prefill; not modelled" },
    { experts_apart = false, source = "issue 6577, open" },
    { expert_block = 0, fitted = true, source = "its kernels have no such blocks" },
    { cuts_prompts = false, budget_holds_seats = false, seen = "1.4.0rc4",
      code = "tensorrt_llm/llmapi/llm_args.py: BaseLlmArgs.enable_chunked_prefill",
      source = "tensorrt_llm/llmapi/llm_args.py" },
    require "engines.trtllm.memory_rules",
    require "engines.trtllm.kernels",
    require "engines.rules.python_host",
  } end,
}
