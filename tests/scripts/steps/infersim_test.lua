-- steps/infersim: the published table, and laws of its serving batches.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Infersim = require "steps.infersim"
local config = require "steps.infersim.config"

local function of(parameters, given) return bound.bind(Infersim(parameters or {}), given or {}) end

--- The published points, as the reference computes them (f2293da): tokens per GPU and second.
local wide = { use_fp8_gemm = true, enable_deepep = true, enable_tbo = true, target_osl = 1786 }
local published = {
  { "deepseek_v3", "H800", "prefill", 9034, wide, world_size = 32, num_nodes = 4, max_prefill_tokens = 8192 },
  { "deepseek_v3", "H800", "decode", 2675, wide, world_size = 128, num_nodes = 16, decode_bs = 64 },
  { "qwen3-30B-A3B", "H20", "prefill", 17252, {}, world_size = 1, max_prefill_tokens = 16384 },
  { "qwen3-30B-A3B", "H20", "decode", 3161, {}, world_size = 4, decode_bs = 100 },
  { "qwen3-8B", "H20", "prefill", 16328, { use_fp8_gemm = true }, world_size = 1, max_prefill_tokens = 16384 },
  { "qwen3-8B", "H20", "decode", 2581, { use_fp8_gemm = true }, world_size = 1, decode_bs = 64 },
}

local function database(gpu)
  return rooflua.mfu.open {
    path = test.shared "tables/infersim" .. "/bench_data", layout = "infersim", gpu = gpu, lookup = "infersim_head",
  }
end

for _, point in ipairs(published) do
  local name, gpu, phase, tokens_per_s = point[1], point[2], point[3], point[4]
  test(("the published %s throughput of %s on %s comes out"):format(phase, name, gpu), function()
    local parameters = { device = gpu, config = test.shared("tables/infersim/hf_configs/" .. name .. "_config.json"),
                         prefill_only = phase == "prefill", decode_only = phase == "decode" }
    for key, value in pairs(point[5]) do parameters[key] = value end
    for key, value in pairs(point) do
      if type(key) == "string" then parameters[key] = value end
    end
    local steps = Infersim(parameters)
    steps:bind {
      model = { name = name }, hardware = rooflua.spec.hardware(gpu), mfu = database(gpu),
      deployment = { tp = 1, weights = "bf16", kv = "bf16" },
    }
    test.near(steps:static()[phase .. "_tokens_per_s"], tokens_per_s, 2e-4)
  end)
end

--- The static report of a new instance.
local function alone(model, load)
  local steps = bound.bind(Infersim { device = "H20", world_size = 4 }, { model = model, hardware = "h20" })
  local own = steps:load()
  for key, value in pairs(load) do own[key] = value end
  local values = {}
  for label, value in pairs(require("steps.infersim.report").values(steps:evaluate(own))) do values[label] = value end
  return values
end

for _, model in ipairs { "qwen3-8b", "qwen3-30b-a3b", "deepseek-v3" } do
  test("an evaluation depends on its load alone, not on those before it: " .. model, function()
    local steps = bound.bind(Infersim { device = "H20", world_size = 4 }, { model = model, hardware = "h20" })
    local load, report = steps:load(), require "steps.infersim.report"
    for i = 1, 300 do
      load.decode_batch, load.isl, load.max_prefill_tokens = 1 + i * 7 % 97, 100 + i * 37 % 5000, 512 + i * 11 % 9000
      load.osl = 1 + i % 500
      local swept = report.values(steps:evaluate(load))
      if i % 50 == 0 then
        local fresh = alone(model, load)
        for label, value in pairs(fresh) do test.equal(swept[label], value) end
        for label in pairs(swept) do test.check(fresh[label] ~= nil, label) end
      end
    end
  end)
end

test("a static report is a view of the last evaluation, read by label and not to be written", function()
  local steps = of({}, { model = "qwen3-8b", hardware = "h20" })
  local load = steps:load()
  local report = steps:static()
  local before_ms = report.values["decode/TPOT (ms)"]
  test.near(before_ms, report.tpot_s * 1000, 1e-12)
  load.decode_batch = 1
  test.check(steps:static(load) == report)
  test.check(report.values["decode/TPOT (ms)"] < before_ms)
  test.check(report.values["decode/no such value"] == nil)
  test.raises("read-only", function() report.values["decode/TPOT (ms)"] = 1 end)
end)

