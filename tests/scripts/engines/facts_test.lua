-- What engines do with drafts, roles and the back ends that they are told to use: the keys of a scenario that follow.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local application = require "rooflua.applied.application"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local rooflua = require "rooflua"
local serve = rooflua.serve

local function applied(engine, more)
  local given = scene({ model = "deepseek-v3", hardware = "h200-sxm", engine = engine }, more)
  return application.of(Reader.new "scenario", given, true)
end

--- Drafts of a scenario.
local function drafting(count, more)
  local out = { speculation = { speculator = require "speculators.fixed" { draft_tokens = count }, drafter = "mtp",
    acceptance = "constant" } }
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

--- A parameter of the policy that a scenario gets at a key: parameter(engine, "steps.largest_graph", more).
local function parameter(engine, path, more)
  local key, name = path:match "^([^.]+)%.(.*)$"
  return policy.parameters(applied(engine, more).given[key])[name]
end

local function notes(engine, more) return table.concat(applied(engine, more).notes, "\n") end

local sglang, trtllm, vllm = "sglang 0.5.9", "trtllm 1.2.0rc2", "vllm 0.15.1"

-- Drafts ---------------------------------------------------------------------------------------------------------

test("graphs of requests hold their drafts as well", function()
  for _, each in ipairs { { { sglang, cuda_graph_max_bs = 64 }, 64 }, { { sglang, cuda_graph_bs = { 1, 2, 16 } }, 16 },
    { { trtllm, ["cuda_graph_config.max_batch_size"] = 8 }, 8 },
    { { trtllm, ["cuda_graph_config.batch_sizes"] = { 1, 24, 2 } }, 24 } } do
    test.equal(parameter(each[1], "steps.largest_graph"), each[2])
    test.equal(parameter(each[1], "steps.largest_graph", drafting(3)), 4 * each[2], "three drafts")
    test.equal(parameter(each[1], "steps.largest_graph", drafting(1)), 2 * each[2], "one draft")
    test.equal(parameter(each[1], "steps.largest_graph", drafting(3, { role = "prefill" })), each[2],
      "an engine that prefills drafts nothing")
    test.equal(parameter(each[1], "steps.largest_graph", drafting(3, { role = "decode" })), 4 * each[2])
  end
  test.equal(parameter(sglang, "steps.largest_graph", drafting(3)), 4 * parameter(sglang, "steps.largest_graph"),
    "its own default, too")
  test.equal(parameter({ vllm, max_cudagraph_capture_size = 64 }, "steps.largest_graph", drafting(3)), 64,
    "vLLM counts tokens")
  test.equal(parameter({ sglang, disable_cuda_graph = true }, "steps.largest_graph", drafting(3)), 0)
end)

test("SGLang has 48 seats with drafts, if nothing else is stated", function()
  test.equal(parameter(sglang, "scheduler.max_num_seqs"), 2048)
  test.equal(parameter(sglang, "scheduler.max_num_seqs", drafting(3)), 48)
  test.equal(parameter({ sglang, max_running_requests = 300 }, "scheduler.max_num_seqs", drafting(3)), 300)
  test.equal(parameter(sglang, "scheduler.max_num_seqs", drafting(3, { role = "prefill" })), 2048)
  test.equal(parameter(sglang, "scheduler.max_speculative_seqs", drafting(3)), 0, "which holds for drafts, too")
end)

test("SGLang plans no step ahead with drafts, unless the second version of them is on", function()
  local function depth(engine, more) return applied(engine, more).given.async_depth end
  test.equal(depth(sglang), 2)
  test.equal(depth(sglang, drafting(3)), 1)
  for text, expected in pairs { ["1"] = 2, ["true"] = 2, True = 2, ["0"] = 1, ["false"] = 1, False = 1 } do
    test.equal(depth({ sglang, SGLANG_ENABLE_SPEC_V2 = text }, drafting(3)), expected, text)
  end
  test.equal(depth { sglang, SGLANG_ENABLE_SPEC_V2 = "0" }, 2, "without drafts")
  test.equal(depth({ sglang, disable_overlap_schedule = true, SGLANG_ENABLE_SPEC_V2 = "1" }, drafting(3)), 1)
end)

-- Roles ----------------------------------------------------------------------------------------------------------

