-- What engines do in their own way (scripts/engines): static FP8, norms in all-reduces, prefill outside of
-- graphs; and whose rows price experts. Uses the shipped tables of B200.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost, mfu = rooflua.cost, rooflua.mfu
local engines = require "rooflua.engines"
local host = require "steps.kernels.host"
local Kernels = require "steps.kernels"

local function tables_of(engine, gpu) return mfu.open { gpu = gpu or "b200", engine = engine } end

local function of(engine, given, parameters, gpu)
  given.hardware, given.mfu = gpu or "b200", tables_of(engine, gpu)
  return bound.bind(Kernels(parameters or {}), given)
end

--- Rows of a step by name: {time_s, note} of one run.
local function rows_of(steps, batch)
  local out = {}
  for _, row in ipairs(cost.explain(function() return steps:time(batch) end).rows) do
    local same = out[row.name]
    out[row.name] = { time_s = (same and same.time_s or 0) + row.time_s, note = row.note, evidence = row.evidence }
  end
  return out
end

local fp8 = { model = "llama-3.1-70b", tp = 4, deployment = { weights = "fp8", kv = "fp8" } }

test("TensorRT-LLM fuses the quantisation with static FP8 scales, which the rows of GEMMs contain", function()
  local own, vllm = rows_of(of("trtllm", fp8), bound.decodes(8, 1000)), rows_of(of("vllm", fp8), bound.decodes(8, 1000))
  for _, name in ipairs { "qkv", "o", "gate_up", "down" } do
    local saved_s = vllm[name].time_s - own[name].time_s
    test.check(saved_s > 1.5e-6 and saved_s < 6e-6, ("%s: %g us saved"):format(name, saved_s * 1e6))
    test.check(own[name].note:find "fused", name .. " says that the quantisation is fused")
  end
end)

test("blocks of 128 x 128 are scaled per token and step: nothing is fused", function()
  local given = { model = "llama-3.1-70b", tp = 4, deployment = { weights = "fp8_block", kv = "fp8" } }
  local own = rows_of(of("trtllm", given), bound.decodes(8, 1000))
  test.check(not (own.qkv.note or ""):find "fused", "FP8 in blocks is not fused")
end)

test("a norm after an all-reduce has no launch of its own; on one rank there is no all-reduce", function()
  local launch_s = Kernels {}.small_kernel_s
  local batch = bound.decodes(8, 1000)
  for _, tp in ipairs { 1, 4 } do
    local given = { model = "llama-3.1-8b", tp = tp }
    local own, plain = rows_of(of("trtllm", given), batch), rows_of(of("vllm", given), batch)
    test.near(plain.attention_norm.time_s, own.attention_norm.time_s + (tp > 1 and launch_s or 0), 1e-9,
              "launch of a norm at tp " .. tp)
    test.check(own.attention_norm.time_s > 0, "its bytes are still moved")
  end
end)

test("TensorRT-LLM does not fuse the norms of dense Qwen", function()
  local batch = bound.decodes(8, 1000)
  local launch_s = Kernels {}.small_kernel_s
  for model, fused in pairs { ["qwen3-32b"] = 0, ["qwen2.5-7b"] = 0, ["qwen3-235b-a22b"] = 1, ["llama-3.1-70b"] = 1 } do
    local given = { model = model, tp = 4 }
    local own, plain = rows_of(of("trtllm", given), batch), rows_of(of("vllm", given), batch)
    for _, norm in ipairs { "attention_norm", "mlp_norm" } do
      test.near(plain[norm].time_s - own[norm].time_s, fused * launch_s, 1e-9, model .. ": " .. norm)
    end
  end
end)

test("dense Qwen is known by its family, whatever its name", function()
  local fused = { qwen2 = false, qwen3 = false, qwen3_moe = true, llama = true, [""] = true }
  for family, expected in pairs(fused) do
    local about = { model = rooflua.spec.model { from = "qwen3-8b", name = "my-own", family = family } }
    test.equal(engines.of("trtllm 1.2.0rc0", about).values.fuses_norm, expected, family)
    test.equal(engines.of("sglang 0.5.9", about).values.fuses_norm, false, family)
  end
end)