test("a static scenario may change the load, by its names", function()
  local steps = of({}, { model = "qwen3-8b", hardware = "h20" })
  local batch_of_8_s = steps:static({ decode_batch = 8 }).tpot_s
  test.check(batch_of_8_s < steps:static({ decode_batch = 200 }).tpot_s)
  test.equal(steps:static({ decode_batch = 8 }).tpot_s, batch_of_8_s)
  test.raises("unknown name 'decode_bs' (known: ", function() steps:static { decode_bs = 8 } end)
end)

test("a decode batch of 0 is the division that Python refuses", function()
  local steps = of({}, { model = "qwen3-8b", hardware = "h20" })
  local load = steps:load()
  load.decode_batch = 0
  test.raises("division by zero: the decode batch is 0", function() steps:evaluate(load) end)
end)

test("a model read properly is described so that InferSim sees its experts and heads", function()
  local raw = config.of_model(rooflua.spec.model "qwen3-30b-a3b")
  local shape = config.read(raw)
  test.equal(shape.experts, 128)
  test.equal(shape.experts_per_token, 8)
  test.equal(shape.heads, 32)
  test.equal(shape.kv_heads, 4)
  test.check(shape.moe and not shape.mla and not shape.hybrid)
end)

test("the names that DeepSeek's own files use are not recognised: such a model runs as dense", function()
  local raw = { num_hidden_layers = 1, hidden_size = 8, num_attention_heads = 2, num_key_value_heads = 2, head_dim = 4,
                n_routed_experts = 256, n_shared_experts = 1, intermediate_size = 18432, moe_intermediate_size = 2048 }
  local shape = config.read(raw)
  test.check(not shape.moe)
  test.equal(shape.intermediate_size, 18432)
end)

test("a config that lacks a number says which", function()
  test.raises("hidden_size", function() config.read({ num_hidden_layers = 1 }, "x.json") end)
end)

test("a step with a prefill pays 30 ms, another 5 ms", function()
  local with_overhead = of {}
  local without = of { prefill_overhead_s = 0.0, decode_overhead_s = 0.0 }
  local prefill, decode = bound.prefill(1000), bound.decodes(8, 1000)
  test.near(with_overhead:time(prefill) - without:time(prefill), 0.030, 1e-9)
  test.near(with_overhead:time(decode) - without:time(decode), 0.005, 1e-9)
end)

test("counting one layer is about as many times cheaper as the model has layers", function()
  local parameters = { prefill_overhead_s = 0.0, decode_overhead_s = 0.0 }
  local all_s = of(parameters):time(bound.prefill(4000))
  parameters.layers_counted = "one"
  test.near(all_s / of(parameters):time(bound.prefill(4000)), 32, 0.05)
end)

test("a prefill divisor of 1 instead of 1.8 makes prefills cost more", function()
  local batch = bound.prefill(8000)
  test.check(of({ prefill_divisor = 1.0 }):time(batch) > of({}):time(batch))
end)

test("prefills are priced one by one: two cost twice the attention of one", function()
  local steps = of { prefill_overhead_s = 0.0 }
  local function attention_s(batch)
    local sum = 0
    for _, row in ipairs(cost.explain(function() return steps:time(batch) end).rows) do
      if row.kind == "attention_prefill" then sum = sum + row.time_s * row.count end
    end
    return sum
  end
  local one = { new_tokens = 2000, context_tokens = 500 }
  local both_s = attention_s(cost.batch { prefills = { one, one } })
  test.near(both_s, 2 * attention_s(cost.batch { prefills = { one } }), 1e-12)
end)

test("an empty step takes no time", function() test.equal(of({}):time(cost.batch {}), 0) end)

test("ranks share the work of a serving batch", function()
  local batch = bound.mixed(2000, 0, 64, 1000)
  local parameters = { prefill_overhead_s = 0.0 }
  test.check(of(parameters, { tp = 4 }):time(batch) < of(parameters, { tp = 1 }):time(batch))
end)

test.finish()
