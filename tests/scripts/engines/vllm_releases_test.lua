-- What vLLM's releases of 2026 changed: who counts CUDA graphs, budgets of large GPUs, prefixes of hybrids, flags.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local engines = require "rooflua.engines"

local function values(release, model, hardware, more)
  local about = { model = model, hardware = hardware, tp = 1 }
  for name, value in pairs(more or {}) do about[name] = value end
  return engines.of("vllm " .. release, about).values
end

local function ledger(release, model, hardware, options, deployment)
  local engine = { "vllm " .. release }
  for name, value in pairs(options or {}) do engine[name] = value end
  return engines.capacity { model = model, hardware = hardware, engine = engine, deployment = deployment }
end

local function part(found, name)
  for _, each in ipairs(found.parts) do
    if each.name == name then return each.bytes end
  end
  return 0
end

test("model runner V2 has models by release", function()
  for _, each in ipairs {
    { "0.24", "qwen3-8b", "V1" }, { "0.25", "qwen3-8b", "V2" }, { "0.24", "gemma-3-27b", "V1" },
    { "0.25", "gemma-3-27b", "V2" }, { "0.25", "qwen3-235b-a22b", "V1" }, { "0.25", "qwen3.5-27b", "V1" },
    { "0.28", "qwen3-235b-a22b", "V1" }, { "0.27", "deepseek-v4-pro", "V1" }, { "0.28", "deepseek-v4-pro", "V2" },
    { "0.29", "qwen3-235b-a22b", "V2" }, { "0.29", "qwen3.5-27b", "V2" },
  } do
    test.equal(values(each[1], each[2], "h200-sxm", { weights = "bf16" }).model_runner, each[3],
      each[1] .. " " .. each[2])
  end
  test.equal(values("0.25", "qwen3-8b", "h200-sxm", { weights = "fp8" }).model_runner, "V2", "quantised")
  test.equal(values("0.28", "deepseek-v4-pro", "mi355x").model_runner, "V1", "not on ROCm")
end)

test("V2 takes no CUDA graphs from the KV cache before 0.29", function()
  local function graphs(release, options) return part(ledger(release, "gemma-3-27b", "h100-sxm", options), "graphs") end
  test.check(graphs "0.24" > 0, "V1 counts them")
  for _, release in ipairs { "0.25", "0.26", "0.27", "0.28" } do
    test.equal(graphs(release), 0, release)
    test.check(graphs(release, { VLLM_USE_V2_MODEL_RUNNER = "0" }) > 0, release .. " with V1")
  end
  test.check(graphs "0.29" < graphs "0.24", "piecewise graphs are measured in full from 0.29 on")
  test.check(graphs "0.29" > 0.5 * graphs "0.24", "those of decode steps are estimated as before")
  test.equal(graphs("0.29", { VLLM_USE_V2_MODEL_RUNNER = "0" }), graphs "0.24", "V1 estimates both")
  test.equal(graphs("0.29", { VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS = "0" }), 0)
  test.check(graphs("0.20", { VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS = "1" }) > 0, "asked for before it is default")
  test.equal(part(ledger("0.25", "qwen3-235b-a22b", "mi300x", nil, { tp = 4 }), "graphs"), 0, "ROCm before 0.26")
  test.check(part(ledger("0.26", "qwen3-235b-a22b", "mi300x", nil, { tp = 4 }), "graphs") > 0)
end)

test("V2 samples without filters while memory is measured, in parts where that is asked for", function()
  local function bytes(release, options) return part(ledger(release, "qwen3-8b", "h100-sxm", options,
    { tp = 2 }), "activations") end
  test.check(bytes "0.25" < bytes "0.21")
  test.check(bytes("0.29", { enable_batch_sharded_sampling = true }) <= bytes "0.29")
  test.equal(values("0.29", "qwen3-8b", "h100-sxm").sampler_bytes, 8)
end)

test("budgets and graphs of large GPUs grow with 0.28", function()
  test.equal(values("0.27", "qwen3-8b", "b200").max_num_batched_tokens, 8192)
  test.equal(values("0.28", "qwen3-8b", "b200").max_num_batched_tokens, 16384)
  test.equal(values("0.28", "qwen3-8b", "mi300x").max_num_batched_tokens, 16384)
  test.equal(values("0.28", "qwen3-8b", "h200-sxm").max_num_batched_tokens, 8192)
  test.equal(values("0.27", "qwen3-8b", "b200").max_cudagraph_capture_size, 512)
  test.equal(values("0.28", "qwen3-8b", "b200").max_cudagraph_capture_size, 1024)
  test.equal(values("0.28", "qwen3-8b", "rtx-pro-6000").max_cudagraph_capture_size, 512, "no 10.x")
end)

