--- How far is InferSim's model from the throughputs that its authors measured, on their kernel tables?
---
--- Setup     DeepSeek-V3 on H800, Qwen3-30B-A3B and Qwen3-8B-FP8 on H20, as in InferSim's README.
--- Method    The static model steps/infersim, with InferSim's tables of the H20 and the H800, which ship here, and
---           the default lookup.
--- Measures  Tokens per GPU and second of prefill and decode, beside the measured ones of InferSim's README.
--- Expect    Within 16 % of the measured figures. InferSim's own figures, to the digit, follow from its own folder
---           and lookup: --set mfu.path=DIR/bench_data --set mfu.layout=infersim --set mfu.lookup=infersim_head.
--- Limits    Measured values are those of InferSim's README at f2293da.
local Infersim = require "steps.infersim"

--- The fourth field: tokens per GPU and second that InferSim's README states as measured.
local points = {
  { "DeepSeek-V3 H800 prefill", "deepseek-v3", "h800", 7839,
    { device = "H800", world_size = 32, num_nodes = 4, use_fp8_gemm = true, enable_deepep = true, enable_tbo = true,
      target_osl = 1786, max_prefill_tokens = 8192, prefill_only = true } },
  { "DeepSeek-V3 H800 decode", "deepseek-v3", "h800", 2324,
    { device = "H800", world_size = 128, num_nodes = 16, use_fp8_gemm = true, enable_deepep = true,
      enable_tbo = true, target_osl = 1786, decode_bs = 64, decode_only = true } },
  { "Qwen3-30B-A3B H20 prefill", "qwen3-30b-a3b", "h20", 16594,
    { device = "H20", max_prefill_tokens = 16384, prefill_only = true } },
  { "Qwen3-30B-A3B H20 decode", "qwen3-30b-a3b", "h20", 2749,
    { device = "H20", world_size = 4, decode_bs = 100, decode_only = true } },
  { "Qwen3-8B-FP8 H20 prefill", "qwen3-8b", "h20", 15061,
    { device = "H20", max_prefill_tokens = 16384, decode_bs = 64, use_fp8_gemm = true, prefill_only = true } },
  { "Qwen3-8B-FP8 H20 decode", "qwen3-8b", "h20", 2682,
    { device = "H20", max_prefill_tokens = 16384, decode_bs = 64, use_fp8_gemm = true, decode_only = true } },
}

local cases, measured = {}, {}
for i, point in ipairs(points) do
  cases[i] = { label = point[1], set = { model = point[2], hardware = point[3], steps = Infersim(point[5]) } }
  measured[point[1]] = point[4]
end

return {
  rooflua = 1,
  title = "InferSim's published points",
  kind = "static",
  model = "qwen3-8b",
  hardware = "h20",
  deployment = { memory_utilization = 1, kv_blocks = 1 },
  steps = Infersim {},
  vary = { point = cases },
  report = function(results)
    local rows = { { "point", "simulated tok/s/GPU", "measured tok/s/GPU", "error %" } }
    for _, result in ipairs(results) do
      local name = result.parameters.point
      local simulated = result.static.prefill_tokens_per_s or result.static.decode_tokens_per_s
      rows[#rows + 1] = { name, simulated, measured[name], 100 * (simulated / measured[name] - 1) }
    end
    return rows
  end,
}
