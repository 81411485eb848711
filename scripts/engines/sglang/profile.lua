--- What SGLang's scheduler writes into a profiler's trace: names of steps, and of kernels that are its own. The form of
--- the rows: rooflua/profile/rows.lua.
local span = "sgl-project/sglang pull request 24911: the span step[...] of each forward pass"

return {
  steps = {
    { "^execute_(%d+)_context_(%d+)%(sq(%d+)sk(%d+)sqsq%d+sqsk%d+%)_generation_(%d+)%(sq(%d+)sk(%d+)",
      fields = { "tokens", "prompts", "prompt_tokens", "prompt_kv", "decodes", "decode_tokens", "decode_kv" },
      source = "the samples of AMD-AGI/TraceLens, tests/traces/inference" },
    { "^step%[DECODE bs=(%d+)", fields = { "decodes" }, source = span },
    { "^step%[EXTEND bs=(%d+) toks=(%d+)", fields = { "prompts", "prompt_tokens" }, source = span },
    { "^step%[%u+ bs=(%d+)", fields = {}, source = span },
    { "^run_batch", fields = {}, source = "python/sglang/srt/managers/scheduler.py: run_batch" },
    { "^scheduler%.run_batch", fields = {}, source = "python/sglang/srt/utils: scheduler ranges of NVTX" },
  },
  kernels = {
    { "cross_device_reduce", operation = "all_reduce", source = "sglang sgl-kernel/csrc/allreduce" },
    { "fused_moe_kernel", operation = "experts", source = "python/sglang/srt/layers/moe/fused_moe_triton" },
    { "^_fwd_kernel_stage", operation = "attention_decode",
      source = "python/sglang/srt/layers/attention/triton_ops/decode_attention.py" },
    { "^_fwd_kernel", operation = "attention_prefill",
      source = "python/sglang/srt/layers/attention/triton_ops/extend_attention.py" },
  },
}