test("kernels of Blackwell pad experts in MXFP4 less from 0.27 on", function()
  local function weights(release, gpu) return part(ledger(release, "gpt-oss-120b", gpu), "weights") end
  test.check(weights("0.27", "b200") < weights("0.26", "b200"))
  test.equal(weights("0.27", "h200-sxm"), weights("0.26", "h200-sxm"))
end)

test("prefixes of hybrids are cached by default from 0.28 on", function()
  for _, each in ipairs { { "0.24", false }, { "0.27.1", false }, { "0.28", true }, { "0.33", true } } do
    test.equal(values(each[1], "qwen3-next-80b-a3b", "h200-sxm").enable_prefix_caching, each[2], each[1])
  end
end)

test("kernels of one family keep the last state of a prompt that is not cut", function()
  local function aligned(release, model) return values(release, model, "b200", { tp = 8 }).align_states end
  test.equal(aligned("0.28", "kimi-k3"), true)
  test.equal(aligned("0.29", "kimi-k3"), false)
  test.equal(aligned("0.33", "qwen3-next-80b-a3b"), true, "not of others")
end)

test("each rank keeps latent KV in the CPU's memory before 0.27", function()
  local function tokens(release, tp, more)
    local deployment = { tp = tp, ep = tp, weights = "nvfp4", kv = "fp8" }
    for name, value in pairs(more or {}) do deployment[name] = value end
    return ledger(release, "deepseek-v3", "b200", { kv_offloading_size = 600 }, deployment).tiers[1].tokens
  end
  test.near(tokens("0.19", 4), 4.58e6, 0.001, "SemiAnalysisAI/InferenceX: 600 GiB of 4 ranks")
  test.near(tokens("0.19", 8), 2.29e6, 0.001)
  test.near(tokens("0.27", 8), 8 * 2.29e6, 0.001, "one copy")
  test.near(tokens("0.28", 4, { pp = 2 }), 4.58e6, 0.001, "stages have copies")
end)

test("latent attention divides prompts from 0.27 on", function()
  test.equal(#values("0.26", "deepseek-v3", "h200-sxm").cp_of, 0)
  test.equal(values("0.27", "deepseek-v3", "h200-sxm").cp_of[1], "latent")
end)

test("blocks of latent attention are those of the first back end from 0.18 on", function()
  local function tokens(release, hardware, options)
    local asked = { "vllm " .. release }
    for name, value in pairs(options or {}) do asked[name] = value end
    return bound.values(asked, { model = "deepseek-v3", hardware = hardware, tp = 8 }).block_size
  end
  for _, each in ipairs { { "0.17", "h200-sxm", 64 }, { "0.18", "h200-sxm", 16 }, { "0.17", "b200", 64 },
    { "0.18", "b200", 32 }, { "0.28", "b200", 32 }, { "0.28", "mi300x", 64 } } do
    test.equal(tokens(each[1], each[2]), each[3], each[1] .. " " .. each[2])
  end
  test.equal(tokens("0.18", "h200-sxm", { kv_cache_dtype = "fp8" }), 64, "FlashMLA has keys in FP8")
  test.equal(values("0.28", "deepseek-v3.2", "b200", { tp = 8 }).block_size, 64, "sparse attention has its own")
end)

test("steps with drafts of hybrids wait for counts of accepted tokens where the runner copies them", function()
  local function waits(release, more)
    local about = { model = "qwen3.5-27b", hardware = "rtx-3090", drafts = 3, drafter = "mtp" }
    for key, value in pairs(more or {}) do about[key] = value end
    return bound.values("vllm " .. release, about).drafts_wait
  end
  test.equal(waits "0.20.0", true)
  test.equal(waits "0.24.0", false) -- planned ahead, no prefixes cached
  test.equal(waits "0.28.0", true) -- prefixes are cached by default
  test.equal(waits "0.29.0", false) -- model runner V2
  test.equal(waits("0.20.0", { model = "qwen3-32b" }) or false, false)
  test.equal(waits("0.20.0", { drafts = 0 }) or false, false)
end)

test("drafts are verified in graphs on SM 12.x from 0.28 on", function()
  local function in_graphs(release, more)
    local about = { model = "qwen3-8b", hardware = "rtx-pro-6000", dcp = 1 }
    for name, value in pairs(more or {}) do about[name] = value end
    return bound.values("vllm " .. release, about).verifies_in_graphs
  end
  test.equal(in_graphs "0.27", "bf16")
  test.equal(in_graphs "0.28", true)
  test.equal(in_graphs("0.28", { dcp = 2, tp = 2 }), "bf16", "not where a request is divided")
end)

test.finish()
