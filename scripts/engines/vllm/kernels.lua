--- Formats for which vLLM has no kernels on a GPU, by release: it then stops at start. Marlin runs FP8, NVFP4 and MXFP4
--- on GPUs that do not multiply them.
local formats = require "engines.rules.formats"
local states = require "engines.vllm.states"

local is_turboquant = formats.of_kv "turboquant"
local old = { "turing", "ampere", "ada", "hopper" }

return {
  { before = "0.5.1", architecture = { "turing", "ampere" }, when = formats.of_any("fp8", "fp8_block"),
    no_kernels = "weights in FP8", source = "pull request 5975: FP8 Marlin for Ampere" },
  { before = "0.14", architecture = "turing", when = formats.of_any("fp8", "fp8_block", "nvfp4"),
    no_kernels = "weights in FP8 and NVFP4", source = "pull requests 29901 and 33076: Marlin for Turing since 0.14" },
  { before = "0.9", architecture = { "turing", "ampere" }, when = formats.of_experts("fp8", "fp8_block"),
    no_kernels = "experts in FP8", source = "issues 17579 and 18182; pull request 16850: FP8 Marlin for experts" },
  { before = "0.9", architecture = { "turing", "ampere" }, when = formats.of_any "fp8_block",
    no_kernels = "weights in FP8 blocks", source = "issue 13885: Marlin has no blocks; pull request 16850" },
  { before = "0.9", architecture = old, when = formats.of_any "nvfp4", no_kernels = "weights in NVFP4",
    source = "vllm/model_executor/layers/quantization/modelopt.py of 0.8; pull request 17687: FP4 Marlin" },
  { before = "0.10.1", when = formats.of_experts "mxfp4", no_kernels = "experts in MXFP4",
    source = "pull request 22259: MXFP4 comes with gpt-oss" },
  { architecture = "turing", when = formats.of_experts "mxfp4", no_kernels = "experts in MXFP4", seen = "0.28",
    code = "vllm/model_executor/layers/fused_moe/oracle/mxfp4.py: select_mxfp4_moe_backend",
    source = "issue 23203: compute capability 8.0 and later" },
  { before = "0.20", when = formats.of_kv("int8_per_token_head", "fp8_per_token_head", "turboquant"),
    no_kernels = "this format of the KV cache", source = "pull requests 38378 and 38479, 2026-04" },
  { before = "0.25", when = formats.of_kv "int4_per_token_head", no_kernels = "this format of the KV cache",
    source = "pull request 40835, merged 2026-06-24: four days before 0.24.0, taken to be after its branch" },
  { before = "0.21", when = function(facts) return is_turboquant(facts) and states.are_in(facts.model) end,
    no_kernels = "TurboQuant beside recurrent layers", source = "pull request 39931, 2026-05" },
  { before = "0.26", family = "inkling", no_kernels = "relative attention", source = "pull request 48799, 2026-07" },
  { before = "0.29", family = "glm5_next", no_kernels = "an index of pooled keys",
    source = "pull request 53906, merged after 0.28" },
  { architecture = { "turing", "ampere", "ada" }, family = "deepseek_v4", no_kernels = "hyper-connections",
    seen = "0.28", code = "vllm/models/deepseek_v4/nvidia/model.py: DeepGEMM",
    source = "issue 40851, open: DeepGEMM's need compute capability 9.0" },
}
