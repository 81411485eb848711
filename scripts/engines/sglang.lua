--- SGLang: what its command takes and what its releases do. Its tp counts the ranks of the attention's data parallelism
--- as well, and its memory fraction is that of weights and KV cache together. The form of this file: docs/ENGINES.md.
local command = require "engines.rules.command"
local flags = require "engines.rules.flags"
local memory = require "engines.sglang.memory"
local tiers = require "engines.sglang.tiers"

--- An option of the whole engine as that of each data-parallel rank.
local function of_rank(value, facts) return math.ceil(value / facts.dp) end

--- The chunk of each data-parallel rank. One of 0 or less cuts no prompt: it is as long as the longest request.
local function chunk_of_rank(tokens, facts, values)
  if tokens > 0 then return of_rank(tokens, facts) end
  return math.max(values.max_prefill_tokens, values.context_length or facts.model and facts.model.max_model_len or 0)
end

--- Whether a variable says yes, as SGLang's environ.py takes it.
local function says_yes(text)
  local word = text and text:lower()
  return word == "true" or word == "1" or word == "yes" or word == "y"
end

--- Whether steps with drafts do not overlap, where the variable decides; what it says where it is not set.
local function overlaps_no_drafts(by_default)
  return function(_, own)
    local stated = own.SGLANG_ENABLE_SPEC_V2
    if stated == nil then return not by_default end
    return not says_yes(stated)
  end
end

local function is_blackwell(facts) return facts.hardware ~= nil and facts.hardware.architecture == "blackwell" end

--- Who runs GEMMs in block-scaled FP8 on Blackwell where DeepGEMM is turned off.
local function without_deepgemm(on, facts)
  return is_blackwell(facts) and not says_yes(on) and "flashinfer" or nil
end

--- The same where a back end is named.
local function gemms_of(backend, facts)
  return is_blackwell(facts) and backend == "flashinfer_trtllm" and "flashinfer" or nil
end

local function has_drafts(facts) return facts.drafts ~= nil end
local function only_prompts(facts) return facts.role == "prefill" end
local function only_decodes(facts) return facts.role == "decode" end

