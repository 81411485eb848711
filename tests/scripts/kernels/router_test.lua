-- Routers whose weights stay in 32 bits, and experts without FlashInfer and DeepGEMM: by engine, release and switch.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local cost = require "rooflua.cost"
local router = require "steps.kernels.router"

local precision = "VLLM_FLOAT32_MATMUL_PRECISION"

--- The GEMM of an engine's routers: "weights", "fp32", ..
local function way(engine, more)
  local about = { model = "minimax-m2.5", hardware = "b200", tp = 4 }
  for name, value in pairs(more or {}) do about[name] = value end
  return bound.values(engine, about).router_gemm
end

test("vLLM has logits in 32 bits for some families, MiniMax from 0.23 on a kernel for few tokens", function()
  test.equal(way "vllm 0.22", "fp32")
  test.equal(way "vllm 0.23", "few_fp32")
  test.equal(way { "vllm 0.22", [precision] = "high" }, "tf32")
  test.equal(way { "vllm 0.23", [precision] = "medium" }, "few_tf32")
  test.equal(way { "vllm 0.19", [precision] = "highest" }, "fp32")
  test.equal(way("vllm 0.24", { model = "minimax-m3" }), "few_fp32")
  test.equal(way("vllm 0.24", { model = "hy3" }), "fp32", "the kernel has not 192 experts and 4,096 elements")
  test.equal(way("vllm 0.28", { model = "step-3.5-flash" }), "fp32")
  test.equal(way("vllm 0.28", { model = "ernie-4.5-21b-a3b" }), "fp32")
  test.equal(way("vllm 0.10.2", { model = "ernie-4.5-21b-a3b" }), "weights")
  test.equal(way("vllm 0.24", { model = "glm-4.5-air" }), "weights")
  test.equal(way({ "vllm 0.19", [precision] = "high" }, { model = "qwen3-30b-a3b" }), "weights")
end)

test("only GPUs whose times are known have it", function()
  test.equal(way("vllm 0.19", { hardware = "gb200" }), "fp32")
  for _, hardware in ipairs { "h200-sxm", "a100-sxm-80gb", "mi300x", "gb10" } do
    test.equal(way("vllm 0.19", { hardware = hardware }), "weights", hardware)
  end
end)

test("SGLang has two families, and a flag; TensorRT-LLM has none", function()
  test.equal(way "sglang 0.5.12", "fp32")
  test.equal(way { "sglang 0.5.12", enable_tf32_matmul = true }, "tf32")
  test.equal(way("sglang 0.5.12", { model = "minimax-m3" }), "weights")
  test.equal(way("sglang 0.5.12", { model = "hy3" }), "fp32")
  test.equal(way "trtllm 1.3.0", "weights")
end)

--- Microseconds of a router of so many experts.
local function us(name, rows, experts, k)
  return 1e6 * router.seconds({ k = k or 6144, n = experts or 256 }, name, rows, 3e-6)
end

test("times are those of the rows, and less a launch proportional to the hidden size", function()
  test.near(us("fp32", 64), 63.3, 1e-9)
  test.near(us("tf32", 64), 20.1, 1e-9)
  test.near(us("few_fp32", 32), 5.57, 1e-9)
  test.near(us("few_fp32", 64), 63.3, 1e-9, "more tokens than that kernel has")
  test.near(us("few_tf32", 64), 20.1, 1e-9)
  test.near(us("fp32", 64, 256, 3072), 6 + 57.3 / 2, 1e-9)
  test.near(us("fp32", 64, 128), 15.36, 1e-9)
  test.near(us("tf32", 64, 128), 15.36, 1e-9, "tensor cores are never slower")
  test.near(us("fp32", 16384), 438.72 + (438.72 - 174.43) * 8192 / 6144, 1e-6)
end)

test("more tokens never take less time", function()
  for _, name in ipairs { "fp32", "tf32", "few_fp32", "few_tf32" } do
    for _, experts in ipairs { 128, 192, 256 } do
      local last = 0
      for rows = 1, 20000, 13 do
        local time = us(name, rows, experts)
        test.at_least(time, last)
        last = time
      end
    end
  end
end)

local function steps_of(release)
  return bound.bind(require "steps.kernels" {}, { model = "minimax-m2.5", hardware = "b200",
    release = release, deployment = { tp = 4, max_num_seqs = 512, max_num_batched_tokens = 8192 } })
end

local function routers_of(steps, n)
  local account = cost.explain(function() return steps:time(bound.decodes(n, 1000)) end)
  for _, row in ipairs(account.rows) do
    if row.name == "router" then return row.count * row.time_s, account.time_s, row end
  end
end

test("a step has 62 of them, and from 0.23 on is shorter by what few tokens gain", function()
  local slow_s, slow_step_s, row = routers_of(steps_of "vllm 0.22", 16)
  local fast_s, fast_step_s = routers_of(steps_of "vllm 0.23", 16)
  test.near(slow_s, 62e-6 * us("fp32", 16, 256, 3072), 1e-9)
  test.near(fast_s, 62e-6 * us("few_fp32", 16, 256, 3072), 1e-9)
  test.near(slow_step_s - fast_step_s, slow_s - fast_s, 1e-9)
  test.at_least(row.bytes, 4 * 3072 * 256, "weights of four bytes")
  test.near((routers_of(steps_of "vllm 0.23", 64)), (routers_of(steps_of "vllm 0.22", 64)), 1e-12)
end)

test("experts in FP8 blocks run in Triton where neither FlashInfer nor DeepGEMM may, on Blackwell", function()
  local choice = require "rooflua.engines.choice"
  local flashinfer, deepgemm = "VLLM_USE_FLASHINFER_MOE_FP8", "VLLM_MOE_USE_DEEP_GEMM"
  local option = choice.parse "vllm 0.17".engine.option[flashinfer]
  local function kernels(value, other, hardware, format)
    return option.read(value, { hardware = { architecture = hardware or "blackwell" },
      experts_format = format or "fp8_block" }, { [deepgemm] = other })
  end
  test.equal(kernels("0", "0"), "sglang")
  test.equal(kernels("0", "1"), nil)
  test.equal(kernels("0", nil), nil)
  test.equal(kernels("1", "0"), nil)
  test.equal(kernels("0", "0", "hopper"), nil)
  test.equal(kernels("0", "0", "blackwell", "nvfp4"), nil)
end)

test.finish()
