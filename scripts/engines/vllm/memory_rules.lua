--- Rows of vLLM's rules about memory: what its dummy run takes, by release. Read by engines/vllm/memory.lua.
local formats = require "engines.rules.formats"
local states = require "engines.vllm.states"

local gib = 2 ^ 30

local fitted = "fitted on start-up logs of 2024 to 2026 (half of those that are known; models and GPUs of the other "
  .. "half left out)"

local function has_peers(facts) return facts.tp * facts.pp * facts.dp * facts.cp > 1 end
--- GPUs that reach each other over NVLink.
local function has_links(facts)
  return has_peers(facts) and facts.hardware ~= nil and facts.hardware.link_bytes_per_s > 100e9
end

local context_bytes = 0.3 * gib

--- Beside PyTorch, as V0 measures it.
local function of_v0(facts)
  if not has_peers(facts) then return 0.1 * gib end
  return not has_links(facts) and 0.2 * gib or facts.hardware.architecture == "hopper" and 0.9 * gib or 0.6 * gib
end

local groups = "experts have a group of ranks of their own with a second communicator "
  .. "(vllm/distributed/parallel_state.py: _EP)"
local aiter = "VLLM_ROCM_USE_AITER is taken to be 1, with which prices of this GPU are made"

local function has_experts(facts) return facts.model ~= nil and facts.model.moe ~= nil end

--- GiB of the communicators of dense models, and what that of experts takes more.
local function by_groups(dense, more)
  return function(facts) return (dense + (has_experts(facts) and more or 0)) * gib end
end

local is_off = { ["0"] = true, ["false"] = true, ["False"] = true }

--- RCCL and the buffers of AITER's all-reduce.
local function with_aiter(bytes)
  local of_groups = by_groups(1, 1)
  return function(facts, own) return of_groups(facts) + (is_off[own.VLLM_ROCM_USE_AITER or ""] and 0 or bytes) end
end

local function is_latent(facts) return facts.model ~= nil and facts.model.mla ~= nil end

--- Whether an index selects tokens for some layers.
local function has_index(facts)
  for _, each in ipairs(facts.model and facts.model.attention or {}) do
    if each.index then return true end
  end
  return false
end

--- Bytes of a seat and word in the sampler: of PyTorch (logits in 16 and 32 bits, their sort with 64-bit indices,
--- probabilities and cumulated sums), of FlashInfer.
local by_pytorch, by_flashinfer = 38.3, 14

--- Bytes of the sampler that is asked for, else those of the default. That of model runner V2 neither filters nor
--- returns logprobs while memory is measured; each rank samples its part of the requests where that is asked for.
local function of_sampler(default)
  return function(facts, own)
    if own.model_runner == "V2" then return own.enable_batch_sharded_sampling and 8 / facts.tp or 8 end
    local stated = own.VLLM_USE_FLASHINFER_SAMPLER
    return stated == "1" and by_flashinfer or stated == "0" and by_pytorch or default
  end
end

--- Whether graphs are counted: unless a variable says otherwise, by one model runner or by all.
local function counted_by(runner)
  return function(_, own)
    return own.VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS ~= "0" and (runner == nil or own.model_runner == runner)
  end
end

local function unless_said(bytes)
  return function(_, own) return own.VLLM_USE_FLASHINFER_SAMPLER == nil and bytes or nil end
end

