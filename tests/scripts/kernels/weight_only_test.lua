-- steps/kernels/weight_only: GEMMs whose weights are expanded to 16 bits, with numbers by hand.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"

local function steps_of(hardware, weights, release, mfu)
  return bound.bind(require "steps.kernels" {}, { model = "llama-3.1-8b", hardware = hardware, release = release,
    deployment = { weights = weights }, mfu = mfu })
end

--- The row of a GEMM by name, of one run.
local function row_of(steps, name, tokens)
  local found
  for _, row in ipairs(rooflua.cost.explain(function() return steps:time(bound.prefill(tokens, 0)) end).rows) do
    if row.name == name then found = found or row end
  end
  return found
end

local function time_of(steps, name, tokens)
  local sum = 0
  for _, row in ipairs(rooflua.cost.explain(function() return steps:time(bound.prefill(tokens, 0)) end).rows) do
    if row.name == name then sum = sum + row.time_s end
  end
  return sum
end

test("few rows read the packed weights at 85 % of the bandwidth", function()
  local steps, hardware = steps_of("rtx-4090", "int4_group128", "vllm 0.11"), rooflua.spec.hardware "rtx-4090"
  local k, n = 4096, 2 * 14336
  local bytes = k * n * (4 + 16 / 128) / 8 + 2 * (k + n) -- weights with a scale for 128, one row in and out
  test.near(row_of(steps, "gate_up", 1).time_s, bytes / (0.85 * hardware.memory_bytes_per_s), 1e-3)
end)

test("many rows run at 0.67 of the rate of bf16 on Ampere, at 0.95 on Hopper with vLLM", function()
  for gpu, rate in pairs { ["a100-sxm-80gb"] = 0.67, ["h100-sxm"] = 0.95, ["rtx-4090"] = 1 } do
    local packed, plain = steps_of(gpu, "int4_group128", "vllm 0.11"), steps_of(gpu, nil, "vllm 0.11")
    test.near(time_of(packed, "gate_up", 4096), time_of(plain, "gate_up", 4096) / rate, 0.01, gpu)
  end
  local sglang = steps_of("h100-sxm", "int4_group128", "sglang 0.5.9")
  local plain = steps_of("h100-sxm", nil, "sglang 0.5.9")
  test.near(time_of(sglang, "gate_up", 4096), time_of(plain, "gate_up", 4096) / 0.67, 0.01)
end)

test("a format that the GPU multiplies is no such format, nor one under TensorRT-LLM", function()
  local function expands(gpu, weights, release)
    local own = steps_of(gpu, weights, release).bounds.weight_only
    return own ~= nil and own:expands(weights)
  end
  test.equal(expands("a100-sxm-80gb", "fp8", "vllm 0.11"), true)
  test.equal(expands("h100-sxm", "fp8", "vllm 0.11"), false)
  test.equal(expands("h100-sxm", "nvfp4", "vllm 0.11"), true)
  test.equal(expands("b200", "nvfp4", "vllm 0.11"), false)
  test.equal(expands("a100-sxm-80gb", "int4", "trtllm 1.0"), false)
  test.equal(expands("mi300x", "int4", "vllm 0.11"), false)
  test.equal(expands("a100-sxm-80gb", "bf16", "vllm 0.11"), false)
end)

test("rows of a table stay where they take longer", function()
  local mfu = rooflua.mfu.open { gpu = "a100-sxm-80gb" }
  local steps = steps_of("a100-sxm-80gb", "int4_group128", "vllm 0.11", mfu)
  local row = row_of(steps, "gate_up", 16)
  test.check(row.evidence ~= "modelled", row.evidence)
  local plain = steps_of("a100-sxm-80gb", nil, "vllm 0.11", mfu)
  test.at_least(time_of(steps, "gate_up", 4096), time_of(plain, "gate_up", 4096))
end)

test("prompts of a release that multiplies weights of 4 bits in 16 cost no less than in 16 bits", function()
  for _, model in ipairs { "qwen3.5-27b", "qwen3.5-35b-a3b" } do
    local function time_s(weights)
      local steps = bound.bind(require "steps.kernels" {}, { model = model, hardware = "b200",
        release = "sglang 0.5.15", deployment = { weights = weights } })
      return steps:time(bound.prefill(8192, 0))
    end
    test.at_least(time_s "nvfp4", 0.8 * time_s "bf16", model)
  end
end)

test("more rows never take less time", function()
  for _, gpu in ipairs { "a100-sxm-80gb", "rtx-4090" } do
    local steps, before_s = steps_of(gpu, "int4_group128", "vllm 0.11"), 0
    for _, tokens in ipairs { 1, 2, 16, 17, 63, 64, 65, 128, 129, 512, 513, 4096 } do
      local time_s = steps:time(bound.prefill(tokens, 0))
      test.at_least(time_s, before_s, gpu .. " " .. tokens)
      before_s = time_s
    end
  end
end)

test.finish()