return {
  name = "sglang",
  title = "SGLang",
  releases = { { "0.4.0", "2024-12-03" }, { "0.4.6", "2025-04-27" }, { "0.4.7", "2025-06-10" },
    { "0.4.8", "2025-06-23" },
    { "0.4.9", "2025-07-05" }, { "0.4.10", "2025-07-31" }, { "0.5.0", "2025-08-14" }, { "0.5.1", "2025-08-23" },
    { "0.5.2", "2025-09-11" }, { "0.5.3", "2025-10-06" }, { "0.5.4", "2025-10-23" }, { "0.5.5", "2025-11-07" },
    { "0.5.6", "2025-12-02" }, { "0.5.7", "2026-01-01" }, { "0.5.8", "2026-01-23" }, { "0.5.9", "2026-02-23" },
    { "0.5.10", "2026-04-05" }, { "0.5.11", "2026-05-04" }, { "0.5.12", "2026-05-16" }, { "0.5.13", "2026-06-11" },
    { "0.5.14", "2026-06-25" }, { "0.5.15" }, { "0.5.16", "2026-07-25" }, { "0.5.17", "2026-08-08" },
    { "0.5.18", "2026-08-22" }, { "0.5.19", "2026-09-04" }, { "0.5.20", "2026-09-18" }, { "0.5.21", "2026-10-02" },
    { "0.5.22" }, { "0.5.23" } },
  seen = "0.5.14",
  tables = { name = "sglang", libraries = "shared", lends = 2 },
  memory = memory,
  tiers = tiers.of,
  host_memory = tiers.host_memory, encode_pool = require("engines.sglang.embeddings").encode_pool,

  command = "python -m sglang.launch_server",
  starts = { "-m sglang.launch_server", "sglang serve" },
  abbreviates = true, -- argparse: a beginning that fits one flag only
  variable_prefixes = { "SGLANG_", "SGL_" },
  oldest_command = "0.5.0",
  image = "lmsysorg/sglang:v%s",
  port = 30000,
  metrics = function() return require "engines.sglang.metrics" end,
  startup = function() return require "engines.sglang.startup" end,
  log = function() return require "engines.sglang.log" end,
  profile = function() return require "engines.sglang.profile" end,
  prometheus = { waiting = "sglang:num_queue_reqs", running = "sglang:num_running_reqs",
    kv_used_frac = "sglang:token_usage", source = "python/sglang/srt/metrics/collector.py, 0.4 on" },
  model = "--model-path",
  model_flags = { "--model-path", "--model" },
  host = { "--host", "--port" },
  source = "SGLang docs/advanced_features/server_arguments.md; python/sglang/srt/server_args.py",
  kv_names = { fp8 = "fp8_e4m3", fp8_e4m3 = "fp8_e4m3", fp8_e5m2 = "fp8_e5m2", bf16 = "auto", fp16 = "auto",
    nvfp4 = "fp4_e2m1" },
  weight_options = { fp8 = { quantization = "fp8" } },
  counts_all_ranks = { "tp", "max_num_seqs" },
  --- Its n-gram drafts are a tree, which is not what is priced. Before 0.5.13 drafts turn the overlap scheduler off,
  --- unless `async_options` are set; from 0.5.14 on (pull request 27964) there are none.
  speculation = {
    mtp = { source = "SGLang docs/advanced_features/speculative_decoding.md, Multi Token Prediction and SpecV2; "
        .. "python/sglang/srt/server_args.py, 0.5.6",
      async_options = { SGLANG_ENABLE_SPEC_V2 = "True" }, async_options_before = "0.5.14", async_since = "0.5.6",
      options = function(drafts)
        return { speculative_algorithm = "EAGLE", speculative_num_steps = drafts, speculative_eagle_topk = 1,
          speculative_num_draft_tokens = drafts + 1 }
      end },
  },
  drafts = require "engines.sglang.drafts",
  --- Engines of their own, without attention that is divided among ranks.
  replicas = function(options)
    local ranks = options.dp_size or 1
    if ranks == 1 or options.enable_dp_attention then return 1 end
    return ranks, { "dp_size" }
  end,

  options = function() return flags.joined({
    { "tp_size", parameter = "tp", flag = "--tp-size", also = { "--tp", "--tensor-parallel-size" }, type = "integer",
      min = 1, key = "deployment.tp", read = function(all, facts) return all / facts.dp / facts.cp end,
      doc = "GPUs of an engine, all ranks of the attention" },
    { "attn_cp_size", since = "0.5.9", parameter = "cp", flag = "--attn-cp-size",
      also = { "--attention-context-parallel-size" }, type = "integer", min = 1, key = "deployment.cp",
      says = function(ranks)
        return ranks > 1 and "prompts are taken to be divided, as with enable_prefill_context_parallel" or nil
      end, doc = "ranks that divide a prompt" },
    { "enable_prefill_context_parallel", parameter = "divides_prompts", flag = "--enable-prefill-context-parallel",
      type = "switch", read = command.with_cp, unread = command.no_cp, read_by = "attn_cp_size",
      doc = "prompts are divided over attn_cp_size ranks" },
    { "dcp_size", since = "0.5.10", parameter = "dcp", flag = "--dcp-size", also = { "--decode-context-parallel-size" },
      type = "integer", min = 1, key = "deployment.dcp", doc = "ranks of tp that divide the KV of a request" },
    { "dcp_comm_backend", flag = "--dcp-comm-backend", type = "text", values = { "ag_rs", "a2a", "fi_a2a" },
      read = command.with_dcp, unread = command.no_dcp, read_by = "dcp_combines",
      says = function(name) return name == "fi_a2a" and "fi_a2a is priced as the library's all-to-all" or nil end,
      doc = "how ranks of dcp combine their outputs" },
    { "mm_enable_dp_encoder", since = "0.5.6", flag = "--mm-enable-dp-encoder", type = "switch",
      read_by = "encoder_mode", doc = "ranks encode whole images each, instead of dividing the encoder" },
    { "pp_size", parameter = "pp", flag = "--pp-size", also = { "--pp", "--pipeline-parallel-size" }, type = "integer",
      min = 1, key = "deployment.pp", doc = "stages of layers" },
    { "dp_size", parameter = "dp", flag = "--dp-size", also = { "--dp", "--data-parallel-size" }, type = "integer",
      min = 1, key = "deployment.dp",
      read = function(ranks, _, values)
        if ranks > 1 and not values.enable_dp_attention then
          error("engine.dp_size: without enable_dp_attention these are engines of their own; say replicas = "
            .. ranks, 0)
        end
        return ranks
      end, doc = "data-parallel ranks of the attention" },
    { "enable_dp_attention", parameter = "dp_attention", flag = "--enable-dp-attention", type = "switch",
      read_by = "dp_size", doc = "dp_size divides the attention of one engine" },
    { "ep_size", parameter = "ep", flag = "--ep-size", also = { "--ep", "--expert-parallel-size" }, type = "integer",
      min = 1, key = "deployment.ep", doc = "ranks with whole experts" },
    { "max_running_requests", parameter = "max_num_seqs", flag = "--max-running-requests", type = "integer", min = 1,
      key = "scheduler.max_num_seqs", read = of_rank, doc = "most requests at once, of all ranks" },
    { "chunked_prefill_size", parameter = "max_num_batched_tokens", flag = "--chunked-prefill-size", type = "integer",
      min = -1, key = "scheduler.chunked_prefill_size", read = chunk_of_rank,
      doc = "prompt tokens of a step before a prompt is cut, of all ranks; 0 and -1: none is cut" },
    { "mem_fraction_static", parameter = "static_fraction", flag = "--mem-fraction-static", type = "number",
      min = 0.01, max = 1, memory = "static", key = "deployment.memory_utilization",
      doc = "share of the GPU's memory for weights and KV cache" },
    { "context_length", parameter = "max_model_len", flag = "--context-length", type = "integer", min = 1,
      readable = "iec", readable_since = "0.5.10", key = "deployment.max_model_len", doc = "longest request" },
    { "page_size", parameter = "block_size", flag = "--page-size", type = "integer", min = 1, of_dcp_rank = true,
      key = "deployment.block_size", doc = "tokens of a KV block, on each rank of dcp" },
    { "disable_radix_cache", parameter = "prefix_caching", inverted = true, flag = "--disable-radix-cache",
      type = "switch", key = "deployment.prefix_caching", read = function(off) return not off end,
      doc = "equal prefixes share no KV blocks" },
    { "disable_overlap_schedule", parameter = "async", inverted = true, flag = "--disable-overlap-schedule",
      type = "switch", key = "async_depth", read = function(off) return off and 1 or 2 end,
      doc = "no step is planned while one runs" },
    { "kv_cache_dtype", parameter = "kv", flag = "--kv-cache-dtype", type = "text", key = "deployment.kv",
      values = { "auto", "bf16", "bfloat16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "nvfp4" }, read = command.kv_format,
      doc = "format of keys and values" },
    { "disaggregation_mode", parameter = "role", flag = "--disaggregation-mode", type = "text",
      values_of = { prefill = "prefill", decode = "decode" }, idle = { "null" },
      note = "the engine is taken to do both parts of a request", elsewhere = "say role in an entry of `replicas`",
      doc = "which part of a request an engine does" },
    { "quantization", flag = "--quantization", type = "text", key = "deployment.weights",
      values = { "fp8", "awq", "mxfp8", "gptq", "marlin", "gptq_marlin", "awq_marlin", "bitsandbytes", "gguf",
        "modelopt", "modelopt_fp8", "modelopt_fp4", "nvfp4_online", "modelopt_mixed", "petit_nvfp4", "w8a8_int8",
        "w8a8_fp8", "moe_wna16", "w4afp8", "mxfp4", "auto-round", "auto-round-int8", "compressed-tensors", "modelslim",
        "quark", "quark_int4fp8_moe", "quark_mxfp4", "mxfp_w4a8", "qoq", "unquant", "humming", "fbgemm_fp8" },
      read = command.quantised_at_start, says = command.quantisation_note,
      doc = "format into which the weights are quantised at start" },
    { "max_prefill_tokens", flag = "--max-prefill-tokens", type = "integer", min = 1,
      key = "scheduler.max_prefill_tokens", doc = "most prompt tokens of a step" },
    { "disable_cuda_graph", flag = "--disable-cuda-graph", also = { "--disable-decode-cuda-graph" }, type = "switch",
      key = "steps.largest_graph", read = function(off) return off and 0 or nil end, doc = "no CUDA graphs" },
    { "cuda_graph_max_bs", flag = "--cuda-graph-max-bs", also = { "--cuda-graph-max-bs-decode" }, type = "integer",
      min = 1, key = "steps.largest_graph", read = command.tokens_of_requests,
      doc = "requests of the largest CUDA graph" },
    { "cuda_graph_bs", flag = "--cuda-graph-bs", also = { "--cuda-graph-bs-decode" }, type = "list", items = "integer",
      key = "steps.largest_graph", read = command.largest_of_requests, doc = "requests of the CUDA graphs" },
    { "enable_mixed_chunk", flag = "--enable-mixed-chunk", type = "switch", key = "scheduler.enable_mixed_chunk",
      doc = "prefill steps also decode" },
    { "schedule_policy", flag = "--schedule-policy", type = "text", key = "scheduler.schedule_policy",
      doc = "order of the queue" },
    { "schedule_conservativeness", flag = "--schedule-conservativeness", type = "number", min = 0,
      key = "scheduler.schedule_conservativeness",
      read = function(value, facts) return facts.dp > 1 and 0.3 * value or value end,
      doc = "multiplies what is reserved for running requests" },
    { "scheduler_recv_interval", since = "0.5.0rc0", flag = "--scheduler-recv-interval", type = "integer", min = 1,
      key = "scheduler.scheduler_recv_interval",
      doc = "decode steps between two looks for new requests" },
    { "prefill_decode_interval", since = "0.5.19", flag = "--prefill-decode-interval", type = "integer", min = 0,
      key = "scheduler.prefill_decode_interval", doc = "decode steps after one of prompts before the next" },
    { "max_total_tokens", flag = "--max-total-tokens", type = "integer", min = 1, readable = "iec",
      readable_since = "0.5.10", key = "engine.most_kv_blocks",
      read = function(tokens, _, values) return math.floor(tokens / values.page_size) end,
      doc = "most tokens of the KV cache" },
    { "attention_backend", flag = "--attention-backend", type = "text", read_by = "page_size",
      note = "kernels are those of the tables, whichever back end is chosen", doc = "kernels of the attention" },
    { "moe_a2a_backend", since = "0.5.0rc0", flag = "--moe-a2a-backend", type = "text", idle = { "none" },
      key = "steps.exchange", read = command.meaning { deepep = "deepep" }, unread = command.own_exchange,
      doc = "how tokens reach experts of other ranks" },
    { "fp8_gemm_runner_backend", since = "0.5.4", flag = "--fp8-gemm-runner-backend", also = { "--fp8-gemm-backend" },
      type = "text", idle = { "auto" }, key = "steps.block_gemm",
      read = gemms_of, unread = command.own_kernels,
      doc = "which back end runs GEMMs in block-scaled FP8" },
    { "SGLANG_ENABLE_JIT_DEEPGEMM", variable = true, type = "text", key = "steps.block_gemm", idle = { "true", "1" },
      read = without_deepgemm, unread = command.own_kernels,
      doc = "whether DeepGEMM runs them; FlashInfer's kernels else" },
    { "SGL_ENABLE_JIT_DEEPGEMM", variable = true, type = "text", key = "steps.block_gemm", idle = { "true", "1" },
      read = without_deepgemm, unread = command.own_kernels,
      doc = "the same in older releases" },
    { "enable_ep_moe", before = "0.5.3", flag = "--enable-ep-moe", type = "switch", read_by = "ep_size",
      doc = "all ranks hold whole experts" },
    { "speculative_algorithm", flag = "--speculative-algorithm", type = "text", drafts = true,
      elsewhere = "say `speculation`", doc = "which drafter" },
    { "speculative_num_steps", flag = "--speculative-num-steps", type = "integer", min = 0, drafts = true,
      elsewhere = "say `speculation`", doc = "passes of the drafter" },
    { "speculative_eagle_topk", flag = "--speculative-eagle-topk", type = "integer", min = 1, drafts = true,
      elsewhere = "say `speculation`", doc = "branches of a tree of drafts" },
    { "speculative_num_draft_tokens", flag = "--speculative-num-draft-tokens", type = "integer", min = 0, drafts = true,
      elsewhere = "say `speculation`", doc = "tokens that a step verifies" },
    { "speculative_draft_model_path", flag = "--speculative-draft-model-path", also = { "--speculative-draft-model" },
      type = "text", drafts = true, elsewhere = "say `speculation`", doc = "a drafter of its own" },
    { "SGLANG_ENABLE_SPEC_V2", variable = true, type = "text", before = "0.5.14", read_by = "disable_overlap_schedule",
      doc = "drafts while the next step is planned" },
    { "config", flag = "--config", type = "text", file = "flags", elsewhere = "say the options themselves",
      doc = "a YAML file with flags" },
  }, require("engines.sglang.fusions").options, require("engines.sglang.implications").options, tiers.options,
    require("engines.sglang.embeddings").options, require "engines.sglang.flags")() end,

  implies = function() return require("engines.sglang.implications").rows end,

  rules = function() return {
    { scheduler = "sglang", kv_cache_dtype = "auto", disable_radix_cache = false,
      disable_overlap_schedule = false, max_prefill_tokens = 16384, schedule_policy = "fcfs",
      schedule_conservativeness = 1, enable_mixed_chunk = false, scheduler_recv_interval = 1,
      prefill_decode_interval = 0, seen = "0.5.18",
      code = "python/sglang/srt/arg_groups/fields/schedule.py: its fields; fields/memory.py",
      source = "python/sglang/srt/server_args.py" },
    { max_running_requests = function(facts) return 2048 * facts.dp end, seen = "0.5.18",
      code = "python/sglang/srt/mem_cache/kv_cache_configurator.py: resolve_max_num_reqs",
      source = "python/sglang/srt/model_executor/model_runner.py, from 0.5.16 on mem_cache/kv_cache_configurator.py: "
        .. "2,048 to 4,096 on each rank of divided attention; only a stated number is divided among them" },
    { when = only_decodes, disable_radix_cache = true, seen = "0.5.18",
      code = "python/sglang/srt/arg_groups/pd_disaggregation_hook.py: handle_pd_disaggregation",
      source = "python/sglang/srt/server_args.py: a decode server has a chunk cache; from pull request 19746 on "
        .. "--disaggregation-decode-enable-radix-cache turns that off" },
    require "engines.sglang.page_sizes",
    { family = "deepseek_v4", max_running_requests = 256, seen = "0.5.21",
      code = "python/sglang/srt/arg_groups/deepseek_v4_hook.py: apply_deepseek_v4_defaults",
      source = "python/sglang/srt/arg_groups/deepseek_v4_hook.py: of all ranks, if not set; read at 0.5.18 and in a "
        .. "later version, which knows DeepSeek-V4.1" },
    { when = has_drafts, max_running_requests = 48, seen = "0.5.18",
      code = "python/sglang/srt/arg_groups/speculative_hook.py: handle_speculative_decoding",
      source = "python/sglang/srt/server_args.py: with drafts" },
    { max_speculative_seqs = 0, seen = "0.5.18",
      code = "python/sglang/srt/arg_groups/speculative_hook.py: handle_speculative_decoding",
      source = "max_running_requests says it" },
    { before = "0.5.14", when = has_drafts, disable_overlap_schedule = overlaps_no_drafts(false),
      source = "python/sglang/srt/server_args.py, 0.5.6: drafts without the overlap schedule" },
    { since = "0.5.13", before = "0.5.14", when = has_drafts, disable_overlap_schedule = overlaps_no_drafts(true),
      source = "pull request 25464: all drafters but look-ups run the second version, which overlaps" },
    { seen = "0.5.20", code = "python/sglang/srt/arg_groups/memory_hook.py: handle_gpu_memory_settings",
      { chunked_prefill_size = 8192, cuda_graph_max_bs = function(facts) return facts.tp < 4 and 256 or 512 end,
        source = "python/sglang/srt/server_args.py: GPUs of 60 to 160 GB" },
      { gpu = { memory_gib_below = 60 }, chunked_prefill_size = 4096,
        cuda_graph_max_bs = function(facts) return facts.tp < 4 and 32 or 160 end,
        source = "python/sglang/srt/server_args.py: GPUs below 60 GB" },
      { before = "0.5.20", gpu = { memory_gib_below = 35 }, chunked_prefill_size = 2048,
        cuda_graph_max_bs = function(facts) return facts.tp < 4 and 24 or 80 end,
        source = "python/sglang/srt/server_args.py: GPUs below 35 GB" },
      { since = "0.5.20", gpu = { memory_gib_below = 35 }, chunked_prefill_size = 4096,
        cuda_graph_max_bs = function(facts) return facts.tp < 4 and 48 or 160 end,
        source = "pull request 37898 of 2026-09-04: GPUs of 20 to 35 GB; 40346 has it in 0.5.20" },
      { gpu = { memory_gib_below = 20 }, chunked_prefill_size = 2048, cuda_graph_max_bs = 8,
        source = "python/sglang/srt/server_args.py: GPUs below 20 GB" },
      { gpu = { memory_gib_from = 160 }, chunked_prefill_size = 16384, cuda_graph_max_bs = 512,
        source = "python/sglang/srt/server_args.py: GPUs of 160 GB and more" } },
    require "engines.sglang.reserve",
    { router = "round_robin", dp_padding = "sglang", seen = "0.5.18",
      code = "python/sglang/srt/managers/data_parallel_controller.py: round_robin_scheduler",
      source = "managers/data_parallel_controller.py; layers/dp_attention.py; server_args.py, "
        .. "_handle_load_balance_method: a prefill server follows the room of the request" },
    { pipeline_steps = function(facts) return facts.pp end, seen = "0.5.18",
      code = "python/sglang/srt/managers/scheduler_pp_mixin.py: pp_loop_size",
      source = "managers/scheduler_pp_mixin.py: pp_loop_size is "
        .. "pp_size and pp_async_batch_depth, 0 by default; before it managers/scheduler.py, event_loop_pp" },
    { own_sampling = true, seen = "0.5.18", code = "python/sglang/srt/arg_groups/fields/serving.py: sampling_defaults",
      source = "python/sglang/srt/server_args.py: sampling_defaults model" },
    { sorted_logit_s = 0, seen = "0.5.18",
      code = "python/sglang/srt/arg_groups/overrides.py: _sampling_backend_default",
      source = "FlashInfer samples without sorting" },
    -- Host.
    { fitted = true,
      { prompt_overhead = 0, source = "fitted: docs/records/fitted.md, \"Prompts under load\"" },
      { architecture = "blackwell", prompt_overhead = 0.5, source = "the same" },
      { when = only_prompts, prompt_overhead = 0, source = "none is seen in engines that only prefill: the same" } },
    -- transformers 5 loads this family's tokenizer without its own way to split words: clients that made random text
    -- with it counted 7,140 tokens where the server counted 35,921.
    { since = "0.5.10", before = "0.5.12", family = "deepseek_v3", random_text_tokens = 35921 / 7140,
      source = "huggingface/transformers issue 45488; SGLang mends it at start: hf_transformers_utils.py, "
        .. "_fix_v5_tokenizer_components. The figures: SemiAnalysisAI/InferenceX pull request 937" },
    { handover_s = 0.12, fitted = true,
      source = "fitted to TTFT of deployments that split prefill and decode, leaving deployments "
        .. "out: docs/records/fitted.md, \"Handing over\"" },
    { split_front_ends = 1, split_texts = 1, seen = "0.5.18",
      code = "sgl-model-gateway/src/routers/http/pd_router.rs: execute_dual_dispatch_internal",
      source = "pd_router.rs, execute_dual_dispatch_internal: both get the text at the same time (issue 22853)" },
    -- Kernels.
    { fuses_static_fp8 = false, fuses_norm = false, recurrent_copies = 1, norm_apart_s = 0, piecewise_layer_s = 0,
      fitted = true, source = "python/sglang/srt/layers: the norm after an all-reduce is a kernel in the rows' terms" },
    { before = "0.5.10", recurrent_copies = 7, source = "pull requests 20627, 21019" },
    require("engines.sglang.fusions").rules,
    { ropes_in_attention = false, heads_apart = false, launches_apart = false, blocks_launch_apart = false,
      launch_apart_s = 0, seen = "0.5.18",
      code = "python/sglang/srt/layers/rotary_embedding/base.py: RotaryEmbedding.forward_cuda",
      source = "python/sglang/srt/layers/rotary_embedding.py: a kernel in front of the attention; "
        .. "tables and small_kernel_s hold the launches" },
    { shared_beside = 1024, seen = "0.5.18",
      code = "python/sglang/srt/models/qwen3_5.py: DUAL_STREAM_TOKEN_THRESHOLD",
      source = "models/deepseek_v2.py: DUAL_STREAM_TOKEN_THRESHOLD; from 0.5.9 on it stands in other models, and "
        .. "DeepSeek-V2's class has two streams in graphs" },
    { all_reduce_across_nodes = "nccl", seen = "0.5.18",
      code = "python/sglang/srt/distributed/device_communicators/custom_all_reduce.py: dispatch_custom_allreduce",
      source = "distributed/device_communicators/custom_all_reduce.py: off where a group spans nodes; from 0.5.18 on "
        .. "not where the nodes are one domain of NVLink (custom_all_reduce_v2.py)" },
    { exchange = "gathered", seen = "0.5.18", code = "python/sglang/srt/arg_groups/fields/exec_.py: moe_a2a_backend",
      source = "layers/dp_attention.py: moe_a2a_backend none" },
    { cp_of = {}, dcp_of = {}, dcp_combines = function(_, own)
        return (own.dcp_comm_backend or "ag_rs") == "ag_rs" and "gathered" or "all_to_all"
      end, seen = "0.5.18", code = "python/sglang/srt/arg_groups/fields/parallel.py: dcp_comm_backend",
      source = "python/sglang/srt/server_args.py; pull request 21637: ag_rs, a2a and fi_a2a" },
    { since = "0.5.10", cp_of = { "full" }, dcp_of = { "latent" }, seen = "0.5.18",
      code = "python/sglang/srt/server_args.py: _handle_dcp_validation",
      source = "pull request 18233, Qwen3 MoE: which other models have it is not checked; of latent attention 14194, "
        .. "merged before 2026-03-29" },
    { since = "0.5.13", cp_of = { "full", "latent" }, seen = "0.5.18",
      code = "python/sglang/srt/arg_groups/model_overrides/deepseek_v2.py: _deepseek_family_overrides",
      source = "pull request 23292 of 2026-04-20: latent attention" },
    { pixel_s = 4.1e-9, source = "issue 18784: 101.0 ms for 20 images of 960 x 1280 pixels, of 0.5.8" },
    { encoder_mode = function(_, own) return own.mm_enable_dp_encoder and "data" or "weights" end,
      seen = "0.5.18", code = "python/sglang/srt/arg_groups/fields/mm.py: mm_enable_dp_encoder",
      source = "pull request 13126 of 2025-11-12" },
    { experts_apart = false, seen = "0.5.18", code = "python/sglang/srt/server_args.py: no flag of such a mode",
      source = "pull request 10900, closed; 36258 of 2026-08-25 is an experiment on NPUs" },
    { since = "0.5.6", eplb_step_interval = 1000, eplb_window_size = 1000, eplb_head_start = 0, eplb_use_async = false,
      seen = "0.5.18", code = "python/sglang/srt/arg_groups/fields/exec_.py: eplb_rebalance_num_iterations",
      source = "server_args.py: eplb_rebalance_num_iterations, expert_distribution_recorder_buffer_size" },
    { expert_block = 0, fitted = true, source = "DeepGEMM is used after DeepEP" },
    { cuts_prompts = true, budget_holds_seats = false, seen = "0.5.20",
      code = "python/sglang/srt/arg_groups/memory_hook.py: handle_gpu_memory_settings",
      source = "python/sglang/srt/server_args.py" },
    require "engines.rules.weight_only",
    require "engines.sglang.frontend", require "engines.sglang.memory_rules",
    require("engines.sglang.embeddings").rules,
    require "engines.rules.python_host",
    require "engines.rules.rocm",
    require("engines.sglang.fusions").kernels,
    require "engines.sglang.kernels",
  } end,
}
