--- GPU figures of InferSim. Only steps/infersim uses them: datasheet figures are in
--- bench_data/<gpu>/hardware.toml.
---
--- The MFUs that InferSim takes where its tables have no row (0.6, 0.35, 0.4, 0.5) are in
--- engine/cost/lookup/infersim.cpp.
---
--- As in InferSim, one TFLOP is 1024 GFLOP, and bandwidths in GB/s are taken for GiB/s.
--- Source: alibaba/InferSim f2293da, hardware/gpu.py.

local function gpu(t)
  t.fp16_gflop_per_s = t.fp16_tflop_per_s * 1024
  t.fp8_gflop_per_s = t.fp8_tflop_per_s * 1024
  return t
end

local gpus = {
  H20 = gpu {
    fp16_tflop_per_s = 148, fp8_tflop_per_s = 296, memory_gib = 96,
    memory_gib_per_s = 4096 * 0.8, nvlink_gib_per_s = 900 * 0.8 / 2, rdma_gib_per_s = 50 * 0.8,
  },
  H800 = gpu {
    fp16_tflop_per_s = 989, fp8_tflop_per_s = 1979, memory_gib = 80,
    memory_gib_per_s = 3430 * 0.8, nvlink_gib_per_s = 400 * 0.8 / 2, rdma_gib_per_s = 50 * 0.8,
  },
  H200 = gpu {
    fp16_tflop_per_s = 989, fp8_tflop_per_s = 1979, memory_gib = 141,
    memory_gib_per_s = 4800 * 0.8, nvlink_gib_per_s = 900 * 0.8 / 2, rdma_gib_per_s = 50 * 0.8,
  },
  GB200 = gpu {
    fp16_tflop_per_s = 2500, fp8_tflop_per_s = 5000, memory_gib = 192,
    memory_gib_per_s = 13400 * 0.8, nvlink_gib_per_s = 1800 * 0.8 / 2, rdma_gib_per_s = 50 * 0.8,
  },
}

--- A GPU that InferSim does not have, described by its rule: 0.8 of every bandwidth.
local function described(hardware)
  local bf16 = hardware.peak_flop_per_s.bf16
  return gpu {
    fp16_tflop_per_s = bf16 / 1e12, fp8_tflop_per_s = (hardware.peak_flop_per_s.fp8 or bf16) / 1e12,
    memory_gib = hardware.memory_bytes / 1e9,
    memory_gib_per_s = hardware.memory_bytes_per_s / 1e9 * 0.8,
    nvlink_gib_per_s = hardware.link_bytes_per_s / 1e9 * 0.8, rdma_gib_per_s = 50 * 0.8,
  }
end

--- @param device string H20, H800, H200, GB200, or "": found by the name of `hardware`
--- @return table gpu
function gpus.of(device, hardware)
  if device ~= "" then return gpus[device] end
  local name = hardware.name:upper():match "^%w+"
  return gpus[name] or described(hardware)
end

return gpus
