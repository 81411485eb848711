-- Whether an engine starts, as its own code decides it: kernels for the formats on the GPU, blocks of states against
-- seats, the KV cache against the longest request, stated blocks, the generation of vLLM that 0.8 replaced, and the
-- pages of DeepSeek-V4. Figures of logs are in brackets with where they stand.
local test = dofile "tests/scripts/harness.lua"
local capacity_of = require("rooflua.engines").capacity
local capacity = require("rooflua.sandbox.chunks").require "rooflua.serving.capacity"
local core = require "rooflua.base.core"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"

--- What `rooflua capacity` says of a model on a GPU: ask("qwen3-8b", "h100-sxm", "vllm 0.24", { max_num_seqs = 8 },
--- { weights = "fp8" }).
local function ask(model, hardware, engine, options, deployment)
  return capacity_of { model = model, hardware = hardware, engine = core.copy({ engine }, options),
    deployment = deployment or {} }
end

local function gib(bytes) return bytes / 2 ^ 30 end

-- Kernels ---------------------------------------------------------------------------------------------------------

--- {model, GPU, engine, format of the weights, what has no kernels}; without the last it starts.
local kernels = {
  { "gpt-oss-120b", "a100-sxm-80gb", "trtllm 1.2.0", nil, "experts in MXFP4" }, -- engine_without_kernels.sh
  { "gpt-oss-20b", "l40s", "trtllm 1.2.0", nil, "experts in MXFP4" },
  { "gpt-oss-20b", "h100-sxm", "trtllm 1.2.0" },
  { "gpt-oss-20b", "b200", "trtllm 1.2.0" },
  { "qwen3-8b", "a100-sxm-80gb", "trtllm 1.2.0", "fp8", "weights in FP8" },
  { "qwen3-8b", "l40s", "trtllm 1.2.0", "fp8" },
  { "qwen3-8b", "h100-sxm", "trtllm 1.2.0", "nvfp4", "weights in NVFP4" },
  { "qwen3-8b", "mi300x", "trtllm 1.2.0", nil, "any model" },
  { "gpt-oss-20b", "a100-sxm-80gb", "vllm 0.10.1" },
  { "gpt-oss-20b", "h100-sxm", "vllm 0.9.2", nil, "experts in MXFP4" },
  { "qwen3-8b", "a100-sxm-80gb", "vllm 0.8.5", "nvfp4", "weights in NVFP4" },
  { "qwen3-8b", "a100-sxm-80gb", "vllm 0.9.2", "nvfp4" },
  { "qwen3-30b-a3b", "a100-sxm-80gb", "vllm 0.8.5", "fp8", "experts in FP8" },
  { "qwen3-30b-a3b", "a100-sxm-80gb", "vllm 0.9.2", "fp8" },
  { "qwen3-8b", "a10", "vllm 0.8.5", "fp8" },
  { "qwen3-8b", "t4", "vllm 0.13.0", "fp8", "weights in FP8 and NVFP4" },
  { "deepseek-v4-flash", "a100-sxm-80gb", "vllm 0.24", nil, "hyper-connections", 8 },
  { "glm-5.3-flash", "h200-sxm", "vllm 0.28", nil, "an index of pooled keys", 8 },
  { "glm-5.3-flash", "h200-sxm", "vllm 0.29", nil, nil, 8 },
  { "inkling-small", "h200-sxm", "vllm 0.25", nil, "relative attention", 8 },
  { "inkling-small", "h200-sxm", "trtllm 1.2.0", nil, "the model's kinds of layers", 8 },
  { "qwen3-30b-a3b", "a100-sxm-80gb", "sglang 0.5.9", "fp8_block", "experts in FP8" },
  { "qwen3-30b-a3b", "l40s", "sglang 0.5.9", "fp8_block" },
  { "qwen3-8b", "h100-sxm", "sglang 0.5.9", "nvfp4", "weights in NVFP4" },
  { "qwen3-8b", "h100-sxm", "sglang 0.5.12", "nvfp4" },
  { "qwen3-8b", "b200", "sglang 0.5.9", "nvfp4" },
}

