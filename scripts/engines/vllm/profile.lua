--- What vLLM's workers write into a profiler's trace: names of steps, and of kernels that are its own. The form of the
--- rows: rooflua/profile/rows.lua.
local worker = "vllm/v1/worker/gpu_worker.py: annotate_profile"

return {
  steps = {
    { "^execute_(%d+)_context_(%d+)%(sq(%d+)sk(%d+)sqsq%d+sqsk%d+%)_generation_(%d+)%(sq(%d+)sk(%d+)",
      fields = { "tokens", "prompts", "prompt_tokens", "prompt_kv", "decodes", "decode_tokens", "decode_kv" },
      source = worker .. ", detailed annotations; the samples of AMD-AGI/TraceLens, tests/traces/inference" },
    { "^execute_context_(%d+)%((%d+)[_%d]*%)_generation_(%d+)%((%d+)[_%d]*%)",
      fields = { "prompts", "prompt_tokens", "decodes", "decode_tokens" }, seen = "0.24", source = worker },
    { "^execute_new_(%d+)_cached_(%d+)", fields = {}, before = "0.21",
      source = worker .. ", releases before it counts tokens" },
    { "^gpu_model_runner: forward$", fields = {}, before = "0.29",
      source = "vllm/v1/worker/gpu_model_runner.py: record_function_or_nullcontext; Model Runner V2, the default since "
        .. "0.29, writes none" },
  },
  kernels = {
    { "kernel_unified_attention", operation = "attention", source = "vllm/attention/ops/triton_unified_attention.py" },
    { "^reduce_segments", operation = "attention", after = true,
      source = "vllm/attention/ops/triton_unified_attention.py" },
    { "cross_device_reduce", operation = "all_reduce", source = "vllm csrc/custom_all_reduce.cuh" },
    { "^triton_poi_fused_constant_pad_nd_moe", operation = "experts",
      source = "vllm fused_moe: padding of hidden states" },
    { "fused_moe_kernel", operation = "experts", source = "vllm/model_executor/layers/fused_moe/fused_moe.py" },
  },
}
