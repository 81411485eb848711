-- Prompts in and out of CUDA graphs, by engine, release and option.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local host = require "steps.kernels.host"
local rooflua = require "rooflua"

local function steps_of(given, parameters)
  given.model, given.hardware = given.model or "llama-3.1-8b", given.hardware or "b200"
  given.deployment = { max_num_batched_tokens = 8192, max_num_seqs = 1024 }
  return bound.bind(require "steps.kernels" (parameters or {}), given)
end

test("a step of vLLM above its largest graph takes 40 us for each operation, one inside of it does not", function()
  local steps = steps_of { release = "vllm 0.17" }
  local layers = rooflua.cost.layers(steps.model, rooflua.spec.deployment { model = steps.model,
    hardware = rooflua.spec.hardware "b200", kv_blocks = 1000 })
  local floor_s = host.operations(layers, steps.engine_values, true) * 40e-6
  test.near(steps.eager_s, floor_s, 1e-9)
  test.at_least(floor_s, 32 * 8 * 40e-6)
  test.near(steps:time(bound.prefill(513, 0)), floor_s, 1e-9)
  test.check(steps:time(bound.prefill(512, 0)) < floor_s)
  local larger = steps_of({ release = "vllm 0.17" }, { largest_graph = 2048 })
  test.check(larger:time(bound.prefill(513, 0)) < floor_s)
end)

test("compiled latent attention is 4 operations, in Python it is 24", function()
  local layers = { { op = "mla_prefill", count = 10 }, { op = "gemm", count = 5 }, { op = "grouped_gemm", count = 2 } }
  local vllm = { attention_operations = 4, expert_operations = 8 }
  test.equal(host.operations(layers, vllm, true), 40 + 5 + 16)
  test.equal(host.operations(layers, vllm, false), 240 + 5 + 16)
end)

--- Tokens of the largest graph with prompts.
local function tokens(engine, more)
  local about = { model = "qwen3-8b", hardware = "h100-sxm" }
  for name, value in pairs(more or {}) do about[name] = value end
  return bound.values(engine, about).graphs_with_prefill
end

test("SGLang's prompts are in piecewise graphs from 0.5.10 on, where it captures them", function()
  test.equal(tokens "sglang 0.5.9", false)
  test.equal(tokens "sglang 0.5.10", 4096)
  test.equal(tokens { "sglang 0.5.12", chunked_prefill_size = 2048 }, 2048)
  test.equal(tokens { "sglang 0.5.12", piecewise_cuda_graph_max_tokens = 1024 }, 1024)
  test.equal(tokens { "sglang 0.5.12", disable_piecewise_cuda_graph = true }, false)
  test.equal(tokens { "sglang 0.5.12", moe_a2a_backend = "deepep" }, false)
  test.equal(tokens("sglang 0.5.12", { model = "deepseek-v3" }), 2048)
  for _, each in ipairs { { dp = 2 }, { pp = 2 }, { model = "qwen3-next-80b-a3b" }, { hardware = "mi300x" },
    { model = "deepseek-v3", hardware = "b200" } } do
    test.equal(tokens("sglang 0.5.12", each), false, next(each))
  end
end)

test("a step in such a graph has no floor of the host", function()
  local before, after = steps_of { release = "sglang 0.5.9" }, steps_of { release = "sglang 0.5.12" }
  test.equal(before.prefill_graph_tokens, 0)
  test.equal(after.prefill_graph_tokens, 4096)
  test.check(after:time(bound.prefill(600, 0)) < before:time(bound.prefill(600, 0)))
  test.equal(steps_of({ release = "sglang 0.5.12" }, { largest_graph = 0 }).prefill_graph_tokens, 0)
end)

--- Seconds of a token of one client with four drafts that are never right, and the steps of kernels that priced it.
local function drafted(engine, hardware, kv, model)
  return rooflua.serve.run { model = model or "qwen3.5-27b", hardware = hardware, engine = engine,
    deployment = { tp = 2, weights = "int4_group32", kv = kv, kv_blocks = 2000 },
    speculation = { speculator = require "speculators.fixed" { draft_tokens = 4 }, drafter = require "drafters.mtp" {},
      acceptance = require "acceptance.constant" { rate = 0 } },
    workload = require "workloads.closed_loop" { clients = 1, num_requests = 1, prompt_tokens = 100,
      output_tokens = 32 } }.summary.tpot_s.mean
end

test("FlashInfer's kernels of SM 8.x verify drafts between graphs, and drafters run in Python", function()
  test.equal(bound.values("vllm 0.24", { model = "qwen3.5-27b", hardware = "rtx-3090" }).verifies_in_graphs, "bf16")
  local function values(engine, hardware)
    return bound.values(engine, { model = "qwen3.5-27b", hardware = hardware }).verifies_in_graphs
  end
  test.equal(values({ "vllm 0.24", attention_backend = "FLASHINFER" }, "rtx-3090"), false)
  test.equal(values({ "vllm 0.24", attention_backend = "TRITON_ATTN" }, "rtx-3090"), true)
  test.equal(values("vllm 0.24", "rtx-5090"), "bf16")
  for _, each in ipairs { { "vllm 0.24", "h100-sxm" }, { "vllm 0.24", "b200" }, { "vllm 0.10", "rtx-3090" },
    { "sglang 0.5.12", "rtx-3090" } } do
    test.equal(values(each[1], each[2]), true, each[1] .. each[2])
  end
  -- 48 recurrent layers of 8 operations, 16 of attention of 4: 17.9 ms of the host, and each pass of the drafter
  local function floor_s(kv, largest)
    return bound.bind(require "steps.kernels" { largest_graph = largest or 512 }, { model = "qwen3.5-27b",
      hardware = "rtx-3090", release = "vllm 0.24",
      deployment = { kv = kv, max_num_batched_tokens = 8192, max_num_seqs = 64 } }).verify_s
  end
  test.near(floor_s "fp8", (48 * 8 + 16 * 4) * 40e-6, 1e-9)
  test.equal(floor_s "bf16", 0)
  test.equal(floor_s("fp8", 0), 0, "without graphs the whole step is outside of them")
  local fp8_s, bf16_s = drafted("vllm 0.24", "rtx-3090", "fp8"), drafted("vllm 0.24", "rtx-3090", "bf16")
  test.at_least(fp8_s, (48 * 8 + 16 * 4) * 40e-6)
  test.check(bf16_s < fp8_s, "graphs are faster")
  test.near(drafted({ "vllm 0.24", attention_backend = "TRITON_ATTN" }, "rtx-3090", "fp8"), bf16_s, 0.02)
end)

test.finish()