test("prompts that have arrived need one token of a step of TensorRT-LLM, not a block of them", function()
  test.equal(parameter(trtllm, "scheduler.chunk_unit_size", { role = "decode" }), 1)
  test.equal(parameter(trtllm, "scheduler.chunk_unit_size", { role = "prefill" }), 0)
  test.equal(parameter(trtllm, "scheduler.chunk_unit_size"), 0)
end)

test("replicas of one scenario have what follows from their own role and drafts", function()
  local reader, found = Reader.new "scenario", {}
  local given = { model = rooflua.spec.model "deepseek-v3", hardware = rooflua.spec.hardware "h200-sxm",
    engine = { trtllm, ["cuda_graph_config.max_batch_size"] = 8 } }
  for i, more in ipairs { {}, { role = "decode" }, drafting(3, { role = "decode" }), { role = "prefill" },
    drafting(1) } do
    for key, value in pairs(given) do more[key] = value end
    local own = application.of(reader, more, true).given
    found[i] = own.scheduler.chunk_unit_size .. " " .. own.steps.largest_graph
  end
  test.equal(table.concat(found, ", "), "0 8, 1 8, 1 32, 0 8, 0 16")
end)

test("engines of a run know their role", function()
  local run = serve.open { model = "llama-3.1-8b", hardware = "h100-sxm", engine = trtllm,
    network = { alpha_s = 1e-5, bytes_per_s = 1e11 }, workload = require "workloads.closed_loop" { num_requests = 3 },
    replicas = { { role = "prefill" }, { role = "decode" } } }
  local units = {}
  for i, each in ipairs(require("rooflua.serving.live").state(run).replicas) do
    units[i] = policy.parameters(each.scheduler).chunk_unit_size
  end
  test.equal(table.concat(units, " "), "0 1")
end)

test("prompts of engines that only prefill have no overhead under load", function()
  for _, engine in ipairs { sglang, vllm } do
    local function overhead(role, gpu)
      return applied(engine, { role = role, hardware = gpu, model = "llama-3.1-8b" }).engine.values.prompt_overhead
    end
    test.check(overhead(nil, "b200") > 0, engine)
    test.check(overhead("decode", "b200") > 0, engine)
    test.equal(overhead("prefill", "b200"), 0, engine)
  end
end)

-- Back ends ------------------------------------------------------------------------------------------------------

test("SGLang's pages follow from the kernels of the attention", function()
  for backend, page in pairs { trtllm_mla = 64, trtllm_mha = 64, flashmla = 64, cutlass_mla = 128, fa3 = 1,
    triton = 1 } do
    test.equal(applied({ sglang, attention_backend = backend }).given.deployment.block_size, page, backend)
  end
  test.equal(applied(sglang).given.deployment.block_size, 1)
  test.equal(applied({ sglang, attention_backend = "trtllm_mla", page_size = 32 }).given.deployment.block_size, 32)
end)

test("how tokens reach experts follows from the back end that is stated", function()
  local own = parameter(vllm, "steps.exchange")
  test.equal(own, "own")
  for backend, exchange in pairs { deepep_high_throughput = "deepep", deepep_low_latency = "deepep",
    flashinfer_nvlink_one_sided = "nvlink_one_sided", flashinfer_all2allv = "nvlink_two_sided",
    allgather_reducescatter = "gathered", naive = "own" } do
    test.equal(parameter({ vllm, all2all_backend = backend }, "steps.exchange"), exchange, backend)
  end
  test.equal(parameter({ sglang, moe_a2a_backend = "deepep" }, "steps.exchange"), "deepep")
  test.equal(parameter({ sglang, moe_a2a_backend = "none" }, "steps.exchange"), "own")
  test.check(notes({ sglang, moe_a2a_backend = "mooncake" }):find("--moe-a2a-backend: the exchange of tokens", 1, true))
  test.check(not notes({ sglang, moe_a2a_backend = "deepep" }):find("moe-a2a-backend", 1, true))
  for method, exchange in pairs { NVLINK_ONE_SIDED = "nvlink_one_sided", NVLINK_TWO_SIDED = "nvlink_two_sided",
    DEEPEP = "deepep", DEEPEPLOWLATENCY = "deepep", ALLGATHER = "gathered", other = "own" } do
    test.equal(parameter({ trtllm, TRTLLM_FORCE_COMM_METHOD = method }, "steps.exchange"), exchange, method)
  end
end)