test("an engine without kernels for a format on a GPU does not start", function()
  for _, row in ipairs(kernels) do
    local model, gpu, engine, weights, lacks, tp = unpack(row, 1, 6)
    local found = ask(model, gpu, engine, nil, { weights = weights, max_model_len = 2048, tp = tp })
    local what = ("%s %s on %s, %s"):format(model, weights or "", gpu, engine)
    test.equal(found.starts, lacks == nil, what)
    if lacks then test.has(found.reason, "has no kernels for " .. lacks .. " on " .. gpu) end
    test.equal(found.fits, nil, "nothing makes up for kernels")
  end
end)

test("an option that chooses other kernels is asked", function()
  test.check(not ask("qwen3-8b", "h100-sxm", "trtllm 1.3.0", nil, { weights = "nvfp4" }).starts)
  test.check(ask("qwen3-8b", "h100-sxm", "trtllm 1.3.0", { ["moe_config.backend"] = "MARLIN" },
    { weights = "nvfp4" }).starts)
end)

-- States of recurrent layers --------------------------------------------------------------------------------------

test("seats above the blocks of states stop vLLM from 0.19 on, where decode steps have graphs", function()
  local deployment = { weights = "fp8_block", memory_utilization = 0.95 }
  local function of(release, options) return ask("qwen3.5-27b", "h100-sxm", "vllm " .. release, options, deployment) end
  local found = of "0.22"
  test.near(found.kv_blocks, 856, 0.02, "blocks (vllm-project/recipes#551)")
  test.equal(found.starts, false)
  test.has(found.reason, "max_num_seqs 1,024 is more than the", "KV blocks for states")
  test.equal(found.fits.max_num_seqs, found.kv_blocks)
  test.check(of("0.22", { max_num_seqs = found.fits.max_num_seqs }).starts, "what would fit fits")
  test.check(of "0.18".starts, "0.18 does not ask")
  test.check(of("0.22", { enforce_eager = true }).starts)
  test.check(of("0.22", { ["compilation_config.cudagraph_mode"] = "PIECEWISE" }).starts)
  test.check(not of("0.22", { ["compilation_config.cudagraph_mode"] = "FULL" }).starts)
  local other = { max_num_seqs = 2048 }
  test.check(not ask("nemotron-nano-9b-v2", "l40s", "vllm 0.24", other).starts, "another model with states")
  test.check(ask("nemotron-nano-9b-v2", "l40s", "sglang 0.5.9", { max_running_requests = 2048 }).starts)
  test.check(ask("qwen3-8b", "l40s", "vllm 0.24", other).starts, "without states")
end)

test("with prefix caching a request holds two blocks of states in each group", function()
  local first = ask("qwen3.5-27b", "rtx-pro-6000", "vllm 0.29", { max_model_len = 8192, max_num_seqs = 256,
    gpu_memory_utilization = 0.90 })
  test.near(first.kv_tokens, 314187, 0.02, "a start-up log of vLLM 0.29")
  test.near(first.max_concurrency, 38.35, 0.02)
  local second = ask("qwen3.5-27b", "rtx-3090", "vllm 0.27", { tensor_parallel_size = 2, max_model_len = 131072,
    max_num_seqs = 2, gpu_memory_utilization = 0.92, kv_cache_dtype = "fp8_e4m3", max_num_batched_tokens = 8192,
    enable_prefix_caching = true },
    { weights = "fp8_block" })
  test.near(second.kv_tokens, 302921, 0.05, "mitchross/talos-argocd-proxmox#1995")
  -- 9 groups of Nemotron-H: what a request of the longest length holds grows by a block in each.
  local function requests(is_cached, release)
    local found = ask("qwen3-next-80b-a3b", "h200-sxm", "vllm " .. release, { tensor_parallel_size = 2,
      enable_prefix_caching = is_cached, max_model_len = 2176, max_num_seqs = 64 })
    return found.max_concurrency
  end
  test.check(requests(true, "0.24") < 0.9 * requests(false, "0.24"))
  test.near(requests(true, "0.13"), requests(false, "0.13"), 1e-9, "0.13 keeps one")
end)