test("prefill outside of CUDA graphs waits for the host", function()
  local model = { model = "llama-3.1-70b", tp = 8 }
  local layers = cost.layers(rooflua.spec.model "llama-3.1-70b",
                             rooflua.spec.deployment { model = "llama-3.1-70b", hardware = "b200", tp = 8 })
  local host_s = host.operations(layers, { expert_operations = 8 }) * 40e-6
  local steps, compiled = of("trtllm", model), of("vllm", model)
  test.near(steps:time(bound.prefill(64)), host_s, 1e-9, "a short prompt takes the time of the host")
  test.check(compiled:time(bound.prefill(64)) < 0.5 * host_s, "vLLM runs it in a graph")
  test.check(steps:time(bound.decodes(64, 100)) < 0.5 * host_s, "decodes are in a graph")
  test.check(steps:time(bound.prefill(16384)) > host_s, "a long prompt takes the time of the GPU")
  local graphs = of("trtllm", model, { largest_prefill_graph = 512 })
  test.check(graphs:time(bound.prefill(64)) < 0.5 * host_s, "with graphs for prefill the host is not waited for")
  test.near(graphs:time(bound.prefill(513)), math.max(host_s, compiled:time(bound.prefill(513))), 1e-3,
            "above the largest graph it is")
  local slower = of("trtllm", model, { eager_operation_s = 100e-6 })
  test.near(slower:time(bound.prefill(64)), host_s * 2.5, 1e-9, "eager_operation_s replaces the engine's")
end)

test("hosts of Hopper's machines are slower", function()
  local model = { model = "llama-3.1-70b", tp = 8 }
  local hopper, blackwell = of("trtllm", model, nil, "h200-sxm"), of("trtllm", { model = "llama-3.1-70b", tp = 8 })
  test.near(hopper:time(bound.prefill(64)) / blackwell:time(bound.prefill(64)), 65 / 40, 1e-9, "a short prompt")
  local function own(engine, gpu)
    local values = engines.of(engine, { hardware = gpu }).values
    return host.operation_s({ eager_operation_s = -1, graph_tokens = 512 }, values)
  end
  test.equal(own("trtllm", "a100-sxm-80gb"), 40e-6, "other architectures")
  test.equal(own("vllm", "h100-sxm"), 40e-6, "vLLM compiles its layers")
end)

test("prompts take a part of their kernels' time besides them, as the engine and the GPU say", function()
  local function steps_of(parameters, gpu, engine)
    return of(engine or "vllm", { model = "llama-3.1-70b", tp = 4 }, parameters, gpu)
  end
  local own, none = steps_of(), steps_of { prompt_overhead = 0 }
  local extra_s = own:time(bound.prefill(4096)) - none:time(bound.prefill(4096))
  local rows = rows_of(own, bound.prefill(4096))
  test.near(rows.prompts_beside.time_s, extra_s, 1e-9, "it is an operation of its own")
  test.equal(rows.prompts_beside.evidence, "assumed", "nothing measures it")
  local budget = 8192  -- of the deployment
  test.near(extra_s, 0.3 * own.layers_time(budget) / budget * 4096, 1e-9, "three tenths on Blackwell")
  local whole_s = none:time(bound.prefill(4096))
  test.equal(own:time(bound.decodes(64, 1000)), none:time(bound.decodes(64, 1000)), "decodes are as before")
  local alone_s = own:time(bound.prefill(256)) - none:time(bound.prefill(256))
  test.near(alone_s, extra_s / 16, 1e-9, "it grows with the tokens of the prompt")
  test.near(own:time(bound.mixed(256, 4000, 64, 1000)) - none:time(bound.mixed(256, 4000, 64, 1000)), alone_s, 1e-9,
            "and with nothing else")
  test.near(steps_of { prompt_overhead = 0.6 }:time(bound.prefill(4096)), whole_s + 2 * extra_s, 1e-9, "as given")
  for _, each in ipairs { { "h200-sxm", "vllm" }, { "b200", "trtllm" } } do
    test.check(not rows_of(steps_of(nil, each[1], each[2]), bound.prefill(4096)).prompts_beside,
               each[2] .. " on " .. each[1] .. " has none")
  end
end)

