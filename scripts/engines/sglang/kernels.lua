--- Formats for which SGLang has no kernels on a GPU, by release: it then stops at start.
local formats = require "engines.rules.formats"

local before_ada = { "turing", "ampere" }

return {
  { before = "0.5.11", architecture = { "turing", "ampere", "ada", "hopper" }, when = formats.of_any "nvfp4",
    no_kernels = "weights in NVFP4", source = "pull request 19652, merged in 2026-04: before, it asks for compute "
      .. "capability 10.0" },
  { before = "0.5.6", when = formats.of_kv "nvfp4", no_kernels = "a KV cache in FP4",
    source = "pull requests 10078 and 12612, merged in 2025-11" },
  { architecture = before_ada, when = formats.of_experts("fp8", "fp8_block"), no_kernels = "experts in FP8",
    seen = "0.5.18", code = "python/sglang/srt/layers/quantization/fp8.py: Fp8MoEMethod",
    source = "issue 12887; pull request 30681, open: Triton has no fp8e4nv below compute capability 8.9" },
  { architecture = before_ada, family = "deepseek_v4", when = formats.of_experts "mxfp4",
    no_kernels = "experts in MXFP4", seen = "0.5.18",
    code = "python/sglang/srt/layers/quantization/mxfp4_marlin_moe.py: is_sm90_supported",
    source = "python/sglang/srt/layers/quantization/mxfp4_marlin_moe.py; pull request 33589, open" },
}
