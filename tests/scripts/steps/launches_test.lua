-- Small kernels that rows of attention contain, launches that nothing hides, and the sum of shared and routed experts.
-- Uses the shipped tables.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local catalogue = require "rooflua.engines.catalogue"
local engines = require "rooflua.engines"
local values = require "rooflua.engines.values"
local cost, mfu = rooflua.cost, rooflua.mfu
local Kernels = require "steps.kernels"

local us = 1e-6

--- Steps of a release, or of it with other values.
local function of(engine, given, changed)
  local gpu, weights = given.gpu or "b200", given.weights
  local model, hardware = rooflua.spec.model(given.model), rooflua.spec.hardware(gpu)
  local about = engines.of(engine, { hardware = hardware, model = model, tp = given.tp, ep = given.ep,
    weights = weights })
  for name, value in pairs(changed or {}) do about.values[name] = value end
  local steps = Kernels {}
  steps:bind { model = model, hardware = hardware, engine = about, async_depth = 2,
    mfu = mfu.open { gpu = gpu, engine = engine:match "^%a+" },
    deployment = rooflua.spec.deployment { model = model, hardware = hardware, tp = given.tp, ep = given.ep,
      weights = weights, kv = given.kv, kv_blocks = 20000 } }
  return steps
end

local function rows_of(steps, batch)
  local out = {}
  for _, row in ipairs(cost.explain(function() return steps:time(batch) end).rows) do out[row.name] = row end
  return out
end

local llama = { model = "llama-3.1-70b", tp = 8 }
local deepseek = { model = "deepseek-v3", tp = 8, weights = "nvfp4", kv = "fp8" }

test("rows of TensorRT-LLM's attention contain rope and the write, of decodes and of prompts", function()
  for _, gpu in ipairs { "b200", "h100-sxm", "h200-sxm" } do
    for _, each in ipairs { llama, deepseek } do
      local given = { gpu = gpu, model = each.model, tp = each.tp }
      for name, batch in pairs { decodes = bound.decodes(8, 1000), prompt = bound.prefill(64) } do
        local rows = rows_of(of("trtllm 1.3.0", given), batch)
        test.check(not rows.rope and not rows.kv_write, ("%s, %s: %s"):format(gpu, each.model, name))
      end
    end
  end
end)

test("other engines turn and write in kernels of their own, whichever engine's rows answer", function()
  for _, engine in ipairs { "vllm 0.19", "sglang 0.5.9" } do
    for _, given in ipairs { llama, deepseek } do
      local rows = rows_of(of(engine, given), bound.decodes(8, 1000))
      test.check(rows.rope and rows.kv_write, engine .. ", " .. given.model)
    end
  end
end)

test("where rows of another engine answer, TensorRT-LLM's one kernel is priced as the write", function()
  local rows = rows_of(of("trtllm 1.3.0", { gpu = "gb200", model = "llama-3.1-70b", tp = 4 }), bound.decodes(8, 1000))
  test.check(not rows.rope and rows.kv_write, "GB200 has rows of vLLM only")
end)

test("no rope is lost in a model with windows", function()
  local rows = rows_of(of("vllm 0.19", { model = "gpt-oss-120b", tp = 1 }), bound.decodes(8, 1000))
  test.check(rows.rope and rows["rope@full"], "both kinds of layers")
  rows = rows_of(of("trtllm 1.3.0", { model = "gpt-oss-120b", tp = 1 }), bound.decodes(8, 1000))
  test.check(not rows.rope and not rows["rope@full"] and not rows["kv_write@full"], "TensorRT-LLM")
end)

test("without dependent launch every kernel of a step takes longer by the same, decodes as prompts", function()
  local apart, ahead = of("trtllm 1.1.0rc5", llama), of("trtllm 1.1.0rc5", llama, { launches_apart = false,
    blocks_launch_apart = false })
  local layer = 8  -- qkv, attention, o, two all-reduces, gate_up, activation, down; norms are in the all-reduces
  local once = 5   -- embedding and its all-reduce, the last norm, the head, its gather
  local expected_s = (80 * layer + once) * 0.69 * us
  local row = rows_of(apart, bound.decodes(8, 1000)).launches
  test.near(row.count * row.time_s, expected_s, 1e-9, "the operation")
  for _, n in ipairs { 1, 8, 64 } do
    local batch = bound.decodes(n, 1000)
    test.near(apart:time(batch) - ahead:time(batch), expected_s, 1e-9, n .. " decodes")
  end
  test.near(apart:time(bound.prefill(8192)) - ahead:time(bound.prefill(8192)), expected_s, 1e-9, "a prompt")
end)

test("the default of dependent launch follows the release, and the variable replaces it", function()
  local about = catalogue.of "trtllm"
  local facts = { model = rooflua.spec.model "llama-3.1-70b", hardware = rooflua.spec.hardware "b200", tp = 8, dp = 1,
    pp = 1, ep = 1, weights = "fp8" }
  local function apart(release, variable)
    return values.of(about, release, facts, { TRTLLM_ENABLE_PDL = variable }).values.launches_apart
  end
  for _, case in ipairs { { "1.1.0rc5", nil, true }, { "1.1.0rc5", "1", false }, { "1.1.0rc5", "0", true },
    { "1.2.0rc2", nil, true }, { "1.2.0", nil, false }, { "1.3.0", nil, false }, { "1.3.0", "0", true },
    { "1.3.0", "1", false } } do
    test.equal(apart(case[1], case[2]), case[3], ("%s, %s"):format(case[1], case[2] or "not stated"))
  end
  for _, engine in ipairs { "vllm 0.19", "sglang 0.5.9" } do
    test.equal(engines.of(engine, { model = "llama-3.1-70b" }).values.launches_apart, false, engine)
  end
end)

test("DeepGEMM's kernels had dependent launch later, on Blackwell alone", function()
  local given = { model = "deepseek-v3", tp = 8, ep = 8, weights = "fp8_block", kv = "fp8" }
  local rows = rows_of(of("trtllm 1.3.0rc10", given), bound.decodes(16, 1000))
  -- qkv_a, q_b, o with a quantisation each; two GEMMs of dense layers; four kernels of experts
  test.equal(rows.launches.count, 61 * 6 + 3 * 4 + 58 * 4)
  test.check(not rows_of(of("trtllm 1.3.0", given), bound.decodes(16, 1000)).launches, "not any more")
  test.check(not rows_of(of("trtllm 1.3.0rc10", deepseek), bound.decodes(16, 1000)).launches, "not in NVFP4")
  given.gpu = "h200-sxm"
  test.check(not rows_of(of("trtllm 1.3.0rc10", given), bound.decodes(16, 1000)).launches, "not on Hopper")
end)

test("the sum of shared and routed experts is a kernel of every layer that has both, and of no other", function()
  for _, engine in ipairs { "vllm 0.19", "sglang 0.5.9", "trtllm 1.3.0" } do
    local rows = rows_of(of(engine, deepseek), bound.decodes(16, 1000))
    test.equal(rows.experts_sum.count, 58, engine)
    test.near(rows.experts_sum.bytes, 58 * 16 * 3 * 2 * 7168, 1, engine)
    test.check(not rows_of(of(engine, { model = "qwen3-235b-a22b", tp = 8 }), bound.decodes(16, 1000)).experts_sum,
      engine .. ": no shared experts")
  end
end)

test.finish()
