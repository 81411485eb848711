--- Models whose routers vLLM keeps in 32 bits, by release, and the variable that allows tensor cores for them.
local router_gemm = require "engines.rules.router_gemm"

local gate = "vllm/model_executor/models/minimax_m2.py: MiniMaxM2MoE"
local families = { "minimax_m2", "minimax_m3", "hy_v3", "step3p5", "step3p7" }

--- Whether PyTorch may multiply 32 bits on tensor cores. The engine's own kernel does not ask.
local function by_precision(prefix)
  return function(_, own)
    local precision = own.VLLM_FLOAT32_MATMUL_PRECISION or "highest"
    return prefix .. (precision == "highest" and "fp32" or "tf32")
  end
end

return {
  options = {
    { "VLLM_FLOAT32_MATMUL_PRECISION", variable = true, type = "text", values = { "highest", "high", "medium" },
      read_by = "router_gemm", doc = "whether GEMMs in 32 bits run on tensor cores: high, medium" },
  },
  rules = {
    router_gemm.default,
    router_gemm.row { family = families, router_gemm = by_precision "", code = gate, seen = "0.28",
      source = "pull requests 38445, 41332 and 52668: the gate's weights are in FP32; models/step3p5.py of 2026-05" },
    router_gemm.row { since = "0.12", family = "ernie4_5_moe", router_gemm = by_precision "", seen = "0.28",
      code = "vllm/model_executor/models/ernie45_moe.py: Ernie4_5_MoeMoE",
      source = "ernie45_moe.py: not in a tree of 2025-09, in one of 2025-11" },
    router_gemm.row { since = "0.23", family = { "minimax_m2", "minimax_m3" }, router_gemm = by_precision "few_",
      seen = "0.28",
      code = "vllm/model_executor/layers/fused_moe/router/gate_linear.py: GateLinear.FP32_SUPPORTED_SHAPES",
      source = "pull request 38445, open on 2026-05-21 (43276) and merged by 2026-06-02 (44343): a kernel for up to 32 "
        .. "tokens; 0.22 is taken to be without it. Pull request 55899 of 2026-09 exchanges the rest on SM 10.x: its "
        .. "release was not read" },
  },
}