test("FlashInfer's GEMMs in block-scaled FP8 take 0.127 of the peak on Blackwell, with many rows", function()
  local model = { model = "deepseek-v3", tp = 8, deployment = { weights = "fp8_block", kv = "fp8" } }
  local own, slow = of("sglang", model), of("sglang", model, { block_gemm = "flashinfer" })
  local tokens = 8192
  local fast, rows = rows_of(own, bound.prefill(tokens)), rows_of(slow, bound.prefill(tokens))
  local output = 2 * tokens * 128 * 128 / 8 * 7168 -- flop of the output projection: 128 heads of 128, 8 ranks
  test.near(rows.o.time_s, output / (0.127 * 4500e12), 1e-9, "output projection")
  test.check(rows.o.time_s > 3 * fast.o.time_s, "which is slow")
  test.equal(rows.experts.time_s, fast.experts.time_s, "experts have kernels of their own")
  test.near(slow:time(bound.decodes(4, 1000)), own:time(bound.decodes(4, 1000)), 1e-3, "few rows are as quick")
  test.equal(of("sglang", model, { block_gemm = "flashinfer" }, "h200-sxm"):time(bound.prefill(tokens)),
    of("sglang", model, nil, "h200-sxm"):time(bound.prefill(tokens)), "Hopper has other kernels")
  local sixteen = { model = "llama-3.1-70b", tp = 8 }
  test.equal(of("sglang", sixteen, { block_gemm = "flashinfer" }):time(bound.prefill(tokens)),
    of("sglang", sixteen):time(bound.prefill(tokens)), "and other formats")
end)

test("what is neither a value nor the sign for the engine's own is refused", function()
  local model = { model = "llama-3.1-8b", tp = 1 }
  for _, name in ipairs { "prompt_overhead", "eager_operation_s" } do
    test.raises(name .. ": expected 0 or more, or -1 for the engine's own, found -0.5", function()
      of("sglang", model, { [name] = -0.5 })
    end)
  end
end)

test("the host runs more operations for experts and latent attention than cost.layers lists", function()
  local layers = {
    { name = "qkv", op = "gemm", count = 3 },
    { name = "quantize_qkv", op = "elementwise", kernel = "quantize", count = 3 },
    { name = "experts", op = "grouped_gemm", count = 2 }, { name = "a", op = "mla_prefill", count = 5 },
    { name = "a", op = "mla_decode", count = 5 },
  }
  local function operations(of_experts) return host.operations(layers, { expert_operations = of_experts }) end
  test.equal(operations(8), 3 + 2 * 8 + 5 * 24, "operations of the host")
  test.equal(operations(24), 3 + 2 * 24 + 5 * 24, "experts in Triton")
end)

local deepseek = { model = "deepseek-v3", tp = 8, deployment = { weights = "fp8_block", kv = "fp8" } }

test("TensorRT-LLM with the MoE backend TRTLLM runs the experts that vLLM and SGLang take from FlashInfer", function()
  local batch = bound.decodes(16, 1000)
  local own = rows_of(of("trtllm", deepseek), batch).experts
  local theirs = rows_of(of("trtllm", deepseek, { experts_kernels = "vllm" }), batch).experts
  local vllm = rows_of(of("vllm", deepseek), batch).experts
  test.equal(theirs.time_s, vllm.time_s, "experts of vLLM's rows")
  test.check(theirs.time_s < 0.7 * own.time_s, "which are faster than TensorRT-LLM's DeepGEMM")
  test.raises("experts_kernels", function() Kernels { experts_kernels = "vlm" } end)
end)

test("blocks of experts are those of the engine whose kernels run", function()
  local function empty(engine, kernels, release)
    local given = { model = "qwen3-235b-a22b", tp = 4, deployment = { weights = "fp8_block" }, release = release }
    return rows_of(of(engine, given, { experts_kernels = kernels }, "h200-sxm"), bound.decodes(4, 1000))
      .experts_empty_rows ~= nil
  end
  test.equal(empty("vllm", "own", "vllm 0.14"), true)
  test.equal(empty("vllm", "own", "vllm 0.15"), false, "DeepGEMM no longer runs them")
  test.equal(empty("vllm", "sglang", "vllm 0.14"), false)
  test.equal(empty("trtllm", "vllm"), false, "the newest release of the other engine")
  test.equal(empty("trtllm", "own"), false)
end)

