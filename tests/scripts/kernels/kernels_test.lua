-- Laws of steps/kernels: no faster than physics, monotone, no more work per rank with more ranks.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Kernels = require "steps.kernels"
local graphs = require "steps.kernels.graphs"

--- Models of every kind: dense, experts, latent attention, hybrid, FP8.
local kinds = {
  { model = "llama-3.1-8b" }, { model = "llama-2-70b", tp = 4 }, { model = "qwen3-30b-a3b", tp = 2 },
  { model = "mixtral-8x7b", tp = 2 }, { model = "deepseek-v3", tp = 8, hardware = "h200-sxm" },
  { model = "llama-3.1-8b", hardware = "l40s" },
  { model = "llama-3.1-8b", deployment = { weights = "fp8", kv = "fp8" } },
}

local hybrid = "../shared/data/tables/infersim/hf_configs/qwen3-next-80B-A3B_config.json"
local handle = io.open(hybrid)
if handle then
  handle:close()
  kinds[#kinds + 1] = { model = hybrid, tp = 2 }
else
  print("SKIPPED: laws of a hybrid model: " .. hybrid .. " is not there")
end

local function of(kind, parameters)
  return bound.bind(Kernels(parameters or {}), kind)
end

local function label(kind)
  return ("%s tp%d %s"):format(kind.model, kind.tp or 1, kind.hardware or "h100-sxm")
end

--- Rows of a step by name.
local function rows_of(steps, batch)
  return cost.explain(function() return steps:time(batch) end)
end

for _, kind in ipairs(kinds) do
  local steps = of(kind)

  test("no operation of " .. label(kind) .. " beats flop over peak", function()
    local hardware = rooflua.spec.hardware(kind.hardware or "h100-sxm")
    for _, batch in ipairs { bound.decodes(1, 100), bound.decodes(200, 3000), bound.prefill(5000),
                             bound.mixed(300, 700, 64, 900) } do
      local time_s, flop = {}, {}
      for _, row in ipairs(rows_of(steps, batch).rows) do
        time_s[row.name] = (time_s[row.name] or 0) + row.time_s * row.count
        flop[row.name] = (flop[row.name] or 0) + row.flop * row.count
      end
      local peak = math.max(hardware.peak_flop_per_s.bf16, hardware.peak_flop_per_s.fp8 or 0)
      for name, work in pairs(flop) do test.at_least(time_s[name] * (1 + 1e-9), work / peak, name) end
    end
  end)

  test("a decode of " .. label(kind) .. " takes at least its weights and KV cache over the bandwidth", function()
    local hardware = rooflua.spec.hardware(kind.hardware or "h100-sxm")
    local bytes = 0
    for _, op in ipairs(cost.layers(steps.model, rooflua.spec.deployment {
      model = steps.model, hardware = hardware, tp = kind.tp or 1, kv_blocks = 20000,
      weights = kind.deployment and kind.deployment.weights, kv = kind.deployment and kind.deployment.kv,
    })) do
      if op.op == "gemm" and op.rows ~= "prefill_tokens" then bytes = bytes + op.weight_bytes * op.count end
      if op.op == "attention_decode" or op.op == "mla_decode" then
        bytes = bytes + 64 * 4001 * op.bytes_per_row * op.count
      end
    end
    test.at_least(steps:time(bound.decodes(64, 4000)), bytes / hardware.memory_bytes_per_s)
  end)

  test("more decodes never make a step of " .. label(kind) .. " shorter", function()
    local before_s = 0
    for _, n in ipairs { 1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 63, 64, 65, 100, 128, 129, 200, 255, 256, 257,
                         400, 512, 513, 700, 1024 } do
      local time_s = steps:time(bound.decodes(n, 1000))
      test.at_least(time_s, before_s, n .. " decodes")
      before_s = time_s
    end
  end)

  test("longer contexts never make a step of " .. label(kind) .. " shorter", function()
    for _, n in ipairs { 1, 7, 32, 100, 256 } do
      local before_s = 0
      for _, context in ipairs { 0, 1, 15, 16, 100, 127, 128, 200, 500, 512, 1000, 2000, 3000, 4096, 5000,
                                 8192, 20000, 60000 } do
        local time_s = steps:time(bound.decodes(n, context))
        test.at_least(time_s, before_s, n .. " decodes at " .. context)
        before_s = time_s
      end
    end
  end)

  test("more new tokens never make a prefill of " .. label(kind) .. " shorter", function()
    for _, context in ipairs { 0, 1000, 9000 } do
      local before_s = 0
      for _, t in ipairs { 1, 2, 8, 15, 16, 17, 64, 100, 127, 128, 129, 255, 256, 300, 511, 512, 513, 600,
                           1000, 1024, 1025, 2000, 2048, 3000, 4096, 6000, 8192 } do
        local time_s = steps:time(bound.prefill(t, context))
        test.at_least(time_s, before_s, t .. " tokens behind " .. context)
        before_s = time_s
      end
    end
  end)

  test("more context never makes a prefill chunk of " .. label(kind) .. " shorter", function()
    local before_s = 0
    for _, context in ipairs { 0, 1, 16, 100, 512, 1000, 2000, 5000, 10000, 30000 } do
      local time_s = steps:time(bound.prefill(512, context))
      test.at_least(time_s, before_s, "512 tokens behind " .. context)
      before_s = time_s
    end
  end)
end

--- Measured kernel tables are noisy: the price may fall, but by no more than this part of a step.
local noise = 1e-3

test("with measured tables too, more decodes, tokens or context never make a step shorter", function()
  local mfu = rooflua.mfu.open { path = test.shared "tables/aic", layout = "aic", gpu = "h100_sxm" }
  for _, kind in ipairs { { model = "llama-3.1-8b" }, { model = "llama-2-70b", tp = 4 },
                          { model = "mixtral-8x7b", tp = 2 } } do
    kind.mfu = mfu
    local steps = of(kind)
    local decodes_s, context_s, prefill_s = 0, 0, 0
    for i = 1, 400 do
      local time_s = steps:time(bound.decodes(i, 1000))
      test.at_least(time_s * (1 + noise), decodes_s, ("%s: %d decodes"):format(label(kind), i))
      decodes_s = math.max(decodes_s, time_s)
      time_s = steps:time(bound.decodes(32, i * 23))
      test.at_least(time_s * (1 + noise), context_s, ("%s: context %d"):format(label(kind), i * 23))
      context_s = math.max(context_s, time_s)
      time_s = steps:time(bound.prefill(i * 19, 0))
      test.at_least(time_s * (1 + noise), prefill_s, ("%s: prefill of %d"):format(label(kind), i * 19))
      prefill_s = math.max(prefill_s, time_s)
    end
  end
end)

test("an estimate that was read keeps its value when the next question is asked, in compiled code too", function()
  local mfu = rooflua.mfu.open "h100-sxm"
  local function latency_s(m)
    local _, estimate = mfu:gemm(m, 4096, 4096, "bf16")
    return estimate.latency_s
  end
  for _ = 1, 1000 do test.check(latency_s(8192) > latency_s(16)) end
end)

test("more ranks never add work per rank", function()
  local flop_before, bytes_before
  for _, tp in ipairs { 1, 2, 4, 8 } do
    local steps = of { model = "llama-3.1-70b", hardware = "b200", tp = tp }
    local flop, bytes = 0, 0
    for _, row in ipairs(rows_of(steps, bound.mixed(200, 100, 32, 1000)).rows) do
      if row.kind == "gemm" or row.kind:find "attention" then
        flop, bytes = flop + row.flop * row.count, bytes + row.bytes * row.count
      end
    end
    if flop_before then
      test.at_least(flop_before, flop, "flop at tp " .. tp)
      test.at_least(bytes_before, bytes, "bytes at tp " .. tp)
    end
    flop_before, bytes_before = flop, bytes
  end
end)

test("graphs are captured for 1, 2, 4, then every 8 to 248 and every 16 from 256", function()
  for _, pair in ipairs { { 1, 1 }, { 2, 2 }, { 3, 4 }, { 5, 8 }, { 9, 16 }, { 247, 248 }, { 249, 256 },
                          { 257, 272 }, { 512, 512 }, { 513, 513 } } do
    test.equal(graphs.padded(pair[1], 512), pair[2], pair[1] .. " tokens")
  end
  test.equal(graphs.padded(60, 64), 64)
  test.equal(graphs.padded(65, 64), 65)
end)

test("cutting a prompt into chunks conserves its attention work", function()
  local steps = of { model = "llama-3.1-8b" }
  local function flop(batches)
    local sum = 0
    for _, batch in ipairs(batches) do
      for _, row in ipairs(rows_of(steps, batch).rows) do
        if row.kind == "attention_prefill" then sum = sum + row.flop * row.count end
      end
    end
    return sum
  end
  test.near(flop { bound.prefill(1024, 0), bound.prefill(1024, 1024) }, flop { bound.prefill(2048, 0) }, 1e-3)
end)

test("the host is hidden where scheduling is asynchronous and added where it is not", function()
  local batch = bound.decodes(8, 500)
  local hidden = of({ async_depth = 2 }, { host_step_s = 0.001, host_request_s = 0.0 }):time(batch)
  local added = of({ async_depth = 1 }, { host_step_s = 0.001, host_request_s = 0.0 }):time(batch)
  test.near(added - hidden, 0.001, 1e-9)
  local bound_by_host = of({ async_depth = 2 }, { host_step_s = 1.0, host_request_s = 0.0 }):time(batch)
  test.near(bound_by_host, 1.0, 1e-12)
end)

test("an empty step takes no time", function()
  test.equal(of({ model = "llama-3.1-8b" }):time(cost.batch {}), 0)
end)

test("explaining a step does not change its price", function()
  local steps, batch = of { model = "qwen3-30b-a3b", tp = 2 }, bound.mixed(100, 200, 20, 800)
  local time_s = steps:time(batch)
  test.equal(rows_of(steps, batch).time_s, time_s)
  test.equal(steps:time(batch), time_s)
end)

test("the rows of a step sum to its price", function()
  local steps = of { model = "llama-2-70b", tp = 4 }
  local tree = rows_of(steps, bound.mixed(100, 200, 20, 800))
  local sum = 0
  for _, row in ipairs(tree.rows) do sum = sum + row.time_s * row.count end
  test.near(sum, tree.time_s, 1e-12)
end)

test("experts divide over the ranks that hold them", function()
  test.raises("8 experts of mixtral-8x22b do not divide by ep = 16", function()
    of({ model = "mixtral-8x22b", tp = 16, ep = 16, hardware = "h200-sxm" })
  end)
end)

test.finish()