-- The longest request ---------------------------------------------------------------------------------------------

--- A run of so many equal requests, with a note that holds each text.
local function ran(keys, workload)
  local path = test.file(".lua", ([[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm", %s
    workload = require "workloads.constant" { num_requests = 4, rate_per_s = 1, %s } }]]):format(keys, workload))
  local result = kinds.run(opening.file(path), 1, { document = true })
  return result.summary, table.concat(result.notes, "\n")
end

test("SGLang and TensorRT-LLM start with a pool below the context, vLLM does not", function()
  local glm = ask("glm-5.2", "h200-sxm", "sglang 0.5.13.post1", { tp_size = 8, dp_size = 8, enable_dp_attention = true,
    mem_fraction_static = 0.85, max_running_requests = 256, moe_a2a_backend = "deepep" }, { weights = "fp8_block" })
  test.check(glm.starts, "sgl-project/sglang#36583: %s", glm.reason)
  test.near(glm.longest_tokens, 137488, 0.01)
  for engine, starts in pairs { ["sglang 0.5.9"] = true, ["trtllm 1.2.0"] = true, ["vllm 0.24"] = false } do
    for model, gpu in pairs { ["llama-3.1-8b"] = "l4", ["qwen3-14b"] = "l40s" } do
      local found = ask(model, gpu, engine, nil, { max_model_len = 400000 })
      test.equal(found.starts, starts, ("%s of %s: %s"):format(engine, model, tostring(found.reason)))
      test.check(found.longest_tokens < 400000)
    end
  end
  local strict = ask("llama-3.1-8b", "l4", "trtllm 1.2.0", { fail_fast_on_attention_window_too_large = true },
    { max_model_len = 400000 })
  test.equal(strict.starts, false, "TensorRT-LLM that was told to stop")
end)

test("where the pool is small, answers are cut before a scheduler reserves for them", function()
  for engine, left in pairs { ["sglang 0.5.9"] = 2, ["trtllm 1.2.0"] = 0 } do
    local blocks, size = 4000, engine:find "trt" and 32 or 1
    local most = (blocks / size - left) * size
    local summary, notes = ran(('engine = "%s", deployment = { kv_blocks = %d },'):format(engine, blocks / size),
      'prompt_tokens = 1000, output_tokens = 3100, max_output_tokens = "exact"')
    test.equal(summary.completed, 4, engine)
    test.equal(summary.output_tokens, 4 * (most - 1000), engine)
    test.has(notes, "4 answers are cut at what the KV cache holds of one request", "fewer than llama-3.1-8b's")
    summary, notes = ran(('engine = "%s", deployment = { kv_blocks = %d },'):format(engine, blocks / size),
      "prompt_tokens = 4100, output_tokens = 3")
    test.equal(summary.completed, 0, engine .. ": a prompt that is longer")
    test.has(notes, "their prompts leave no room for a token within what the KV cache holds of one request")
  end
end)

test("stated blocks are the reason where they bind", function()
  local few = { num_gpu_blocks_override = 40, max_model_len = 4096 }
  local found = ask("llama-3.1-8b", "h100-sxm", "vllm 0.15.1", few)
  test.equal(found.reason, "max_model_len 4,096 needs 256 KV blocks of 16 tokens, and 40 are stated")
  test.equal(found.fits.kv_blocks, 256)
  test.equal(found.fits.max_model_len, 640)
  test.check(ask("llama-3.1-8b", "h100-sxm", "vllm 0.15.1", core.copy(few, { max_model_len = 640 })).starts)
  test.check(ask("llama-3.1-8b", "h100-sxm", "vllm 0.15.1", core.copy(few, { num_gpu_blocks_override = 256 })).starts)
  local keyed = ask("gpt-oss-20b", "h100-sxm", "vllm 0.24", nil, { kv_blocks = 40, max_model_len = 4096 })
  test.has(keyed.reason, "the KV blocks that are stated have")
end)

-- vLLM's generations ----------------------------------------------------------------------------------------------

