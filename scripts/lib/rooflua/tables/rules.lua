--- What is wrong with published files and rows, what our columns cannot say, and which tables also answer for other
--- engines. docs/DATA.md has the evidence. Patterns are separated by spaces; each may start or end with '*'.
---
---     files, engines, versions, gpus   as the names of files spell them; "*" where nothing is said
---     when       {{column, test, pattern}, ...}: all hold in a row; without it the rule is about whole files
---     verdict    "wrong": not taken, unless all rows are asked for
---                "elsewhere": our columns cannot say it, never taken
---                "partial": a file that replaces an older one in part, taken if its version is asked for
---                "marked": taken, and the note of the table says the reason
---     reason     for the report of an import
--- Tests: "is", "is not", and "unpadded" for a number above 16 that is no multiple of 16.
local rules = {}

local hopper = "h100* h200*"

rules.rules = {
  -- Files
  { files = "moe", engines = "trtllm", versions = "1.3.0rc23", gpus = "b200*", verdict = "partial",
    reason = "only the experts of DeepSeek-V4; another version has the other shapes" },
  { files = "context_mla generation_mla", engines = "sglang", gpus = "h100* h200* l40s*", verdict = "wrong",
    reason = "prefill was timed in the absorbed form; the H100's file has every row twice" },
  { files = "context_mla generation_mla", engines = "vllm", versions = "0.14*", verdict = "wrong",
    reason = "timed with a floor of 0.1 to 0.3 ms for one token" },
  { files = "context_attention generation_attention gemm scale_matrix computescale", engines = "sglang",
    versions = "0.5.14", gpus = "b300*", verdict = "wrong", reason = "the file is that of the GB300" },
  { files = "wideep_deepep_*", engines = "sglang", versions = "0.5.6.post2", gpus = "h200*", verdict = "wrong",
    reason = "a copy of the H100's" },

  -- Rows that were timed wrongly, or with a kernel that no engine takes
  { files = "gemm", engines = "vllm", versions = "0.2*", when = { { "gemm_dtype", "is", "fp8_block" } },
    verdict = "wrong", reason = "timed eagerly: a floor of 55 to 282 us" },
  { files = "gemm", engines = "sglang", gpus = "b200*", when = { { "gemm_dtype", "is", "fp8" } }, verdict = "wrong",
    reason = "neighbouring m differ by 1.5 and more in 3.6 % of the pairs" },
  { files = "gemm", engines = "vllm", gpus = "b200*", when = { { "gemm_dtype", "is", "fp8" } }, verdict = "marked",
    reason = "bimodal: 6.7 % of neighbouring m from 1024 on differ by 1.5 and more" },
  { files = "gemm", when = { { "m", "unpadded" } }, verdict = "wrong",
    reason = "m above 16 that is no multiple of 16: engines pad, and these take up to 2.4 times as long" },
  { files = "context_attention generation_attention", engines = "sglang trtllm",
    when = { { "kernel_source", "is", "triton flashinfer torch_flow_flashinfer" } }, verdict = "wrong",
    reason = "a second kernel, timed beside the engine's first choice" },
  { files = "moe", engines = "vllm sglang", verdict = "wrong",
    when = { { "hidden_size", "is", "7168" }, { "inter_size", "is", "2048" }, { "num_experts", "is", "256" } },
    reason = "experts of DeepSeek-V3: the collector's logits pass group-limited routing" },
  { files = "moe", engines = "vllm", gpus = hopper, when = { { "moe_dtype", "is", "fp8" } }, verdict = "wrong",
    reason = "untuned kernel: 2 to 3.4 times the time of bf16" },
  { files = "kda", when = { { "phase", "is", "context" }, { "kernel_source", "is", "causal_conv1d*" } },
    verdict = "wrong", reason = "convolution of the prefill, timed eagerly (0.4 to 1 ms for one token)" },
  { files = "wideep_deepep_*", engines = "sglang", versions = "0.5.6.post2", when = { { "node_num", "is", "1" } },
    verdict = "wrong", reason = "one node: timed again with a newer version" },

  -- Rows that our columns cannot tell from others
  { files = "context_attention", engines = "sglang trtllm", verdict = "elsewhere",
    when = { { "kv_cache_dtype", "is", "fp8" }, { "attn_dtype", "is not", "fp8" } },
    reason = "an FP8 cache with 16-bit products: no column for them" },
  { files = "context_attention", engines = "sglang trtllm", verdict = "elsewhere",
    when = { { "kv_cache_dtype", "is not", "fp8" }, { "attn_dtype", "is not", "bfloat16" } },
    reason = "a 16-bit cache with FP8 products: no column for them" },
  { files = "mla_context_module", when = { { "mla_dtype", "is", "fp8" } }, verdict = "elsewhere",
    reason = "attention with FP8 products: no column for them" },
  { files = "moe", when = { { "kernel_source", "is", "*nongated*" } }, verdict = "elsewhere",
    reason = "experts without a gate: no column for them" },
  { files = "gdn kda", when = { { "phase", "is", "generation" }, { "seq_len", "is not", "1" } }, verdict = "elsewhere",
    reason = "several new tokens of a request in a decode: no column for them" },
  { files = "kda", when = { { "kernel_source", "is", "fused_kda_decode" } }, verdict = "elsewhere",
    reason = "another kernel of the same shapes" },
}

