-- Layers that a pass visits several times, as a loop does: weights once, time and cache for every visit.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local native = require "rooflua.native"
local rooflua = require "rooflua"
local cost, spec = rooflua.cost, rooflua.spec
local Kernels = require "steps.kernels"

local function looped(visits, more)
  local given = { name = "looped", layers = 6, hidden_size = 2048, heads = 16, kv_heads = 4, head_dim = 128,
    vocab_size = 32000, max_model_len = 32768, dtype = "bf16",
    attention = { { kind = "full", layers = 2 }, { kind = "window", window = 512, layers = 4, visits = visits } },
    mlp = { { kind = "dense", layers = 2, intermediate_size = 5632 },
      { kind = "moe", layers = 4, visits = visits, experts = 16, experts_per_token = 2, intermediate_size = 1024 } } }
  for key, value in pairs(more or {}) do given[key] = value end
  return spec.model(given)
end

local function rows_of(model, batch)
  local steps = bound.bind(Kernels {}, { model = model, hardware = "h100-sxm" })
  return cost.explain(function() return steps:time(cost.batch(batch)) end).rows
end

local function seconds(model, batch)
  return bound.bind(Kernels {}, { model = model, hardware = "h100-sxm" }):time(cost.batch(batch))
end

local decode, prompt = { decode_contexts = { 900, 900 } }, { prefills = { { context_tokens = 0, new_tokens = 700 } } }

test("a loop of one visit is none", function()
  local plain, once = looped(nil), looped(1)
  test.equal(once:parameters(), plain:parameters())
  test.equal(seconds(once, decode), seconds(plain, decode))
  test.equal(seconds(once, prompt), seconds(plain, prompt))
end)

test("three visits have the weights of one, three caches, and each operation three times", function()
  local plain, three = looped(nil), looped(3)
  test.equal(three:parameters(), plain:parameters())
  test.equal(three:active_parameters(), plain:active_parameters())
  local function blocks(model) return spec.deployment { model = model, hardware = "h100-sxm" } end
  test.equal(blocks(three).weight_bytes, blocks(plain).weight_bytes)
  local token_bytes = 2 * 4 * 128 * 2
  test.equal(plain:kv_bytes_per_token "bf16", 2 * token_bytes)
  test.equal(three:kv_bytes_per_token "bf16", 2 * token_bytes)
  local function bounded(model) return native.kv_of_prompts(model, "bf16").bounded[1].bytes_per_token end
  test.equal(bounded(plain), 4 * token_bytes)
  test.equal(bounded(three), 3 * 4 * token_bytes)
  for _, batch in ipairs { decode, prompt } do
    local before, looped_rows = {}, 0
    for _, row in ipairs(rows_of(plain, batch)) do before[row.name] = row.count end
    for _, row in ipairs(rows_of(three, batch)) do
      local alone = before[row.name]
      local expected = row.name:find "@window" and 3 * alone or row.name:find "expert" and 3 * alone or nil
      if expected then test.equal(row.count, expected, row.name) end
      looped_rows = looped_rows + (expected and 1 or 0)
    end
    test.at_least(looped_rows, 5)
    test.check(seconds(three, batch) > seconds(plain, batch))
  end
end)

test("a loop of all layers is a model of as many layers whose weights are there once", function()
  local function model(layers, visits)
    return looped(nil, { layers = layers, attention = { { kind = "full", layers = layers, visits = visits } },
      mlp = { { kind = "dense", layers = layers, visits = visits, intermediate_size = 5632 } } })
  end
  local loop, long = model(4, 3), model(12, nil)
  test.equal(loop:kv_bytes_per_token "bf16", long:kv_bytes_per_token "bf16")
  test.equal(seconds(loop, decode), seconds(long, decode))
  test.equal(seconds(loop, prompt), seconds(long, prompt))
  test.check(loop:parameters() < long:parameters())
end)

test("visits that are no whole number up to 1000 are an error with their key", function()
  for _, wrong in ipairs { -1, 1.5, 2000, "two" } do
    test.raises("visits", function() looped(wrong) end)
  end
end)

test.finish()
