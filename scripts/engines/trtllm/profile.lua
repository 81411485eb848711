--- What TensorRT-LLM writes into a profiler's trace: names of steps, and of kernels that are its own. The form of the
--- rows: rooflua/profile/rows.lua.
return {
  steps = {
    { "^%[Executor%] _forward_step %d+: (%d+) ctx reqs?, (%d+) ctx tokens?, (%d+) gen reqs?",
      fields = { "prompts", "prompt_tokens", "decodes" },
      source = "tensorrt_llm/_torch/pyexecutor/py_executor.py: _forward_step" },
    { "^%[Executor%] _forward_step", fields = {},
      source = "tensorrt_llm/_torch/pyexecutor/py_executor.py: _forward_step" },
    { "^_forward_step$", fields = {},
      source = "tensorrt_llm/_torch/pyexecutor/model_engine.py: nvtx_range" },
  },
  kernels = {
    { "masked_multihead_attention", operation = "attention_decode", source = "cpp/tensorrt_llm/kernels" },
    { "applybiasropeupdatekvcache", operation = "rope", fuses = { "kv_write" },
      source = "cpp/tensorrt_llm/kernels/unfusedAttentionKernels" },
    { "userbuffers", operation = "all_reduce", source = "cpp/tensorrt_llm/kernels/userbuffers" },
    { "expandinputrows", operation = "experts", source = "cpp/tensorrt_llm/kernels/cutlass_kernels/moe_gemm" },
    { "finalizemoe", operation = "experts", source = "cpp/tensorrt_llm/kernels/cutlass_kernels/moe_gemm" },
  },
}