--- Files that no table of ours is made from: {file, reason}.
rules.without_op = {
  { "computescale", "a part of the rows of scale_matrix, which is not there" },
  { "encoder_attention", "attention that is not causal: no op" },
  { "dsv4_hca_attn_module", "a part of dsv4_hca modules, which are timed whole" },
  { "dsv4_paged_mqa_logits_module", "a part of dsv4_csa modules, which are timed whole" },
  { "dsv4_megamoe_module", "experts and exchange in one kernel: no op" },
  { "glm5_", "modules of one model: no op" },
  { "mamba2", "state-space layers are modelled: no op" },
  { "wideep_context_mla", "latent attention after DeepEP, absorbed prefill: no op" },
  { "wideep_generation_mla", "latent attention after DeepEP, its size is not published: no op" },
  { "wideep_context_mlp", "a shared MLP of one width: no op" },
  { "wideep_generation_mlp", "a shared MLP of one width: no op" },
}

--- Tables of ours that also answer for other engines, which run the same kernel: {table, GPUs, engines}.
rules.shared_kernels = {
  { "gemm_bf16_vllm", "a100* h100* h200* b200*", { "sglang" } },
  { "gemm_bf16_vllm", "b300* gb200* gb300* l40s* rtx*", { "sglang", "trtllm" } },
  { "gemm_fp8_block_sglang", hopper, { "vllm" } },
  { "gemm_fp8_block_trtllm", "b200*", { "vllm" } },
  { "gemm_nvfp4_vllm", "b200* b300* gb200* gb300*", { "sglang" } },
  { "mla_decode_bf16_trtllm", "b200*", { "sglang", "vllm" } },
  { "mla_prefill_*_trtllm", "b200*", { "sglang" } },
  { "mla_bmm_bf16_vllm", "*", { "sglang", "trtllm" } },
  { "moe_layer_bf16_vllm", "b300* gb200* gb300*", { "sglang" } },
  { "moe_layer_fp8_block_vllm", "b300* gb200* gb300*", { "sglang" } },
  { "moe_layer_nvfp4_vllm", "b300* gb200* gb300*", { "sglang" } },
  { "expert_exchange_fp8_deepep", "*", { "trtllm", "vllm" } },
}

--- Engines as names of published files spell them, and as their authors do.
rules.engines = { { "sglang", "SGLang" }, { "trtllm", "TensorRT-LLM" }, { "vllm", "vLLM" } }

return rules