test("vLLM before 0.15 runs a block of rows for every expert in block-scaled FP8 on Hopper", function()
  local function experts(engine, tokens, parameters, weights, gpu, ep)
    local given = { model = "qwen3-235b-a22b", tp = 4, deployment = { weights = weights, ep = ep },
      release = engine == "vllm" and "vllm 0.14" or nil }
    local rows = rows_of(of(engine, given, parameters, gpu or "h200-sxm"), bound.decodes(tokens, 1000))
    return rows.experts.time_s, rows.experts_empty_rows
  end
  local none = { expert_block = 0 }
  local one_s, empty = experts("vllm", 1, nil, "fp8_block")
  local all_s = experts("vllm", 64, none, "fp8_block")
  test.near(one_s, all_s, 1e-12, "one token costs what reaches every expert")
  -- 127 rows of 128 experts: output of 4,096 values, 384 of gate and of up written and read, 384 in FP8 written.
  local bytes = 127 * 128 * (2 * 4096 + 2 * 2 * 2 * 384 + 384)
  test.near(empty.time_s, bytes / (4.8e12 * 0.7), 1e-6 * empty.time_s, "and the traffic of the empty rows")
  local _, of_rank = experts("vllm", 1, nil, "fp8_block", nil, 4)
  test.near(of_rank.time_s, 127 * 32 * (2 * 4096 + 9 * 1536) / (4.8e12 * 0.7), 1e-6 * of_rank.time_s,
            "of the experts of a rank")
  for _, other in ipairs { { "sglang" }, { "vllm", none }, { "vllm", nil, "bf16" }, { "vllm", nil, nil, "b200" } } do
    local few_s, no_empty = experts(other[1], 1, other[2], other[3] or "fp8_block", other[4])
    test.check(no_empty == nil and few_s < 0.6 * one_s,
               ("no blocks: %s %s"):format(other[1], other[3] or other[4]))
  end
end)

test("vLLM before 0.15 has no blocks of experts where eight tensor-parallel ranks divide them", function()
  local function of_ranks(tp, ep)
    local given = { model = "deepseek-v3", tp = tp, deployment = { ep = ep }, release = "vllm 0.14" }
    local rows = rows_of(of("vllm", given, {}, "h200-sxm"), bound.decodes(1, 1000))
    return rows.experts_empty_rows, rows.experts.time_s
  end
  test.check(of_ranks(4) ~= nil)
  local none, one_s = of_ranks(8)
  test.equal(none, nil)
  local blocks, whole_s = of_ranks(8, 8)
  test.check(blocks ~= nil, "ranks that hold whole experts divide none")
  test.check(one_s < 0.5 * whole_s, "one token reads the experts that it touches")
end)

test("db:of_engine", function()
  local database = tables_of "trtllm"
  local other = database:of_engine "sglang"
  test.equal(other.engine, "sglang", "engine of the other")
  test.equal(database.engine, "trtllm", "the database itself stays")
  local query = { op = "moe_layer", dtype = "fp8_block", hidden_size = 7168, intermediate_size = 2048, experts = 256,
    experts_per_token = 8, tp = 8, ep = 1, tokens = 16 }
  local _, mine = database:lookup(query)
  local own_s = mine.latency_s
  local _, theirs = other:lookup(query)
  test.check(theirs.latency_s < own_s, "other rows answer")
  local _, plain = tables_of "sglang":lookup(query)
  test.equal(theirs.latency_s, plain.latency_s, "those that the engine's own database has")
  test.raises("did you mean 'sglang'", function() database:of_engine "sglan" end)
  local mine_too = database:with(function() return 1e-3, "measured" end, { name = "thumb" })
  local of_other = mine_too:of_engine "sglang"
  test.equal(of_other.strategy, "thumb", "a lookup in Lua stays")
  local _, by_thumb = of_other:lookup(query)
  test.equal(by_thumb.latency_s, 1e-3)
end)

test("another shape of the engine's experts is nearer than the shape itself with other kernels", function()
  local query = { op = "moe_layer", dtype = "fp8_block", hidden_size = 7168, intermediate_size = 2048, experts = 256,
    experts_per_token = 8, tp = 1, ep = 8, tokens = 16 }
  local _, estimate = tables_of "sglang":lookup(query)
  test.equal(estimate.evidence, "stand_in", "SGLang has no such row")
  test.check(estimate.note:find "moe_layer_fp8_block_sglang", "another shape of SGLang answers: " .. estimate.note)
end)

test("the last token of a prompt that came from another engine is absorbed, as a decode is", function()
  local steps = of("vllm", { model = "deepseek-v3", tp = 8, deployment = { weights = "fp8_block", kv = "fp8" } })
  local own = rows_of(steps, bound.prefill(1, 8191))
  local two = rows_of(steps, bound.prefill(2, 8190))
  test.check(two.kv_b and two.kv_b.time_s > 1e-6, "two tokens expand the context")
  test.check(not own.kv_b, "one token does not")
end)

test.finish()
