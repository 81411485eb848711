-- A name under which weights are published in another format selects that format.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local spec = rooflua.spec

local function deployed(model, weights)
  return spec.deployment { model = model, hardware = "h100-sxm", tp = 8, weights = weights, kv_blocks = 1000 }
end

test("a published name has the weights of its release, with or without its organisation", function()
  local expected = deployed("qwen3-32b", "fp8_block")
  for _, name in ipairs { "Qwen/Qwen3-32B-FP8", "Qwen3-32B-FP8", "qwen/qwen3_32b_fp8" } do
    local found = deployed(name)
    test.equal(found.weights, "fp8_block", name)
    test.equal(found.weight_bytes, expected.weight_bytes, name)
    test.equal(found.model.name, "qwen3-32b", name)
  end
  test.equal(deployed("RedHatAI/Qwen3-32B-FP8-dynamic").weights, "fp8")
  test.equal(deployed("nvidia/DeepSeek-R1-FP4").weights, "nvfp4")
  test.equal(deployed("Qwen/Qwen3-32B").weights, deployed("qwen3-32b").weights)
end)

test("what a deployment states wins, and a changed model keeps the format of its name", function()
  test.equal(deployed("Qwen/Qwen3-32B-FP8", "bf16").weights, "bf16")
  test.equal(deployed({ from = "Qwen/Qwen3-32B-FP8", layers = 12 }).weights, "fp8_block")
end)

test("no shipped alias that speaks of a format is without one", function()
  local native, count = require "rooflua.native", 0
  for _, name in ipairs(spec.models()) do
    local file = native.read_toml(spec.model(name).origin)
    local formats = file.alias_formats or {}
    for _, alias in ipairs(file.aliases or {}) do
      local speaks = alias:find "FP8" or alias:find "FP4" or alias:find "AWQ" or alias:find "[Ii][Nn][Tt]4"
      test.check(not speaks or formats[alias], "%s: %s has no format", name, alias)
      count = count + (speaks and 1 or 0)
    end
    for alias in pairs(formats) do
      local known = false
      for _, each in ipairs(file.aliases) do known = known or each == alias end
      test.check(known, "%s: %s is no alias", name, alias)
    end
  end
  test.at_least(count, 60)
end)

test("the result says so", function()
  local result = rooflua.serve.run { model = "Qwen/Qwen3-32B-FP8", hardware = "h100-sxm", engine = "vllm 0.19",
    workload = require "workloads.poisson" { rate_per_s = 1, num_requests = 5, prompt_tokens = 100,
      output_tokens = 5 } }
  test.check(table.concat(result.notes, "\n"):find("weights fp8_block, as they are published", 1, true))
end)

test.finish()
