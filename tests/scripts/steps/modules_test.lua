-- Rows of whole attention modules: what they hold against the sum of the parts, and how steps/kernels uses them.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Kernels = require "steps.kernels"

local tables = {}
local function open(gpu)
  tables[gpu] = tables[gpu] or rooflua.mfu.open { gpu = gpu }
  return tables[gpu]
end

local function bind(model, gpu, tp, options)
  options = options or {}
  local deployment = { tp = tp, ep = tp, kv = options.kv, weights = options.weights }
  return bound.bind(Kernels(options.parameters or {}),
    { model = model, hardware = gpu, mfu = open(gpu), deployment = deployment })
end

--- Seconds of one layer's attention of a kind, whose operations end in `suffix`, and of its module row.
local function layer_s(steps, load, suffix, layers)
  local sum_s, module_s = 0, nil
  for _, row in ipairs(cost.explain(function() return steps:time(load) end).rows) do
    local name, at = row.name:match "^([^@]*)(.*)$"
    local other = name:find "norm$" and name ~= "latent_norm" or name:find "all_reduce"
    if at == suffix and row.count == layers and not other then
      sum_s = sum_s + row.time_s
      if name == "attention_module" then module_s = row.time_s end
    end
  end
  return sum_s, module_s
end

local function module_s(gpu, query)
  local _, estimate = open(gpu):lookup(query)
  return estimate.latency_s
end

test("a decode of DeepSeek-V3.2 takes what the rows of its modules say, less their eager kernels", function()
  for _, gpu in ipairs { "h200-sxm", "b200" } do
    local steps = bind("deepseek-v3.2", gpu, 8)
    for _, n in ipairs { 16, 64, 256 } do
      for _, context in ipairs { 4096, 16384, 65536 } do
        local whole_s, excess_s = layer_s(steps, bound.decodes(n, context - 1), "", 61)
        local row_s = module_s(gpu, { op = "dsa_module_decode", dtype = "fp8_block", hidden_size = 7168, heads = 128,
          tp = 8, kv_dtype = "bf16", batch = n, context_tokens = context }) - 57.5e-6
        test.check(excess_s and excess_s > 0, "%s: no excess", gpu)
        --- The grid takes the least excess of this and of any larger batch, so the sum stays below the row.
        test.check(whole_s < 1.06 * row_s and whole_s > 0.68 * row_s, "%s, %d at %d: %.0f us, rows %.0f us", gpu, n,
          context, whole_s * 1e6, row_s * 1e6)
      end
    end
  end
end)

test("the excess has the evidence of its rows, is no work, and is left out where no row or no index is", function()
  local function row_of(steps)
    for _, row in ipairs(cost.explain(function() return steps:time(bound.decodes(16, 8000)) end).rows) do
      if row.name:find "^attention_module" then return row end
    end
  end
  local row = row_of(bind("deepseek-v3.2", "b200", 8))
  test.equal(row.evidence, "interpolated")
  test.equal(row.flop, 0)
  test.equal(row.bytes, 0)
  test.equal(row.count, 61)
  row = row_of(bind("glm-5.2", "b200", 8))
  test.equal(row.count, 21)  -- the other layers use the selection of these
  test.check(not row_of(bind("deepseek-v3", "b200", 8)), "a module without an index")
  test.check(not row_of(bind("deepseek-v3.2", "l40s", 8)), "a GPU without rows")
  test.equal(row_of(bind("deepseek-v3.2", "b200", 8, { parameters = { module_eager_s = 1 } })).time_s, 0)
end)

--- Seconds of one layer that a prompt of `new` tokens after `before` takes by a kind, module and parts together.
local function prompt_s(steps, new, before, suffix, layers)
  return (layer_s(steps, bound.prefill(new, before), suffix or "", layers))
end

local function prompt_row_s(gpu, dtype, kv, new)
  return module_s(gpu, { op = "dsa_module_prefill", dtype = dtype, hidden_size = 6144, heads = 64, tp = 8,
    kv_dtype = kv, batch = 1, new_tokens = new, context_tokens = 0 }) - 57.5e-6
end

