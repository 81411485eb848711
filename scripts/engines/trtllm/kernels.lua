--- Formats for which TensorRT-LLM has no kernels on a GPU, by release: it then stops at start.
local formats = require "engines.rules.formats"

local before_hopper, before_blackwell = { "turing", "ampere", "ada" }, { "turing", "ampere", "ada", "hopper" }

--- Marlin for Hopper, which has to be asked for.
local function unless_marlin(what)
  return function(facts, own)
    local is_hopper = facts.hardware.architecture == "hopper"
    return not (is_hopper and own["moe_config.backend"] == "MARLIN") and what or nil
  end
end

return {
  { architecture = { "cdna3", "cdna4", "xe2" }, no_kernels = "any model",
    source = "TensorRT-LLM support matrix: GPUs of NVIDIA" },
  { family = { "glm5_next", "inkling" }, no_kernels = "the model's kinds of layers",
    source = "pull request 19136 and issue 16507: open" },
  { seen = "1.4.0rc4", code = "tensorrt_llm/_torch/moe/fused_moe/fused_moe_cutlass.py: _QUANT_SUPPORT_TABLE",
  { architecture = before_hopper, when = formats.of_experts "mxfp4", no_kernels = "experts in MXFP4",
    source = "_torch/modules/fused_moe/fused_moe_cutlass.py: W4A16 on compute capability 9.0, MXFP8 from 10.0 on; "
      .. "issue 6717: unsupported on SM89" },
  { architecture = { "turing", "ampere" }, when = formats.of_any("fp8", "fp8_block"), no_kernels = "weights in FP8",
    source = "TensorRT-LLM support matrix: FP8 on Ada and later" },
  { architecture = before_blackwell, when = formats.of_any "nvfp4", no_kernels = unless_marlin "weights in NVFP4",
    source = "issue 2869: CUTLASS FP4 GEMM from compute capability 10.0 on; pull request 13476: Marlin on Hopper where "
      .. "it is asked for" } },
}
