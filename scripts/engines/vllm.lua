--- vLLM: what its command takes and what its releases do. The form of this file: docs/ENGINES.md.
local command = require "engines.rules.command"
local flags = require "engines.rules.flags"
local memory = require "engines.vllm.memory"
local tiers = require "engines.vllm.tiers"

--- -O3 and -O.level=3: levels of optimisation were the compilation's, and are a flag of their own since 0.12.
local function respelled(word)
  local level, rest = word:match "^%-O=?(%w+)$", word:match "^%-O(%..*)$"
  if level then return { "--optimization-level", level } end
  return rest and { "--compilation-config" .. rest } or { word }
end

--- Marlin runs no experts but those in MXFP4.
local function marlin_of(on, facts)
  return (on == "1" or on:lower() == "true") and facts.experts_format == "mxfp4" and "marlin" or nil
end

local methods = { mtp = "mtp", ngram = "free", ngram_gpu = "free", ["[ngram]"] = "free", suffix = "free",
  eagle = "eagle", eagle3 = "eagle", draft_model = "draft_model", dflash = "block_parallel", dspark = "block_parallel" }

--- The drafter of a command, and what it does not say. Prediction layers of the model draft as many tokens as there are
--- of them where no option states a number (vllm/config/speculative.py, n_predict).
--- @param target rooflua.Model? whose tokens are drafted
local function drafts_of(options, target)
  local method, model = options["speculative_config.method"], options["speculative_config.model"]
  if method == nil and model == nil then return nil end
  local drafts = options["speculative_config.num_speculative_tokens"]
  if method == nil then
    method = model:find "^%[?ngram%]?$" and "ngram" or model:lower():find "eagle" and "eagle" or "draft_model"
  end
  local drafter = methods[method] or method:find "mtp$" and "mtp" or nil
  if drafts == nil and drafter == "mtp" and target and target.mtp_layers > 0 then drafts = target.mtp_layers end
  local parameters = drafter == "block_parallel" and { layers = 5 } or nil -- published DFlash checkpoints: 5 to 8
  return { drafter = drafter, method = method, draft_tokens = drafts, model = model, parameters = parameters }
end

--- The adapters of a command: those that it names, slots, the rank of a slot, adapters in the memory of the host. nil
--- where it does not ask for any.
local function adapters_of(options)
  if not options.enable_lora then return nil end
  return { count = options.lora_modules and #options.lora_modules, max_loras = options.max_loras,
    max_lora_rank = options.max_lora_rank, max_cpu_loras = options.max_cpu_loras }
end

--- Whether requests are sampled as the model's generation_config.json asks. A folder of their own is taken to ask the
--- same.
local function by_the_model(_, own) return own.generation_config ~= "vllm" end

--- Whether FlashAttention runs attention: it does by default. V0 had calls of their own for prompts and for decodes.
local function by_flash_attention(_, own)
  local backend = own.attention_backend
  return own.generation ~= "V0" and (backend == nil or backend:find "^FLASH_ATTN" ~= nil)
end

--- Time to sort a logit, unless FlashInfer samples.
local function unless_flashinfer(seconds, by_default)
  return function(_, own)
    local stated = own.VLLM_USE_FLASHINFER_SAMPLER
    if stated == nil then return by_default and 0 or seconds end
    return stated == "1" and 0 or seconds
  end
end

local kv_names = { fp8 = "fp8", fp8_e4m3 = "fp8_e4m3", fp8_e5m2 = "fp8_e5m2", bf16 = "auto", fp16 = "auto" }
local own_kv_formats = { "nvfp4", "int8_per_token_head", "fp8_per_token_head", "int4_per_token_head", "turboquant_k8v4",
  "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc" } -- under the same name here
for _, name in ipairs(own_kv_formats) do kv_names[name] = name end