test("prompts of GLM-5 take what the rows of its modules say where the GPU's time is seen", function()
  for _, gpu in ipairs { "h200-sxm", "b200", "b300" } do
    for _, kv in ipairs { "bf16", "fp8" } do
      local steps = bound.bind(Kernels {}, { model = "glm-5", hardware = gpu, mfu = open(gpu),
        deployment = { tp = 8, ep = 8, weights = "fp8_block", kv = kv } })
      test.near(prompt_s(steps, 16384, 0, "", 78), prompt_row_s(gpu, "fp8_block", kv, 16384), 1e-9, gpu .. " " .. kv)
      for _, new in ipairs { 10240, 32768 } do
        test.near(prompt_s(steps, new, 0, "", 78), prompt_row_s(gpu, "fp8_block", kv, new), 0.08,
          ("%s %s %d"):format(gpu, kv, new))
      end
    end
  end
end)

test("the excess of a prompt begins after the selected tokens, and does not depend on its chunks", function()
  local steps = bind("glm-5", "b200", 8, { weights = "fp8_block" })
  local function excess_s(new, before)
    for _, row in ipairs(cost.explain(function() return steps:time(bound.prefill(new, before)) end).rows) do
      if row.name == "attention_module_prefill" then return row.time_s, row.evidence, row.count end
    end
    return 0
  end
  test.equal(excess_s(1000, 0), 0)
  test.equal(excess_s(2048, 0), 0)
  test.check(excess_s(2049, 0) > 0, "no excess")
  local whole_s, evidence, layers = excess_s(8192, 0)
  test.equal(layers, 78)
  test.equal(evidence, "interpolated")
  test.near(excess_s(4096, 0) + excess_s(4096, 4096), whole_s, 1e-12)
  test.near(excess_s(4096, 8192), 4096 / 6144 * whole_s, 1e-12)
  local _, far = excess_s(8192, 32768)
  test.equal(far, "extrapolated")
end)

test("layers that use another layer's selection gather its tokens, too", function()
  local steps, counts = bind("glm-5.2", "b200", 8, { weights = "fp8_block" }), {}
  for _, row in ipairs(cost.explain(function() return steps:time(bound.prefill(8192, 0)) end).rows) do
    if row.name:find "^attention_module_prefill" then counts[#counts + 1] = row.count end
  end
  test.equal(table.concat(counts, " "), "21 57")
  for _, row in ipairs(cost.explain(function() return bind("deepseek-v3", "b200", 8):time(bound.prefill(8192, 0)) end)
    .rows) do
    test.check(not row.name:find "module_prefill", "a model without an index")
  end
end)

test("rows of MiniMax-M3's modules agree with the sum of the parts: its index reads every token", function()
  for _, gpu in ipairs { "h200-sxm", "b200" } do
    for _, tp in ipairs { 1, 8 } do
      local steps = bind("minimax-m3", gpu, tp)
      for _, n in ipairs { 64, 256 } do
        for _, context in ipairs { 16384, 65536, 131072 } do
          local sum_s = layer_s(steps, bound.decodes(n, context - 1), "@block_sparse", 57)
          test.near(sum_s, module_s(gpu, { op = "msa_module_decode", dtype = "bf16", heads = 64, tp = tp,
            kv_dtype = "bf16", batch = n, context_tokens = context }), 0.22, gpu .. " " .. n .. " at " .. context)
        end
      end
    end
  end
end)

test("rows of DeepSeek-V4's modules agree with the sum of the parts", function()
  for _, gpu in ipairs { "h200-sxm", "b200" } do
    for _, kind in ipairs { { "", 30, 4 }, { "@compressed_2", 31, 128 } } do
      local steps = bind("deepseek-v4-pro", gpu, 8, { kv = "fp8" })
      for _, n in ipairs { 1, 16, 64 } do
        local sum_s = layer_s(steps, bound.decodes(n, 4095), kind[1], kind[2])
        test.near(sum_s, module_s(gpu, { op = "v4_module_decode", dtype = "fp8_block", hidden_size = 7168,
          ratio = kind[3], heads = 128, tp = 8, batch = n, context_tokens = 4096 }), 0.25,
          ("%s ratio %d, %d"):format(gpu, kind[3], n))
      end
    end
  end
end)

test("decodes with less than 128 tokens of context cost what 128 do", function()
  local steps = bind("deepseek-v3.2", "h200-sxm", 8)
  local function seconds(context) return layer_s(steps, bound.decodes(1, context), "", steps.attention.layers) end
  test.check(seconds(0) > 0)
  for _, context in ipairs { 0, 5, 63, 126 } do test.at_least(seconds(127), seconds(context)) end
  test.near(seconds(5), seconds(127), 0.05)
end)

test.finish()