test("GEMMs in block-scaled FP8 are FlashInfer's where SGLang is told so, or DeepGEMM is off", function()
  local function gemm(options)
    options[1] = options[1] or sglang
    return parameter(options, "steps.block_gemm", { hardware = "b200" })
  end
  test.equal(gemm {}, "own")
  test.equal(gemm { fp8_gemm_runner_backend = "flashinfer_trtllm" }, "flashinfer")
  test.equal(gemm { fp8_gemm_runner_backend = "auto" }, "own")
  test.equal(gemm { fp8_gemm_runner_backend = "cutlass" }, "own")
  test.check(notes({ sglang, fp8_gemm_runner_backend = "cutlass" }):find("kernels are those of the tables", 1, true))
  for _, name in ipairs { "SGLANG_ENABLE_JIT_DEEPGEMM", "SGL_ENABLE_JIT_DEEPGEMM" } do
    for text, expected in pairs { ["false"] = "flashinfer", False = "flashinfer", ["0"] = "flashinfer", ["1"] = "own",
      ["true"] = "own" } do
      test.equal(gemm { [name] = text }, expected, name .. "=" .. text)
    end
  end
end)

test("an option that changes nothing in a deployment is told", function()
  local kernels, exchange = "kernels are those of the tables", "the exchange of tokens among experts is that"
  for _, each in ipairs {
    { { sglang, fp8_gemm_runner_backend = "flashinfer_trtllm" }, "--fp8-gemm-runner-backend: " .. kernels },
    { { sglang, SGLANG_ENABLE_JIT_DEEPGEMM = "false" }, "SGLANG_ENABLE_JIT_DEEPGEMM: " .. kernels },
    { { trtllm, ["moe_config.backend"] = "CUTLASS" }, "moe_config.backend: " .. kernels },
    { { trtllm, TRTLLM_FORCE_COMM_METHOD = "other" }, "TRTLLM_FORCE_COMM_METHOD: " .. exchange },
    { { vllm, VLLM_MXFP4_USE_MARLIN = "1" }, "VLLM_MXFP4_USE_MARLIN: " .. kernels },
    { { vllm, all2all_backend = "naive" }, "--all2all-backend: " .. exchange } } do
    test.check(notes(each[1]):find(each[2], 1, true), "%s: %s", each[2], notes(each[1]))
  end
  for _, each in ipairs { { { sglang, SGLANG_ENABLE_JIT_DEEPGEMM = "true" } },
    { { sglang, SGLANG_ENABLE_JIT_DEEPGEMM = "false" }, { hardware = "b200" } },
    { { vllm, VLLM_MXFP4_USE_MARLIN = "1" }, { model = "gpt-oss-120b" } }, { { vllm, VLLM_MXFP4_USE_MARLIN = "0" } },
    { { vllm, all2all_backend = "deepep_low_latency" } } } do
    test.equal(notes(each[1], each[2]), "")
  end
end)

test("TensorRT-LLM's back end TRTLLM runs experts in FP8 blocks on Blackwell by vLLM's kernels", function()
  local function kernels(backend, more)
    local given = { hardware = "b200", deployment = { tp = 8 } }
    for key, value in pairs(more or {}) do given[key] = value end
    return parameter({ trtllm, ["moe_config.backend"] = backend }, "steps.experts_kernels", given)
  end
  test.equal(kernels "TRTLLM", "vllm")
  test.equal(kernels "CUTLASS", "own")
  test.equal(kernels("TRTLLM", { hardware = "h200-sxm" }), "own", "Hopper")
  test.equal(kernels("TRTLLM", { deployment = { tp = 8, ep = 8 } }), "vllm", "whole experts")
  test.equal(kernels("TRTLLM", { deployment = { tp = 4, dp = 2, ep = 4 } }), "vllm", "parts of them")
  test.equal(kernels("TRTLLM", { deployment = { tp = 8, weights = "nvfp4" } }), "own", "another format")
end)

test("Marlin runs experts in MXFP4, and no others", function()
  local function kernels(on, more)
    local given = { model = "gpt-oss-120b" }
    for key, value in pairs(more or {}) do given[key] = value end
    return parameter({ vllm, VLLM_MXFP4_USE_MARLIN = on }, "steps.experts_kernels", given)
  end
  test.equal(kernels "1", "marlin")
  test.equal(kernels "0", "own")
  test.equal(kernels("1", { model = "deepseek-v3" }), "own")
  test.equal(kernels("1", { model = "llama-3.1-8b" }), "own")
  test.equal(kernels("1", { deployment = { weights = "bf16" } }), "own")
end)

