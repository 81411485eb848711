--- GEMMs in block-scaled FP8 on Blackwell as FlashInfer runs them by TensorRT-LLM's kernels (gemm_fp8_nt_groupwise with
--- backend "trtllm"). They are quick with few rows and slow with many: tables have the quicker kernels that engines
--- choose today. Launch scripts turn them on (SGLang: --fp8-gemm-backend flashinfer_trtllm, or DeepGEMM turned off).
---
---     time of a GEMM >= flop / (0.127 of the peak)
---
--- Source: SGLang pull request 13528, B200, k = 7,168. With n = 576 a row takes 10.9 ns (2,048 to 4,096 rows), 0.16 of
--- the peak; with n = 24,576 it takes 787 ns (256 to 2,048 rows), 0.10 of the peak, where DeepGEMM takes 112 ns. The
--- geometric mean of both holds for all shapes, because others are not published.
local blockscale = {}

blockscale.share = 0.127 -- of the peak, with many rows

--- The least seconds of one run, or nil where these kernels do not run.
--- @param hardware rooflua.Hardware
--- @param backend string "own" or "flashinfer"
--- @return (fun(op: table, rows: integer): number)?
function blockscale.of(hardware, backend)
  if backend == "own" or hardware.architecture ~= "blackwell" then return nil end
  local flop_per_s = blockscale.share * hardware.peak_flop_per_s.fp8
  return function(op, rows)
    return op.dtype == "fp8_block" and op.flop_per_row * rows / flop_per_s or 0
  end
end

return blockscale
