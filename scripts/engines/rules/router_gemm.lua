--- Which GEMM computes the logits of a router: in the format of the model's weights, or in 32 bits where an engine
--- keeps the router's weights so. Times: scripts/steps/kernels/router.lua. They were measured on B200, GB200 and GB300;
--- with them a deployment on Hopper became 12 % too slow, which was 7, so that other GPUs have none.
local router_gemm = {}

router_gemm.default = { router_gemm = "weights", source = "the format of the model's file" }

--- The row of an engine for these GPUs.
--- @param row table with the value of `router_gemm` and its source
function router_gemm.row(row)
  local out = { architecture = "blackwell", gpu = { memory_gib_from = 160 } }
  for name, value in pairs(row) do out[name] = value end
  return out
end

return router_gemm