return {
  -- The dummy run and its sampler.
  { seen = "0.28", code = "vllm/v1/sample/ops/topk_topp_sampler.py: TopKTopPSampler",
    { sampler_bytes = by_pytorch, source = "vllm/v1/sample; before 0.8 vllm/model_executor/layers/sampler.py" },
    { since = "0.8", sampler_bytes = of_sampler(by_pytorch), source = "vllm/v1/sample/ops/topk_topp_sampler.py" } },
  { since = "0.10", before = "0.11", other_sampler_bytes = unless_said(by_flashinfer),
    source = "the same: FlashInfer where it is installed; start-up logs of 0.10.1 and 0.10.2 are of both kinds, those "
      .. "of 0.11.0 of PyTorch's; pull request 26859 turns it off" },
  { since = "0.10.1.1", before = "0.10.2", sampler_bytes = of_sampler(by_flashinfer),
    source = "the same: its image has FlashInfer" },
  { since = "0.16", sampler_bytes = of_sampler(by_flashinfer), seen = "0.28",
    code = "vllm/v1/sample/ops/topk_topp_sampler.py: flashinfer_sampler_supported",
    source = "the same: FlashInfer by default; for 0.16 to 0.20 inferred from logs of 0.19" },
  { since = "0.25", sampler_bytes = of_sampler(by_flashinfer), seen = "0.28",
    code = "vllm/v1/worker/gpu/model_runner.py: GPUModelRunner._dummy_sampler_run",
    source = "vllm/v1/worker/gpu/model_runner.py; pull request 50465 adds sampling in parts, off unless asked for" },
  { architecture = { "cdna3", "cdna4" }, sampler_bytes = of_sampler(by_pytorch), other_sampler_bytes = false,
    seen = "0.28", code = "vllm/v1/sample/ops/topk_topp_sampler.py: TopKTopPSampler",
    source = "the same: ROCm has PyTorch's sampler" },
  -- Beside PyTorch.
  { runtime_bytes = 0.1 * gib, fitted = true, source = fitted },
  { before = "0.6.5", runtime_bytes = 0.35 * gib,
    fitted = true, source = fitted .. ": until 0.6.4 the context of the process counts (issue 10517)" },
  { since = "0.8", runtime_bytes = 0.13 * gib, fitted = true, source = fitted },
  { since = "0.26", runtime_bytes = context_bytes,
    fitted = true, source = fitted .. ": from 0.26 on what is free before and after counts" },
  { when = has_peers, runtime_bytes = 0.2 * gib, fitted = true, source = fitted .. ": NCCL without peer access" },
  { since = "0.26", when = has_peers, runtime_bytes = context_bytes + 0.2 * gib, fitted = true,
    source = "both of these" },
  { when = has_links, runtime_bytes = 0.6 * gib, fitted = true,
    source = fitted .. ": NCCL and custom all-reduce over NVLink" },
  { architecture = "hopper", when = has_links, runtime_bytes = by_groups(0.65, 0.25), fitted = true,
    source = fitted .. ": the same, with NVSwitches; " .. groups },
  { architecture = "blackwell", runtime_bytes = 0.4 * gib, fitted = true, source = fitted },
  { architecture = "blackwell", when = has_links, runtime_bytes = by_groups(1.2, 1.75), fitted = true,
    source = fitted .. ": NVLink SHARP and symmetric memory; " .. groups },
  { since = "0.26", architecture = "hopper", when = has_links, runtime_bytes = by_groups(0.65 + 0.3, 0.25),
    fitted = true, source = "both of these: the context counts" },
  { since = "0.26", architecture = "blackwell", when = has_links, runtime_bytes = by_groups(1.2 + 0.3, 1.75),
    fitted = true, source = "both of these: the context counts" },
  { since = "0.11", gpu = { named = "gb10" }, runtime_bytes = 10 * gib, fitted = true,
    source = "vllm/utils/mem_utils.py, MemorySnapshot: what the system has free of a memory that CPU and GPU share, so "
      .. "that compilers and loaders of the host count; fitted on one deployment, 4 to 31 GiB in public reports "
      .. "(spark-vllm-docker pull request 286)" },
  { architecture = { "cdna3", "cdna4" }, when = has_peers, runtime_bytes = by_groups(1, 1), fitted = true,
    source = "fitted on start-up logs of one model on MI355X, no other is known: RCCL; " .. groups },
  { since = "0.21", before = "0.25", architecture = { "cdna3", "cdna4" }, when = has_peers,
    runtime_bytes = with_aiter(4 * gib),
    source = "pull request 37646: AITER's all-reduce beside vLLM's, four buffers of 1 GiB (aiter pull request 2737: "
      .. "3.6 GB more than with 128 MB); " .. aiter },
  { since = "0.25", before = "0.26", architecture = { "cdna3", "cdna4" }, when = has_peers,
    runtime_bytes = with_aiter(0.5 * gib),
    source = "pull request 46065: AITER's all-reduce in place of vLLM's, its buffers of 128 MiB; " .. aiter },
  { since = "0.26", architecture = { "cdna3", "cdna4" }, when = has_peers,
    runtime_bytes = with_aiter(0.5 * gib + context_bytes), seen = "0.28",
    code = "vllm/distributed/device_communicators/cuda_communicator.py: CudaCommunicator",
    source = "both of these: the context counts; " .. aiter },
  { since = "0.8", before = "0.10", runtime_bytes = function(facts, own)
    if own.generation == "V0" then return of_v0(facts) end
    return has_links(facts) and 1.4 * gib or 0.63 * gib
  end, source = "vllm/v1/worker/gpu_worker.py of 0.9: all that the GPU uses besides PyTorch; the context has 0.5 GiB" },
  -- Graphs.
  { seen = "0.28", code = "vllm/v1/worker/gpu_worker.py: Worker.determine_available_memory",
    { graphs_counted = false, source = "vllm/v1/worker/gpu_worker.py" },
    { since = "0.18", graphs_counted = function(_, own) return own.VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS == "1" end,
      source = "pull request 30515: where it is asked for" },
    { since = "0.21", graphs_counted = counted_by "V1", source = "pull request 30515; of model runner V2 "
      .. "vllm/v1/worker/gpu/model_runner.py, profile_cudagraph_memory, is 0 (issue 49224)" },
    { since = "0.29", graphs_counted = counted_by(), seen = "0.29",
      code = "vllm/v1/worker/gpu/model_runner.py: GPUModelRunner.profile_cudagraph_memory",
      source = "vllm/v1/worker/gpu/model_runner.py: model runner V2 measures them as well" },
    { before = "0.26", architecture = { "cdna3", "cdna4" }, graphs_counted = false,
      source = "vllm/v1/worker/gpu_worker.py: not on ROCm; pull requests 47366 and 48526" },
  },
  { first_graph_bytes = 0.4 * gib, graph_layer_bytes = 0.00022 * gib, fitted = true, source = fitted },
  { piecewise_graph_share = 1, seen = "0.28",
    code = "vllm/v1/worker/gpu_model_runner.py: GPUModelRunner.profile_cudagraph_memory",
    source = "vllm/v1/worker/gpu_model_runner.py: the second graph of each kind stands for all that follow" },
  { since = "0.29", piecewise_graph_share = function(_, own) return own.model_runner == "V2" and 0.3 or 1 end,
    fitted = true, source = "vllm/v1/worker/gpu/cudagraph_utils.py, profile_cudagraph_memory: piecewise graphs are "
      .. "captured and measured in full, of those of decode steps two; what they share: fitted on start-up logs of "
      .. "0.18 to 0.26 that print the estimate and what graphs took (the median of 11; in 6 more those of decode "
      .. "steps share as well)" },
  { when = has_index, first_graph_bytes = 2.9 * gib,
    fitted = true, source = fitted .. ": with sparse attention the first graph holds its buffers" },
  -- Pages.
  { layer_groups = function(_, own) return not own.disable_hybrid_kv_cache_manager end, seen = "0.33",
    code = "vllm/v1/core/kv_cache_planning.py: get_kv_cache_groups",
    source = "vllm/v1/core/kv_cache_utils.py, from 0.33 on kv_cache_planning.py: the hybrid KV cache manager" },
  { before = "0.9.2", layer_groups = false, source = "the same: one kind of layers" },
  { before = "0.12", group_slack = 1, source = "the same: groups of as many layers as the rarest kind has" },
  { since = "0.12", before = "0.18", group_slack = 1.25, source = "pull request 29303 of 2025-11" },
  { since = "0.18", group_slack = 1.5, seen = "0.33",
    code = "vllm/v1/core/kv_cache_planning.py: _get_kv_cache_groups_uniform_page_size",
    source = "pull request 36684 of 2026-03" },
  { before = "0.8", memory_band = "V0", source = "vllm/worker/worker.py" },
  { since = "0.8", before = "0.21", memory_band = function(_, own) return own.generation or "V1 to 0.20" end,
    source = "vllm/v1/worker/gpu_worker.py" },
  { since = "0.21", memory_band = "0.21 and later", fitted = true, source = "the same" },
  { seen = "0.28", code = "vllm/v1/core/kv_cache_utils.py: get_kv_cache_capacity",
    { prints_requests = false, source = "vllm/v1/core/kv_cache_utils.py, _report_kv_cache_config" },
    { since = "0.21", prints_requests = true, source = "the same" },
  },
  { kv_plain_layers = 0, seen = "0.28",
    code = "vllm/model_executor/layers/quantization/turboquant/config.py: TurboQuantConfig.get_boundary_skip_layers",
    source = "a row below says where it is another" },
  { since = "0.20", when = formats.of_kv "turboquant", kv_plain_layers = function(facts)
      return states.are_in(facts.model) and 0 or 2
    end, seen = "0.28",
    code = "vllm/model_executor/layers/quantization/turboquant/config.py: TurboQuantConfig.get_boundary_skip_layers",
    source = "pull request 38479: the first and the last two layers keep 16 bits, unless some layers are recurrent" },
  { state_element_bytes = 2, state_page_alignment = 16, seen = "0.28",
    code = "vllm/model_executor/layers/mamba/mamba_utils.py: MambaStateDtypeCalculator",
    source = "vllm/model_executor/layers/mamba/mamba_utils.py: mamba_cache_dtype auto is the model's; "
      .. "vllm/model_executor/models/config.py, HybridAttentionMambaModelConfig" },
  { states_as_windows = states.as_windows, seen = "0.28",
    code = "vllm/models/inkling/nvidia/sconv_swa_attn.py: InklingConvState",
    source = "pull request 48799: inputs of short convolutions alone are a window of as many tokens as the kernel has, "
      .. "in pages of as many, each head padded to a power of two" },
  { sparse_latent_bytes = 656, seen = "0.28",
    code = "vllm/v1/attention/backends/mla/flashmla_sparse.py: FlashMLASparseBackend.get_kv_cache_shape",
    source = "vllm/v1/attention/backends/mla/flashmla_sparse.py: fp8_ds_mla" },
  { family = { "qwen3_5", "qwen3_5_moe", "kimi_linear", "kimi_k3" }, state_element_bytes = 4,
    seen = "0.28", code = "vllm/config/cache.py: CacheConfig.mamba_ssm_cache_dtype",
    source = "vllm/model_executor/models/config.py: mamba_ssm_dtype of the config; of K3 LMCache pull request 4278: "
      .. "768 tokens of 1,152 bytes hold 12 states of 64 KiB" },
  { before = "0.27", when = is_latent, state_page_alignment = 64,
    source = "vllm/model_executor/models/config.py, HybridAttentionMambaModelConfig: blocks of FlashMLA" },
  { before = "0.27", architecture = "blackwell", when = is_latent, state_page_alignment = 128,
    source = "the same: blocks of CUTLASS MLA" },
  { since = "0.27", when = is_latent, state_page_alignment = 128, seen = "0.28",
    code = "vllm/platforms/interface.py: Platform._align_hybrid_block_size",
    source = "pull request 50000: blocks of all kernels of latent attention" },
  { since = "0.14", cached_state_blocks = 2, seen = "0.28",
    code = "vllm/v1/kv_cache_interface.py: MambaSpec.max_memory_usage_bytes",
    source = "vllm/v1/kv_cache_interface.py, MambaSpec: mamba_cache_mode align; pull request 30877" },
  { since = "0.19", states_hold_seats = function(_, own)
    local mode = own["compilation_config.cudagraph_mode"]
    return mode ~= "NONE" and mode ~= "PIECEWISE"
  end, seen = "0.28", code = "vllm/config/compilation.py: CompilationConfig, has_mamba_layers",
    source = "pull request 38270: graphs of decode steps need a block of states for each seat" },
  { seen = "0.28", code = "vllm/config/vllm.py: VllmConfig.max_in_flight_tokens, max_concurrent_batches",
    { in_flight_steps = 1, source = "vllm/v1/kv_cache_interface.py, SlidingWindowSpec: a step beyond the window" },
    { since = "0.26", in_flight_steps = function(facts, own)
      if not own.async_scheduling then return facts.pp end
      return own.model_runner == "V2" and facts.pp + 1 or facts.pp == 1 and 2 or facts.pp
    end, source = "pull request 47728; vllm/config/vllm.py, max_in_flight_tokens: steps that are planned and not done; "
      .. "with model runner V2 one more than stages (pull request 42187)" },
  },
  { before = "0.23", compressed_pages = "tuples",
    source = "vllm/v1/core/kv_cache_utils.py of 0.22: so many pages of each size as the largest group has tuples" },
  { since = "0.23", before = "0.27", compressed_pages = "slots",
    source = "pull request 44454: as many of each size as has layers" },
  { since = "0.27", compressed_pages = "dense", seen = "0.33",
    code = "vllm/v1/core/kv_cache_planning.py: get_kv_cache_config_from_groups, _get_packed_kv_cache_groups",
    source = "pull request 48993 of 2026-07-22, after 0.26: the pages of a group without holes" },
  { seen = "0.28", code = "vllm/config/attention.py: AttentionConfig.resolve_indexer_kv_dtype",
    { index_format = "fp8", source = "vllm/models/deepseek_v4/attention.py; before 0.27 entries in MXFP4 took the "
      .. "place of those in FP8 (pull request 48993)" },
    { since = "0.27", index_format = function(_, own)
      local asked = own["attention_config.use_fp4_indexer_cache"] or own["attention_config.indexer_kv_dtype"] == "mxfp4"
      return asked and "mxfp4" or "fp8"
    end, source = "pull request 48993; recipes pull request 992: indexer_kv_dtype in newer releases" },
  },
  { seen = "0.28", code = "vllm/v1/core/kv_cache_utils.py: get_max_concurrency_for_kv_cache_config",
    { counted_by_bytes = true, source = "vllm/v1/core/kv_cache_utils.py, get_max_concurrency_for_kv_cache_config: "
      .. "bytes of a request in all groups over those of a block of the first" },
    { since = "0.27", counted_by_bytes = false, source = "pull request 48317 of 2026-07-21: blocks of each group" },
  },
  -- Start: "To serve at least one request with the model's max seq len, ... KV cache is needed".
  { holds_longest = true, seen = "0.33", code = "vllm/v1/core/kv_cache_planning.py: check_enough_kv_cache_memory",
    source = "0.6.6 vllm/worker/worker.py, raise_if_cache_size_invalid; 0.8 to 0.24 "
    .. "vllm/v1/core/kv_cache_utils.py, check_enough_kv_cache_memory" },
  { before = "0.11.1", index_buffer_requests = 2, source = "vllm/v1/attention/backends/mla/indexer.py of 0.11.0" },
  { since = "0.11.1", index_buffer_requests = 40, seen = "0.28",
    code = "vllm/v1/attention/backends/mla/indexer.py: get_max_prefill_buffer_size",
    source = "vllm/v1/attention/backends/mla/indexer.py, get_max_prefill_buffer_size" },
  { since = "0.11", latent_prefix_tokens = 65536, seen = "0.28",
    code = "vllm/model_executor/layers/attention/mla_attention.py: determine_chunked_prefill_workspace_size",
    source = "vllm/v1/attention/backends/mla/common.py of 0.11: determine_chunked_prefill_workspace_size, and forward "
      .. "without metadata; sparse attention does without" },
  -- Experts in MXFP4.
  { seen = "0.28",
    code = "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py: mxfp4_round_up_hidden_size_and_intermediate_size",
    { mxfp4_padding = { 256, 128 }, source = "vllm/model_executor/layers/quantization/mxfp4.py: Marlin" },
    { architecture = "hopper", before = "0.12", mxfp4_padding = { 256, 1 },
      source = "the same: Triton's layout of Hopper" },
    { architecture = "blackwell", mxfp4_padding = { 256, 256 }, source = "the same: FlashInfer" },
    { since = "0.27", architecture = "blackwell", mxfp4_padding = { 256, 128 },
      source = "pull request 50000: kernels of TensorRT-LLM in FlashInfer take a width in 128" },
  },
  -- Requests beyond the model's context.
  { before = "0.11.1", longer_context = [[--rope-scaling '{"rope_type": "yarn", "factor": F, ...}' --max-model-len N]],
    source = "vllm/engine/arg_utils.py of 0.8 to 0.11.0" },
  { since = "0.11.1", before = "0.12", longer_context = [[--hf-overrides '{"rope_scaling": {...}}' --max-model-len N]],
    source = "pull request 28006 takes --rope-scaling away; docs of 0.10.2, examples/offline_inference, "
      .. "context_extension.py" },
  { since = "0.12", longer_context = [[--hf-overrides '{"rope_parameters": {...}}' --max-model-len N]], seen = "0.28",
    code = "vllm/engine/arg_utils.py: EngineArgs.hf_overrides",
    source = "pull request 28542; docs/features/context_extension" },
}