test("V0 has rules of its own where a command asks for it", function()
  local function of(release, options, gpu)
    return ask("qwen3-30b-a3b", gpu or "rtx-3090", "vllm " .. release, core.copy({ max_num_seqs = 8 }, options),
      { weights = "int4_group128" })
  end
  local asked = of("0.8.5", { VLLM_USE_V1 = "0" })
  test.near(gib(asked.kv_bytes), 5.34, 0.03, "vllm-project/vllm#17327")
  test.near(gib(of("0.8.5").kv_bytes), 4.93, 0.01, "V1's")
  test.check(not table.concat(asked.notes or {}, "\n"):find "VLLM_USE_V1", "a note of it")
  test.near(of("0.11.0", { VLLM_USE_V1 = "0" }).kv_bytes, of("0.11.0").kv_bytes, 0, "0.11 has no V0")
  test.check(of("0.9.2", { VLLM_USE_V1 = "0" }).kv_bytes ~= of("0.9.2").kv_bytes)
end)

-- DeepSeek-V4 -----------------------------------------------------------------------------------------------------

test("DeepSeek-V4 has vLLM's pages", function()
  --- Bytes of a block of a rank, of release, by which so many blocks follow from the GiB of a log.
  local function block_bytes(model, release, options)
    local found = ask(model, "gb300", "vllm " .. release, core.copy({ tensor_parallel_size = 4, kv_cache_dtype = "fp8",
      max_model_len = 65536 }, options))
    return found.kv_bytes / found.kv_blocks
  end
  local in_mxfp4 = { ["attention_config.use_fp4_indexer_cache"] = true }
  test.near(block_bytes("deepseek-v4-pro", "0.22"), 1482048, 0.0001, "so many of each size as the largest has layers")
  test.near(block_bytes("deepseek-v4-pro", "0.26"), 1473408, 0.0001, "vllm-project/vllm#48993, before")
  test.near(block_bytes("deepseek-v4-pro", "0.26", in_mxfp4), 1473408, 0.0001, "with rows of FP8")
  test.near(block_bytes("deepseek-v4-pro", "0.27", in_mxfp4), 1315008, 0.0001, "vllm-project/vllm#48993, after")
  local by_format = { ["attention_config.indexer_kv_dtype"] = "mxfp4" }
  test.near(block_bytes("deepseek-v4-pro", "0.29", by_format), 1315008, 0.0001)
  test.check(block_bytes("deepseek-v4-pro", "0.27") > 1315008 * 1.05, "in FP8 by default")
  test.near(block_bytes("deepseek-v4-flash", "0.27"), 1002240, 0.0001, "vllm-project/vllm#54703: pages of its groups")
  local idle = capacity.of { model = "qwen3-8b", hardware = "h100-sxm", deployment = {},
    engine = core.copy({ "vllm 0.27" }, in_mxfp4) }
  test.has(table.concat(idle.notes, "\n"), "no layer has an index beside compressed attention")
end)

test("tokens of DeepSeek-V4 are those of vLLM's logs", function()
  --- Tokens that the log prints for each GiB of its pool.
  local function tokens(model, hardware, release, options)
    local found = ask(model, hardware, "vllm " .. release, core.copy({ kv_cache_dtype = "fp8" }, options))
    return found.kv_tokens / gib(found.kv_bytes)
  end
  for seats, log in pairs { [128] = 4103577 / 39.26, [16] = 4230092 / 40.47 } do
    local options = { tensor_parallel_size = 4, max_num_seqs = seats, max_model_len = 1000000 }
    test.near(tokens("deepseek-v4-pro", "gb300", "0.21", options), log, 0.0005, "two start-ups of vLLM 0.21 on GB300")
  end
  local of_h20 = { tensor_parallel_size = 2, enable_expert_parallel = true, max_num_batched_tokens = 8192,
    max_num_seqs = 32, max_model_len = 121344 }
  test.near(tokens("deepseek-v4-flash", "h20", "0.26", of_h20), 150000 / 7.7, 0.01, "vllm-project/vllm#51041")
  test.check(tokens("deepseek-v4-flash", "h20", "0.27", of_h20) < 0.95 * 150000 / 7.7,
    "since 0.27 blocks of each group count, whatever they hold")
end)

test.finish()