test("TensorRT-LLM's piecewise graphs take prompts up to the largest that is captured", function()
  test.equal(parameter({ trtllm, ["torch_compile_config.capture_num_tokens"] = { 1, 8192, 64 } },
    "steps.largest_prefill_graph"), 8192)
  test.equal(parameter(trtllm, "steps.largest_prefill_graph"), -1)
end)

test("later releases have a list beside a back end, which may be disabled", function()
  local function largest(backend)
    return parameter({ "trtllm 1.4.0rc4", prefill_capture_num_tokens = { 1, 4096, 64 },
      prefill_cuda_graph_backend = backend }, "steps.largest_prefill_graph")
  end
  test.equal(largest "breakable", 4096)
  test.equal(largest(nil), 4096)
  test.equal(largest "disabled", -1)
  test.has(notes { "trtllm 1.4.0rc4", prefill_capture_num_tokens = { 64 }, prefill_cuda_graph_backend = "disabled" },
    "prompts run outside of CUDA graphs")
end)

test("requests that TensorRT-LLM pauses compute their KV again, as a note says", function()
  local policies = "scheduler_config.capacity_scheduler_policy"
  test.has(notes { "trtllm 1.4.0rc4", [policies] = "MAX_UTILIZATION" }, "computes its KV again")
  test.equal(notes { "trtllm 1.4.0rc4", [policies] = "GUARANTEED_NO_EVICT" }:find "computes its KV", nil)
  test.has(notes { "trtllm 1.4.0rc4", ["scheduler_config.context_chunking_policy"] = "FORCE_CHUNK" },
    "in the order in which they came")
end)

test("vLLM's graphs of decodes alone hold no prompts", function()
  local function graphs(mode)
    return applied({ vllm, ["compilation_config.cudagraph_mode"] = mode }).engine.values.graphs_with_prefill
  end
  test.equal(graphs "FULL_DECODE_ONLY", false)
  test.equal(graphs "FULL_AND_PIECEWISE", true)
  test.equal(graphs "PIECEWISE", true)
  test.equal(applied(vllm).engine.values.graphs_with_prefill, true)
end)

test("variables that choose kernels, collectives and exchanges are known, and say that nothing follows", function()
  for _, each in ipairs { { "vllm 0.19", "VLLM_ROCM_USE_AITER_MOE", "kernels are those of the tables" },
    { "vllm 0.19", "VLLM_ROCM_QUICK_REDUCE_QUANTIZATION", "collectives are those of the tables" },
    { "vllm 0.19", "VLLM_MOE_DP_CHUNK_SIZE", "the exchange of tokens among experts" },
    { "sglang 0.5.10", "SGLANG_OPT_USE_AITER_SILU_MUL", "kernels are those of the tables" },
    { "sglang 0.5.10", "SGLANG_USE_1STAGE_ALLREDUCE", "collectives are those of the tables" } } do
    test.has(notes { each[1], [each[2]] = "1" }, each[3])
  end
end)

test("vLLM captures decodes piecewise before 0.11, and where that is asked for", function()
  local function layer_s(release, given)
    local own = { "vllm " .. release }
    for name, value in pairs(given or {}) do own[name] = value end
    return applied(own).engine.values.piecewise_layer_s
  end
  local mode = "compilation_config.cudagraph_mode"
  test.at_least(layer_s "0.10.2", 1e-6)
  test.equal(layer_s "0.11.0", 0)
  test.at_least(layer_s("0.19.0", { [mode] = "PIECEWISE" }), 1e-6)
  for _, each in ipairs { { "0.10.2", { enforce_eager = true } }, { "0.10.2", { VLLM_USE_V1 = "0" } },
    { "0.10.2", { ["compilation_config.full_cuda_graph"] = true } }, { "0.10.2", { [mode] = "FULL" } }, { "0.7.3" },
    { "0.19.0", { [mode] = "FULL_DECODE_ONLY" } } } do
    test.equal(layer_s(each[1], each[2]), 0, each[1])
  end
end)

test("blocks of experts are DeepGEMM's, which vLLM uses before 0.15", function()
  local function block(release)
    local about = { hardware = "h200-sxm", model = "deepseek-v3", tp = 4 }
    return rooflua.engines.of("vllm " .. release, about).values.expert_block
  end
  test.equal(block "0.14", 128)
  test.equal(block "0.15", 0)
end)

