--- Variables by which vLLM leaves kernels of experts out. On Blackwell experts in FP8 blocks are run by FlashInfer,
--- else by DeepGEMM, else by Triton (vllm/model_executor/layers/fused_moe/oracle/fp8.py; pull requests 33490, 37056).
--- Triton's have rows among SGLang's: where FlashInfer's were not published for a shape, its rows are Triton's.
local command = require "engines.rules.command"

local off = { ["0"] = true, ["false"] = true }

local function is_off(value) return value ~= nil and off[tostring(value):lower()] == true end

--- Whose rows price the experts; nil: the engine's own.
local function kernels_of(on, facts, own)
  local is_blackwell = facts.hardware and facts.hardware.architecture == "blackwell"
  local has_no_deepgemm = is_off(own and (own.VLLM_MOE_USE_DEEP_GEMM or own.VLLM_USE_DEEP_GEMM))
  return is_off(on) and has_no_deepgemm and is_blackwell and facts.experts_format == "fp8_block" and "sglang" or nil
end

local function variable(name, doc)
  return { name, variable = true, type = "text", idle = { "1", "true", "True" },
    read_by = "VLLM_USE_FLASHINFER_MOE_FP8", doc = doc }
end

return {
  { "VLLM_USE_FLASHINFER_MOE_FP8", variable = true, type = "text", key = "steps.experts_kernels", read = kernels_of,
    idle = { "1", "true", "True" }, unread = command.own_kernels,
    doc = "FlashInfer runs experts in FP8; without it and without DeepGEMM Triton does" },
  variable("VLLM_MOE_USE_DEEP_GEMM", "DeepGEMM runs experts in FP8 blocks"),
  variable("VLLM_USE_DEEP_GEMM", "DeepGEMM runs GEMMs in FP8 blocks, experts among them"),
}
