-- What SGLang fuses and overlaps where nobody asks for more, kernels of HIP graphs, and tables that do not stand in.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local cost = require "rooflua.cost"
local engines = require "rooflua.engines"
local mfu = require "rooflua.mfu"
local rooflua = require "rooflua"
local Kernels = require "steps.kernels"

--- Values of an engine with a model on a GPU.
local function values(engine, model, hardware, more)
  local about = { model = model, hardware = hardware, tp = 8 }
  for name, value in pairs(more or {}) do about[name] = value end
  return bound.values(engine, about)
end

test("all-reduces and norms are apart, but where SGLang fuses them by default or is asked to", function()
  for _, each in ipairs { { "0.5.6", "glm-4.6", "b200", 11.1e-6 }, { "0.5.7", "glm-4.6", "b200", 0 },
    { "0.5.6", "gpt-oss-120b", "b200", 0 }, { "0.5.3", "gpt-oss-120b", "b200", 11.1e-6 },
    { "0.5.6", "deepseek-v3", "h200-sxm", 11.1e-6 }, { "0.5.7", "deepseek-v3", "h200-sxm", 0 },
    { "0.5.9", "qwen3-next-80b-a3b", "b200", 11.1e-6 }, { "0.5.11", "qwen3-next-80b-a3b", "b200", 0 },
    { "0.5.14", "llama-3.1-70b", "h100-sxm", 11.1e-6 }, { "0.5.9", "qwen3.5-397b-a17b", "b200", 11.1e-6 },
    { "0.5.7", "deepseek-v3", "mi300x", 0 } } do
    test.equal(values("sglang " .. each[1], each[2], each[3]).norm_apart_s, each[4], table.concat(each, " ", 1, 3))
  end
  test.equal(values("sglang 0.5.7", "deepseek-v3", "b200", { dp = 8, tp = 1 }).norm_apart_s, 11.1e-6,
    "ranks of data-parallel attention do not fuse them")
  local asked = { "sglang 0.5.9", enable_flashinfer_allreduce_fusion = true }
  test.equal(values(asked, "minimax-m2.5", "b200").norm_apart_s, 0)
  test.equal(values(asked, "qwen3.5-397b-a17b", "b200").norm_apart_s, 11.1e-6, "0.5.10 is the first that can")
end)

test("states in the prefix cache turn the overlap schedule off, until they have a second buffer", function()
  for _, each in ipairs { { "0.5.3", false }, { "0.5.4", true }, { "0.5.9", true }, { "0.5.14", false } } do
    test.equal(values("sglang " .. each[1], "qwen3-next-80b-a3b", "b200").disable_overlap_schedule, each[2], each[1])
  end
  test.equal(values({ "sglang 0.5.9", disable_radix_cache = true }, "qwen3-next-80b-a3b", "b200")
    .disable_overlap_schedule, false)
  test.equal(values("sglang 0.5.9", "llama-3.1-70b", "b200").disable_overlap_schedule, false)
end)

test("experts run in Triton unless a back end is chosen or the release has another default", function()
  for _, each in ipairs { { "sglang 0.5.6", "glm-4.6", "bf16", 24, 16 },
    { "sglang 0.5.6", "mixtral-8x7b", "bf16", 24, 2 },
    { "sglang 0.5.6", "deepseek-v3", "fp8_block", 8, 0 }, { "sglang 0.5.3", "deepseek-v3", "fp8_block", 24, 2 },
    { "sglang 0.5.8", "qwen3-next-80b-a3b", "bf16", 24, 2 }, { "sglang 0.5.9", "qwen3-next-80b-a3b", "bf16", 8, 0 },
    { { "sglang 0.5.6", moe_runner_backend = "flashinfer_trtllm" }, "glm-4.6", "bf16", 8, 0 },
    { { "sglang 0.5.6", moe_runner_backend = "triton" }, "glm-4.6", "bf16", 24, 16 },
    { "vllm 0.15", "glm-4.6", "bf16", 8, 0 } } do
    local found = values(each[1], each[2], "b200", { weights = each[3] })
    test.equal(found.expert_operations, each[4], each[2])
    test.equal(found.routing_kernels, each[5], each[2])
  end
end)

--- Rows of a decode of 8 requests by name.
local function rows_of(engine, model, gpu, tp)
  local of, hardware = rooflua.spec.model(model), rooflua.spec.hardware(gpu)
  local steps = Kernels {}
  steps:bind { model = of, hardware = hardware, async_depth = 2,
    engine = engines.of(engine, { hardware = hardware, model = of, tp = tp, dp = 1 }),
    mfu = mfu.open { gpu = gpu, engine = engine:match "^%a+" },
    deployment = rooflua.spec.deployment { model = of, hardware = hardware, tp = tp, kv_blocks = 20000 } }
  local batch = bound.decodes(8, 1000)
  local out = {}
  for _, row in ipairs(cost.explain(function() return steps:time(batch) end).rows) do out[row.name] = row end
  return out
end

test("a step pays for kernels around experts, norms of heads, and what lies between kernels of HIP graphs", function()
  local glm = rows_of("sglang 0.5.6", "glm-4.6", "b200", 8)
  test.equal(glm.routing.count, 16 * 89)
  test.equal(glm.layer_kernels.count, 2 * 92)
  test.equal(glm.launches, nil)
  local plain = rows_of("vllm 0.15", "glm-4.6", "b200", 8)
  test.check(not plain.routing and not plain.layer_kernels, "vLLM compiles them into others")
  local amd = rows_of("vllm 0.15", "llama-3.3-70b", "mi355x", 8)
  test.check(amd.launches and amd.launches.count > 80 * 8, "found %s", tostring(amd.launches and amd.launches.count))
  test.equal(rows_of("vllm 0.15", "llama-3.3-70b", "h200-sxm", 8).launches, nil)
end)

test("rows of AITER answer for their shapes, and stand in for no shape that is modelled better", function()
  local db = mfu.open { hardware = "mi300x", engine = "sglang" }
  local function evidence(m, k, n, dtype)
    local _, estimate = db:gemm(m, k, n, dtype)
    return estimate.evidence
  end
  test.equal(evidence(128, 5000, 5000, "bf16"), "modelled", "neither near shapes nor 8 bits stand in")
  test.equal(evidence(1, 7168, 2112, "fp8_block"), "measured")
  test.equal(evidence(1, 5000, 5000, "fp8"), "modelled")
  test.equal(mfu.open { hardware = "mi308x" }.hardware.sms, 80)
end)

test.finish()