return {
  name = "vllm",
  title = "vLLM",
  unsupported = { tpu = "builds for TPUs are not modelled: their kernels were not measured" },
  releases = { { "0.5.0", "2024-06-11" }, { "0.6.0", "2024-09-04" }, { "0.6.4", "2024-11-15" },
    { "0.6.6", "2024-12-26" }, { "0.7.0", "2025-01-26" }, { "0.7.3", "2025-02-20" }, { "0.8.0", "2025-03-18" },
    { "0.8.5", "2025-04-28" }, { "0.9.0", "2025-05-27" }, { "0.9.1", "2025-06-10" }, { "0.9.2", "2025-07-06" },
    { "0.10.0", "2025-07-23" }, { "0.10.1", "2025-08-18" }, { "0.10.2", "2025-09-13" }, { "0.11.0", "2025-10-03" },
    { "0.11.2", "2025-11-19" }, { "0.12.0", "2025-12-03" }, { "0.13.0", "2025-12-19" }, { "0.14.0", "2026-01-20" },
    { "0.15.0", "2026-01-29" }, { "0.15.1", "2026-02-03" }, { "0.16.0", "2026-02-26" }, { "0.17.0", "2026-03-09" },
    { "0.18.0", "2026-03-21" }, { "0.19.0", "2026-04-02" }, { "0.19.1", "2026-04-17" }, { "0.20.0", "2026-04-28" },
    { "0.21.0", "2026-05-15" }, { "0.22.0", "2026-05-29" }, { "0.23.0", "2026-06-14" }, { "0.24.0", "2026-06-28" },
    { "0.25.0", "2026-07-11" }, { "0.26.0", "2026-07-26" }, { "0.27.0", "2026-08-10" }, { "0.28.0", "2026-08-26" },
    { "0.29.0", "2026-09-09" }, { "0.30.0", "2026-09-22" }, { "0.31.0" }, { "0.32.0" }, { "0.33.0" }, { "0.34.0" } },
  seen = "0.24",
  tables = { name = "vllm", libraries = "shared", lends = 1 },
  memory = memory,
  tiers = tiers.of,
  host_memory = tiers.host_memory, encode_pool = require("engines.vllm.encoders").encode_pool,
  offload_blocks_before = tiers.blocks_before,

  command = "vllm serve",
  starts = { "vllm serve", "-m vllm.entrypoints.openai.api_server" },
  positional = true,
  abbreviates = true, -- argparse: a beginning that fits one flag only
  respelled = respelled,
  variable_prefixes = { "VLLM_", "LMCACHE_" },
  oldest_command = "0.12.0",
  image = "vllm/vllm-openai:v%s",
  port = 8000,
  metrics = function() return require "engines.vllm.metrics" end,
  kv_events = function() return require "engines.vllm.kv_events" end,
  startup = function() return require "engines.vllm.startup" end,
  log = function() return require "engines.vllm.log" end,
  profile = function() return require "engines.vllm.profile" end,
  prometheus = { waiting = "vllm:num_requests_waiting", running = "vllm:num_requests_running",
    kv_used_frac = "vllm:kv_cache_usage_perc",
    source = "vllm/v1/metrics/loggers.py, 0.10 on (kv_cache_usage_perc; before, gpu_cache_usage_perc)" },
  variants = require "engines.vllm.variants",
  model = "",
  model_flags = { "--model" },
  host = { "--host", "--port" },
  source = "vLLM documentation, CLI reference of vllm serve; vllm/engine/arg_utils.py",
  kv_names = kv_names,
  weight_options = { fp8 = { quantization = "fp8" } },
  whole_ep = "vLLM has no flag for experts on %d of %d ranks: it is all of them or none",
  speculation = {
    mtp = { source = "vLLM docs/features/speculative_decoding/mtp.md; vllm/config/speculative.py, 0.24 and main",
      options = function(drafts)
        return { ["speculative_config.method"] = "mtp", ["speculative_config.num_speculative_tokens"] = drafts }
      end },
    free = { source = "vLLM docs/features/speculative_decoding/n_gram.md; error message of 0.17.1 and 0.30.0: async "
        .. "scheduling is only supported with EAGLE, MTP, draft models and others, not with ngram",
      not_async = "vLLM refuses --async-scheduling with look-ups in the prompt",
      options = function(drafts)
        return { ["speculative_config.method"] = "ngram", ["speculative_config.num_speculative_tokens"] = drafts }
      end },
  },
  drafts = drafts_of,
  adapters = { of = adapters_of, ask = "--enable-lora", names = "--lora-modules NAME=PATH", max_lora_rank = 16,
    ranks = { 8, 16, 32, 64, 128, 256, 320, 512 },
    source = "vllm/config/lora.py, LoRAConfig and MaxLoRARanks, 0.11 to 0.22: max_loras 1, max_cpu_loras = max_loras" },

  options = function() return flags.joined({
    { "tensor_parallel_size", parameter = "tp", flag = "--tensor-parallel-size", also = { "-tp" }, type = "integer",
      min = 1, key = "deployment.tp", doc = "GPUs that divide attention and dense layers" },
    { "pipeline_parallel_size", parameter = "pp", flag = "--pipeline-parallel-size", also = { "-pp" }, type = "integer",
      min = 1, key = "deployment.pp", doc = "stages of layers" },
    { "data_parallel_size", since = "0.8.3", parameter = "dp", flag = "--data-parallel-size", also = { "-dp" },
      type = "integer", min = 1, key = "deployment.dp", doc = "data-parallel ranks of the attention" },
    { "decode_context_parallel_size", since = "0.10.2", parameter = "dcp", flag = "--decode-context-parallel-size",
      also = { "-dcp" }, type = "integer", min = 1, key = "deployment.dcp",
      doc = "ranks of tp that divide the KV of a request" },
    { "prefill_context_parallel_size", since = "0.12", parameter = "cp", flag = "--prefill-context-parallel-size",
      also = { "-pcp" }, type = "integer", min = 1, key = "deployment.cp", doc = "ranks that divide a prompt" },
    { "dcp_comm_backend", flag = "--dcp-comm-backend", type = "text", values = { "ag_rs", "a2a" },
      read = command.with_dcp, unread = command.no_dcp, read_by = "dcp_combines",
      doc = "how ranks of dcp combine their outputs" },
    { "enable_expert_parallel", since = "0.8", parameter = "expert_parallel", flag = "--enable-expert-parallel",
      also = { "-ep" }, negates = true, type = "switch", key = "deployment.ep",
      read = function(on, facts) return on and facts.tp * facts.dp * facts.cp or 1 end,
      doc = "all ranks hold whole experts" },
    { "max_num_seqs", parameter = "max_num_seqs", flag = "--max-num-seqs", type = "integer", readable = true, min = 1,
      key = "scheduler.max_num_seqs", doc = "most requests in a step" },
    { "max_num_batched_tokens", parameter = "max_num_batched_tokens", flag = "--max-num-batched-tokens",
      type = "integer", readable = true, min = 1, key = "scheduler.max_num_batched_tokens",
      doc = "most tokens in a step" },
    { "gpu_memory_utilization", parameter = "memory_utilization", flag = "--gpu-memory-utilization", type = "number",
      min = 0.01, max = 1, key = "deployment.memory_utilization", doc = "share of the GPU's memory that is taken" },
    { "kv_cache_memory_bytes", since = "0.10.2", flag = "--kv-cache-memory-bytes", type = "integer", readable = true,
      min = 1, read_by = "engines.ledger", doc = "bytes of the KV cache on a GPU, whatever share of it is taken" },
    { "max_model_len", parameter = "max_model_len", flag = "--max-model-len", type = "integer", readable = true,
      unstated = { "-1", "auto" }, min = 1, key = "deployment.max_model_len", doc = "longest request" },
    { "block_size", parameter = "block_size", flag = "--block-size", type = "integer", min = 1, of_dcp_rank = true,
      key = "deployment.block_size", doc = "tokens of a KV block, on each rank of dcp" },
    { "enable_prefix_caching", parameter = "prefix_caching", flag = "--enable-prefix-caching", negates = true,
      type = "switch", key = "deployment.prefix_caching", doc = "equal prefixes share KV blocks" },
    { "async_scheduling", since = "0.10", parameter = "async", flag = "--async-scheduling", negates = true,
      type = "switch", key = "async_depth",
      read = function(on) return on and 2 or 1 end, doc = "a step is planned while one runs" },
    { "kv_cache_dtype", parameter = "kv", flag = "--kv-cache-dtype", type = "text", key = "deployment.kv",
      values = { "auto", "fp8", "fp8_e4m3", "fp8_e5m2", "bfloat16", "float16", "fp8_ds_mla", "fp8_inc", "nvfp4_4over6",
        unpack(own_kv_formats) },
      read = command.kv_format, doc = "format of keys and values" },
    { "quantization", flag = "--quantization", also = { "-q" }, type = "text", key = "deployment.weights",
      values = { "fp8", "awq", "awq_marlin", "gptq", "gptq_marlin", "marlin", "compressed-tensors", "bitsandbytes",
        "gguf", "modelopt", "modelopt_fp4", "modelopt_mixed", "modelopt_mxfp8", "mxfp4", "mxfp8", "nvfp4", "fp_quant",
        "fbgemm_fp8", "ptpc_fp8", "fp8_per_tensor", "fp8_per_block", "experts_int8", "int8_per_channel_weight_only",
        "moe_wna16", "torchao", "quark", "auto-round", "auto_round", "inc", "petit_nvfp4", "rtn", "humming",
        "online", "deepspeedfp",
        "tpu_int8", "gptq_bitblas", "gptq_marlin_24", "qqq", "squeezellm", "bitblas", "aqlm", "hqq", "ipex",
        "cpu_awq", "gpt_oss_mxfp4", "auto_awq", "auto_gptq", "fp8_per_channel", "nvfp4_per_token",
        "deepseek_v4_fp8" },
      read = command.quantised_at_start, says = command.quantisation_note,
      doc = "format into which the weights are quantised at start" },
    { "dtype", flag = "--dtype", type = "text", idle = { "auto", "bfloat16", "float16", "half" },
      note = "activations are in 16 bits", doc = "format of weights and activations" },
    { "enforce_eager", flag = "--enforce-eager", negates = true, type = "switch", key = "steps.largest_graph",
      read = function(on) return on and 0 or nil end, doc = "no CUDA graphs, no compiled layers" },
    { "max_cudagraph_capture_size", since = "0.11.1", flag = "--max-cudagraph-capture-size",
      also = { "compilation_config.max_cudagraph_capture_size", "compilation_config.max_capture_size" },
      type = "integer", min = 0, key = "steps.largest_graph", doc = "tokens of the largest CUDA graph" },
    { "cudagraph_capture_sizes", since = "0.9", flag = "--cudagraph-capture-sizes",
      also = { "--cuda-graph-sizes", "compilation_config.cudagraph_capture_sizes" }, type = "list", items = "integer",
      key = "steps.largest_graph", read = command.largest, doc = "tokens of the CUDA graphs" },
    { "compilation_config.cudagraph_mode", type = "text",
      values = { "NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE" }, key = "steps.largest_graph",
      read = function(mode) return mode == "NONE" and 0 or nil end,
      says = function(mode)
        return mode == "FULL" and "graphs hold what they hold by default" or nil
      end,
      doc = "what CUDA graphs hold" },
    { "compilation_config", flag = "--compilation-config", also = { "-cc" }, type = "json", idle = { "3" },
      note = "what is compiled is the engine's default", doc = "compilation and CUDA graphs" },
    { "enable_chunked_prefill", flag = "--enable-chunked-prefill", negates = true, type = "switch",
      key = "scheduler.enable_chunked_prefill", doc = "prompts that exceed the budget are cut" },
    { "long_prefill_token_threshold", flag = "--long-prefill-token-threshold", type = "integer", min = 0,
      key = "scheduler.long_prefill_token_threshold", doc = "longest chunk of one prompt" },
    { "scheduler_reserve_full_isl", since = "0.19", flag = "--scheduler-reserve-full-isl", negates = true,
      type = "switch", key = "scheduler.scheduler_reserve_full_isl",
      doc = "a request is admitted where its whole sequence fits" },
    { "prefill_schedule_interval", since = "0.24", flag = "--prefill-schedule-interval", type = "integer", min = 1,
      key = "scheduler.prefill_schedule_interval",
      doc = "ranks that decode run prompts in every n-th step" },
    { "scheduling_policy", flag = "--scheduling-policy", type = "text", idle = { "fcfs" },
      note = "requests are served in the order of their arrival", doc = "order of the queue" },
    { "language_model_only", since = "0.12", flag = "--language-model-only", negates = true, type = "switch",
      read_by = "applied.ledger", doc = "neither the vision encoder is loaded nor are images taken" },
    { "num_gpu_blocks_override", flag = "--num-gpu-blocks-override", type = "integer", min = 1,
      key = "engine.kv_blocks", doc = "number of KV blocks" },
    { "all2all_backend", flag = "--all2all-backend", type = "text", key = "steps.exchange",
      read = command.meaning { deepep_high_throughput = "deepep", deepep_low_latency = "deepep",
        flashinfer_nvlink_one_sided = "nvlink_one_sided", flashinfer_nvlink_two_sided = "nvlink_two_sided",
        flashinfer_all2allv = "nvlink_two_sided", allgather_reducescatter = "gathered" },
      unread = command.own_exchange, doc = "how tokens reach experts of other ranks" },
    { "VLLM_MXFP4_USE_MARLIN", variable = true, type = "text", key = "steps.experts_kernels", read = marlin_of,
      idle = { "0", "false", "False" }, unread = command.own_kernels,
      doc = "Marlin runs experts in MXFP4, expanded to 16 bits" },
    { "limit_mm_per_prompt", flag = "--limit-mm-per-prompt", type = "json", pairs = true, -- before 0.9 image=2,video=1
      note = "images and their encoder are not modelled", doc = "images and videos of a request" },
    { "generation_config", flag = "--generation-config", type = "text", idle = { "auto" }, read_by = "own_sampling",
      says = function(where)
        return where ~= "vllm" and "sampling is that of the model's generation_config.json" or nil
      end, doc = "where sampling is said; vllm: neither top-p nor top-k" },
    { "VLLM_USE_V2_MODEL_RUNNER", since = "0.9", variable = true, type = "text", values = { "0", "1" },
      read_by = "model_runner", doc = "which model runner steps run in, V1 or V2" },
    { "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", since = "0.18", variable = true, type = "text", values = { "0", "1" },
      read_by = "graphs_counted", doc = "whether an estimate of CUDA graphs is taken from the KV cache" },
    { "VLLM_ROCM_USE_AITER", variable = true, type = "text", read_by = "runtime_bytes",
      doc = "whether AITER's kernels and its all-reduce run on AMD's GPUs" },
    { "enable_batch_sharded_sampling", since = "0.29", flag = "--enable-batch-sharded-sampling", negates = true,
      type = "switch", read_by = "sampler_bytes", doc = "each rank of tp samples a part of the requests" },
    { "VLLM_USE_FLASHINFER_SAMPLER", variable = true, type = "text", read_by = "sorted_logit_s",
      doc = "FlashInfer samples, without sorting" },
    { "enable_lora", parameter = "lora", flag = "--enable-lora", negates = true, type = "switch", adapters = true,
      elsewhere = "say `adapters`", doc = "requests may have low-rank adapters" },
    { "max_loras", parameter = "max_loras", flag = "--max-loras", type = "integer", min = 1, adapters = true,
      elsewhere = "say adapters.max_loras", doc = "slots: most different adapters in a step" },
    { "max_lora_rank", parameter = "max_lora_rank", flag = "--max-lora-rank", type = "integer", min = 1,
      adapters = true, elsewhere = "say adapters.max_lora_rank", doc = "rank that a slot has room for" },
    { "max_cpu_loras", parameter = "max_cpu_loras", flag = "--max-cpu-loras", type = "integer", min = 1,
      adapters = true, elsewhere = "say adapters.max_cpu_loras", doc = "adapters in the memory of the host" },
    { "lora_modules", flag = "--lora-modules", type = "list", adapters = true, elsewhere = "say adapters.count",
      doc = "adapters that are there at the start, as NAME=PATH" },
    { "speculative_config.method", also = { "--spec-method" }, type = "text", drafts = true,
      elsewhere = "say `speculation`", doc = "which drafter" },
    { "speculative_config.num_speculative_tokens", also = { "--num-speculative-tokens", "--spec-tokens" },
      type = "integer", min = 0, drafts = true, elsewhere = "say `speculation`", doc = "drafts of a request" },
    { "speculative_config.model", also = { "--speculative-model", "--spec-model" }, type = "text", drafts = true,
      elsewhere = "say `speculation`", doc = "a drafter of its own" },
    { "speculative_config", flag = "--speculative-config", also = { "-sc" }, type = "json",
      note = "drafts are made and accepted as `speculation` says", elsewhere = "say `speculation`",
      doc = "drafts of a step" },
    { "config", flag = "--config", type = "text", file = "flags", elsewhere = "say the options themselves",
      doc = "a YAML file with flags" },
  }, require("engines.vllm.generations").options, require("engines.vllm.implications").options, tiers.options,
    require("engines.vllm.router_gemms").options, require("engines.vllm.encoders").options,
    require "engines.vllm.expert_kernels",
    require "engines.vllm.flags")() end,

  implies = function() return require("engines.vllm.implications").rows end,

  rules = function() return {
    require("engines.vllm.generations").before_v1,
    require "engines.vllm.scheduling",
    -- Sampling.
    { since = "0.8", own_sampling = by_the_model, seen = "0.28",
      code = "vllm/config/model.py: ModelConfig.generation_config",
      source = "pull request 12622: the model's generation_config.json" },
    { since = "0.8", before = "0.16", sorted_logit_s = unless_flashinfer(0.14e-9, false),
      source = "pull request 40376: 128 rows of 131,072 logits in 2.3 ms" },
    { since = "0.16", sorted_logit_s = unless_flashinfer(0.14e-9, true), seen = "0.28",
      code = "vllm/v1/sample/ops/topk_topp_sampler.py: flashinfer_sampler_supported",
      source = "pull request 40376: FlashInfer samples by default from 0.21 on; "
      .. "that 0.16 to 0.20 sort no longer is inferred from a measured run of 0.19" },
    -- Host.
    { host_step_s = 700e-6, fitted = true, source = "0.11 at batch 1, not asynchronous, on H100" },
    { host_request_s = 2e-6, fitted = true, source = "V1: 1 to 4 us" },
    require("engines.vllm.generations").host,
    { since = "0.8", before = "0.14", host_request_s = 20e-6,
      source = "fitted to what asynchronous scheduling gains on A100: docs/records/fitted.md, \"Host time of a "
        .. "request\"; the scheduler's own part is 7 us in traces of 0.15.1" },
    { sampler_s = 150e-6, fitted = true,
      source = "about ten small kernels outside the CUDA graph; on an H100 PyTorch's argmax alone "
      .. "takes 14 to 50 us and a random choice 55 to 188 us (1 to 64 rows of 131,072)" },
    { client_frontend_s = 0.0067, fitted = true, source = "fit: tests/fidelity/frontend_fit.lua" },
    { server_frontend_s = 0.0018, fitted = true, source = "guidellm stage 0: median of ttft - queue - prefill" },
    { compiled_operation_s = 0,
      graphs_with_prefill = function(_, own)
        return own["compilation_config.cudagraph_mode"] ~= "FULL_DECODE_ONLY"
      end, seen = "0.28", code = "vllm/config/vllm.py: VllmConfig.__post_init__, cudagraph_mode",
      source = "torch.compile: no Python is left between the kernels of a layer" },
    { since = "0.8", compiled_operation_s = 40e-6, fitted = true,
      source = "docs/design/cuda_graphs.md: a step above the largest captured size is launched kernel by kernel; "
        .. "fitted to TTFT, leaving models out: docs/records/fitted.md, \"Compiled prompts outside of graphs\"" },
    { eager_operation_s = 65e-6, fitted = true,
      source = "fitted to prompts that SGLang and TensorRT-LLM run outside of graphs on "
      .. "Hopper's machines, leaving deployments out: docs/records/fitted.md, \"Prefill outside of graphs\"; hosts of "
      .. "older GPUs are taken to be no faster" },
    { architecture = "blackwell", gpu = { memory_gib_from = 160 }, eager_operation_s = 40e-6, fitted = true,
      source = "the same, on machines of B200 and larger; hosts of other GPUs of Blackwell are taken to be no faster" },
    { fitted = true,
      { prompt_overhead = 0, source = "fitted: docs/records/fitted.md, \"Prompts under load\"" },
      { architecture = "blackwell", prompt_overhead = 0.3, source = "the same" },
      { when = function(facts) return facts.role == "prefill" end, prompt_overhead = 0,
        source = "none is seen in engines that only prefill: the same" } },
    require "engines.vllm.pools",
    -- Kernels.
    { fuses_static_fp8 = false, fuses_norm = false, recurrent_copies = 1, norm_apart_s = 0, fitted = true,
      source = "vllm/compilation: its fusions of all-reduce and quantisation are off by default until 0.15. Pull "
        .. "request 34299 of 2026-02-11 turns that of all-reduce and norm on, on Hopper and Blackwell with tp above 1; "
        .. "times are not fitted with it, so it is left out" },
    { ropes_in_attention = false, launches_apart = false, blocks_launch_apart = false, launch_apart_s = 0,
      seen = "0.28", code = "vllm/model_executor/layers/rotary_embedding/base.py: RotaryEmbedding.forward_cuda",
      source = "vllm/model_executor/layers/rotary_embedding: a kernel in front of the attention; "
        .. "tables and small_kernel_s hold the launches" },
    { heads_apart = false, seen = "0.28",
      code = "vllm/v1/attention/backends/fa_utils.py: get_flash_attn_version",
      source = "vllm/v1/attention/backends/fa_utils.py: FlashAttention 3 and 4 pack heads in every call" },
    { since = "0.8", architecture = { "ampere", "ada" }, heads_apart = by_flash_attention,
      seen = "0.28", code = "vllm/v1/attention/backends/flash_attn.py: FlashAttentionImpl.forward",
      source = "pull request 58013, open: one call of FlashAttention 2 for prompts and decodes on SM 8.x" },
    { architecture = { "ampere", "ada" }, family = "gpt_oss", heads_apart = false,
      seen = "0.28", code = "vllm/v1/attention/backends/flash_attn.py: FlashAttentionBackend.supports_combination",
      source = "vllm/v1/attention/backends/flash_attn.py: sinks need FlashAttention 3; Triton's kernel packs heads" },
    { shared_beside = 256, seen = "0.28", code = "vllm/envs.py: VLLM_SHARED_EXPERTS_STREAM_TOKEN_THRESHOLD",
      source = "vllm/model_executor/layers/fused_moe: VLLM_SHARED_EXPERTS_STREAM_TOKEN_THRESHOLD" },
    { all_reduce_across_nodes = "nccl", seen = "0.28",
      code = "vllm/distributed/device_communicators/custom_all_reduce.py: CustomAllreduce.__init__",
      source = "distributed/device_communicators/custom_all_reduce.py: off where a group spans nodes" },
    { exchange = "gathered", seen = "0.28", code = "vllm/config/parallel.py: ParallelConfig.all2all_backend",
      source = "vllm/distributed: allgather_reducescatter, the default" },
    require "engines.vllm.context_parallel",
    { experts_apart = false, seen = "0.28", code = "vllm/engine/arg_utils.py: no flag of such a mode",
      source = "pull request 29772, closed; a plugin does: vllm-project/afd-plugin" },
    { code = "vllm/config/parallel.py: EPLBConfig", seen = "0.28",
      { since = "0.14", eplb_step_interval = 3000, eplb_window_size = 1000, eplb_head_start = 0.75,
        eplb_use_async = false, source = "vllm/config/parallel.py, EPLBConfig, 0.14, 0.17.1 and 0.19; eplb_state.py" },
      { since = "0.24", eplb_use_async = true, seen = "0.32",
        source = "the same of 0.24 and 0.32; 0.20 to 0.23 were not read" },
    },
    { expert_block = 0, fitted = true, source = "only DeepGEMM works on blocks" },
    require "engines.vllm.graphs",
    { architecture = "hopper", before = "0.15", expert_block = 128, expert_block_below = 8,
      source = "DeepGemmExperts, compute_aligned_M, until 0.15 takes FlashInfer and Triton (issue 34249, pull request "
        .. "34260); pull request 29346: Triton where 8 ranks and more divide experts" },
    { cuts_prompts = true, budget_holds_seats = true, seen = "0.28",
      code = "vllm/config/scheduler.py: SchedulerConfig.verify_max_model_len", source = "vllm/config/scheduler.py" },
    require "engines.rules.weight_only", require("engines.vllm.router_gemms").rules,
    require("engines.vllm.encoders").rules,
    { since = "0.6.3", architecture = "hopper", weight_only_rate = 0.95, fitted = true,
      source = "Machete, vllm/model_executor/kernels/linear: as fast as 16 bits where arithmetic decides" },
    require("engines.vllm.generations").instead_of_v1,
    require "engines.rules.rocm",
    require "engines.vllm.frontend",
    require "engines.vllm.runners",
    require "engines.vllm.memory_rules",
    require "engines.vllm.kernels",
  } end,
}
