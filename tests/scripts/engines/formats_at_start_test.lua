-- Formats that engines make at start. Of the KV cache whose vectors have scales of their own: bytes against figures by
-- hand, releases, launch commands there and back. Of weights.
local test = dofile "tests/scripts/harness.lua"
local capacity_of = require("rooflua.engines").capacity
local command = require "rooflua.applied.command"
local chunks = require "rooflua.sandbox.chunks"
local catalogue = chunks.require "rooflua.engines.catalogue"
local choice = chunks.require "rooflua.engines.choice"
local cost = require "rooflua.cost"
local mfu = require "rooflua.mfu"

--- What `rooflua capacity` says of llama-3.1-8b, 32 layers with 8 heads of 128, on an H100.
local function ask(release, format, more)
  local engine = { "vllm " .. release, kv_cache_dtype = format }
  for key, value in pairs(more or {}) do engine[key] = value end
  return capacity_of { model = "llama-3.1-8b", hardware = "h100-sxm", engine = engine, deployment = {} }
end

-- Of one token in one head of a layer: keys and values with what is kept beside them.
local slots = {
  int8_per_token_head = 2 * (128 + 4), fp8_per_token_head = 2 * (128 + 4), int4_per_token_head = 2 * (64 + 4),
  turboquant_k8v4 = 128 + (64 + 4), turboquant_4bit_nc = (64 + 2) + (64 + 4),
  turboquant_k3v4_nc = (48 + 2) + (64 + 4), turboquant_3bit_nc = (48 + 2) + (48 + 4),
}

test("a token has the bytes that the engine packs", function()
  for format, bytes in pairs(slots) do
    local plain = format:find "turboquant" and 4 or 0 -- layers that keep 16 bits
    local found = ask("0.28", format)
    test.near(found.kv_bytes / found.kv_tokens, 8 * ((32 - plain) * bytes + plain * 2 * 128 * 2), 0.001)
    test.check(found.starts, format)
  end
end)

test("beside recurrent layers all of the cache is packed", function()
  local function block(format)
    local found = capacity_of { model = "qwen3.5-27b", hardware = "h100-sxm", deployment = { max_model_len = 131072 },
      engine = { "vllm 0.28", kv_cache_dtype = format, max_num_seqs = 16 } }
    test.check(found.starts, format)
    return found.kv_tokens
  end
  test.near(block "turboquant_3bit_nc" / block "auto", 2 * 256 * 2 / (2 * 96 + 6), 0.15)
end)

test("releases before the format do not start with it", function()
  for _, each in ipairs { { "int8_per_token_head", "0.19.1", "0.20.0" }, { "turboquant_k8v4", "0.19.1", "0.20.0" },
    { "int4_per_token_head", "0.24.0", "0.25.0" } } do
    test.equal(ask(each[2], each[1]).starts, false, each[1])
    test.equal(ask(each[3], each[1]).starts, true, each[1])
  end
end)

test("it is no format of weights", function()
  test.raises("deployment.weights: turboquant_3bit_nc is a format of the KV cache alone", function()
    capacity_of { model = "llama-3.1-8b", hardware = "h100-sxm", deployment = { weights = "turboquant_3bit_nc" },
      engine = "vllm 0.28" }
  end)
end)

test("no rows were measured with such a cache, and the price of attention says so", function()
  local db = mfu.open { hardware = "h100-sxm" }
  local function row(kv)
    return cost.explain(function()
      return (cost.lookup(db, { op = "attention_decode", heads = 32, kv_heads = 8, head_dim = 128, batch = 16,
        context_tokens = 4096, kv_dtype = kv }))
    end).rows[1]
  end
  local plain, packed = row "bf16", row "turboquant_3bit_nc"
  test.equal(packed.time_s, plain.time_s)
  test.check(plain.evidence ~= "stand_in", plain.evidence)
  test.equal(packed.evidence, "stand_in")
end)

test("a launch command is read and written back", function()
  for format in pairs(slots) do
    local line = "vllm serve meta-llama/Llama-3.1-8B-Instruct --kv-cache-dtype " .. format
    local deployment = command.read(line, { engine = "vllm 0.28" })
    local keys = command.keys(deployment)
    test.equal(keys.engine.kv_cache_dtype or keys.deployment.kv, format)
    test.check(command.write(deployment):find(format, 1, true), format)
  end
end)

-- Weights that are quantised at start ------------------------------------------------------------------------------

test("16 bits are quantised at start into what --quantization names, and other checkpoints are not", function()
  local function weights(model, quantization)
    local found = capacity_of { model = model, hardware = "h100-sxm", deployment = { max_model_len = 8192 },
      engine = { "vllm 0.28", quantization = quantization } }
    local notes = choice.notes(catalogue.of "vllm", { quantization = quantization })
    return found.parts[1].bytes, table.concat(notes, "\n"), found.formats.weights
  end
  local plain = weights "qwen3-8b"
  for name, format in pairs { fp8 = "fp8", fp8_per_tensor = "fp8", fp8_per_channel = "fp8", fp8_per_block = "fp8_block",
    mxfp8 = "mxfp8" } do
    local bytes, notes, own = weights("qwen3-8b", name)
    test.equal(own, format, name)
    test.check(bytes < 0.65 * plain and bytes > 0.5 * plain, name)
    test.check(not notes:find "of the checkpoint", notes)
  end
  test.equal(weights("gpt-oss-20b", "mxfp8"), (weights("gpt-oss-20b", "mxfp4")))
  local bytes, notes = weights("qwen3-8b", "awq")
  test.equal(bytes, plain)
  test.check(notes:find("weights are in the format of the checkpoint that is named", 1, true), notes)
  test.check(select(2, weights("qwen3-8b", "experts_int8")):find("experts that are quantised at start", 1, true))
end)

test.finish()