-- Memory ----------------------------------------------------------------------------------------------------------

local small = { model = "llama-3.1-8b", hardware = "h100-sxm",
  workload = require "workloads.poisson" { rate_per_s = 5, num_requests = 3, prompt_tokens = 40, output_tokens = 3 } }

local function blocks(engine, more)
  local given = { engine = engine }
  for _, each in ipairs { small, more or {} } do
    for key, value in pairs(each) do given[key] = value end
  end
  return serve.open(given):replica().total_blocks
end

test("stated tokens of the KV cache are the most of it, and less where the memory has less", function()
  test.equal(blocks { "sglang 0.5.9", max_total_tokens = 6400 }, 6400)
  test.equal(blocks { "sglang 0.5.9", max_total_tokens = 6410, page_size = 64 }, 100)
  test.equal(blocks { "sglang 0.5.9", max_total_tokens = 1e9 }, blocks "sglang 0.5.9")
  test.equal(blocks { trtllm, ["kv_cache_config.max_tokens"] = 6400 }, 200)
  test.equal(blocks { trtllm, ["kv_cache_config.max_tokens"] = 6401 }, 201)
  test.equal(blocks { trtllm, ["kv_cache_config.max_tokens"] = 6400, ["kv_cache_config.tokens_per_block"] = 64 }, 100)
  test.equal(blocks { trtllm, ["kv_cache_config.max_tokens"] = 1e9 }, blocks(trtllm))
  test.equal(blocks { "vllm 0.19", num_gpu_blocks_override = 777 }, 777, "vLLM's is the number itself")
  test.equal(blocks({ "sglang 0.5.9", max_total_tokens = 6400 }, { deployment = { kv_blocks = 123 } }), 123)
end)

test("experts that tokens travel to take less memory for prompts than those of gathered tokens", function()
  local forward = require "engines.memory.forward"
  local facts = { tp = 1, dp = 8, pp = 1, ep = 8, model = rooflua.spec.model "qwen3-30b-a3b", values = {} }
  facts.counts = require("rooflua.native").rank_counts(facts.model, { dp = 8, ep = 8 })
  local gathered = forward.bytes(facts, 8192)
  facts.tokens_travel = true
  test.check(forward.bytes(facts, 8192) < gathered / 4, "%g and %g", forward.bytes(facts, 8192), gathered)
  local function kv_bytes(engine)
    return rooflua.engines.capacity { model = "qwen3-30b-a3b", hardware = "h100-sxm", engine = engine }.kv_bytes
  end
  local plain = { "vllm 0.19", data_parallel_size = 8, enable_expert_parallel = true, max_num_batched_tokens = 16384 }
  local travels = { "vllm 0.19", data_parallel_size = 8, enable_expert_parallel = true,
    max_num_batched_tokens = 16384, all2all_backend = "deepep_low_latency" }
  test.check(kv_bytes(travels) > kv_bytes(plain))
  travels.all2all_backend = "allgather_reducescatter"
  test.equal(kv_bytes(travels), kv_bytes(plain))
end)

-- Ranks -----------------------------------------------------------------------------------------------------------

test("TensorRT-LLM deals requests to its ranks by their tokens, before 1.0 by those of new requests", function()
  for _, release in ipairs { "trtllm 1.0.0", "trtllm 1.2.0rc2" } do test.equal(applied(release).router, "trtllm_dp") end
  test.equal(applied("trtllm 0.20.0").router, "trtllm_dp_new_tokens")
end)

test("TensorRT-LLM hits parts of KV blocks since 0.19, unless told otherwise", function()
  local function hits_parts(engine) return applied(engine).given.deployment.partial_reuse end
  test.equal(hits_parts("trtllm 1.2.0rc2"), true)
  test.equal(hits_parts("trtllm 0.20.0"), true)
  test.equal(hits_parts("trtllm 0.18.0"), false)
  test.equal(hits_parts { "trtllm 1.0.0", kv_cache_config = { enable_partial_reuse = false } }, false)
end)

test("SGLang's enable_ep_moe divides whole experts among all ranks", function()
  local given = applied({ "sglang 0.4.9", tp_size = 8, enable_ep_moe = true }).given.deployment
  test.equal(given.ep, 8)
  test.equal(applied({ "sglang 0.4.9", tp_size = 8 }).given.deployment.ep, nil)
end)

test.finish()
