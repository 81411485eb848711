--- Rows of TensorRT-LLM's rules about memory. Read by engines/trtllm/memory.lua.
local gib = 2 ^ 30

local fitted = "fitted on start-up logs of 2024 to 2026 (half of those that are known; models and GPUs of the other "
  .. "half left out)"

--- Whether the second version of the KV cache holds, where it is the default.
local function is_second(_, own) return own["kv_cache_config.use_kv_cache_manager_v2"] ~= false end

local function has_peers(facts) return facts.tp * facts.pp * facts.dp * facts.cp > 1 end

return {
  { runtime_bytes = 4.3 * gib, fitted = true, source = fitted .. ": context, workspaces of GEMMs and of the tuner" },
  { when = has_peers, runtime_bytes = 8.5 * gib, fitted = true,
    source = fitted .. ": the same, NCCL and all-reduce workspaces" },
  { before = "1.0.0rc0", runtime_bytes = 1.5 * gib, fitted = true, source = fitted },
  { built = false, sampler_bytes = 4, code = "tensorrt_llm/_torch/pyexecutor/_util.py: KvCacheCreator",
    source = "tensorrt_llm/_torch/pyexecutor/_util.py" },
  { before = "1.0.0rc0", built = true, sampler_bytes = 16,
    source = "cpp/tensorrt_llm/runtime: logits in 32 bit and the decoder's copies, for every seat; its bytes are "
      .. fitted },
  { first_graph_bytes = 1.0 * gib, graph_layer_bytes = 0.00003 * gib, fitted = true, source = fitted },
  { state_element_bytes = 4,
    code = "tensorrt_llm/_torch/pyexecutor/kv_cache/mamba_cache_manager/mamba_cache_manager_v2.py: "
      .. "MambaHybridCacheManagerV2",
    source = "tensorrt_llm/_torch/pyexecutor/resource_manager.py, MambaCacheManager" },
  { before = "1.4.0rc1", pools_by_window = function(_, own)
      return own["kv_cache_config.use_kv_cache_manager_v2"] == true
    end, source = "pull request 10659: the second version of the KV cache, where it is asked for" },
  { since = "1.3.0rc24", before = "1.4.0rc1", family = { "gpt_oss", "gemma3", "gemma4", "deepseek_v4" },
    pools_by_window = is_second,
    source = "pull requests 16060 and 18228: models that prefer it; which candidate of 1.3 has which was not read" },
  { since = "1.4.0rc1", pools_by_window = is_second, seen = "1.4.0rc4",
    code = "tensorrt_llm/llmapi/llm_args.py: KvCacheConfig.use_kv_cache_manager_v2",
    source = "release notes of 1.4.0rc1, pull request 17495: it is the default, as is the Python transceiver" },
  { longest_leaves_blocks = 0, source = "tensorrt_llm/_torch/pyexecutor/resource_manager.py: max_seq_len is clamped to "
    .. "what the cache holds; pull request 5720" },
  { holds_longest = function(_, own) return own.fail_fast_on_attention_window_too_large == true end,
    source = "pull request 5974" },
  { mxfp4_padding = { 256, 128 }, source = "tensorrt_llm/_torch/modules/fused_moe" },
  { before = "1.3", longer_context = "rope_scaling in the model's config.json and --max_seq_len N",
    source = "tensorrt_llm/_torch/attention_backend/interface.py, RopeParams.from_config" },
  { since = "1.3", longer_context = "model_kwargs: {rope_scaling: {...}} of its YAML file and --max_seq_len N",
    seen = "1.4.0rc4", code = "tensorrt_llm/llmapi/llm_args.py: BaseLlmArgs.model_kwargs",
    source = "pull request 10351: model_kwargs of the PyTorch back end" },
}
