-- steps/kernels/apart_heads: decodes of FlashAttention 2 beside prompts, with numbers by hand.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local Kernels = require "steps.kernels"

local function steps_of(given)
  given.model = given.model or "llama-3.1-8b"
  given.hardware = given.hardware or "a100-sxm-80gb"
  given.release = given.release or "vllm 0.11"
  return bound.bind(Kernels {}, given)
end

--- The prompt's part of a mixed step and its own step have the same price: what decodes add is the difference.
local function added_s(steps, new_tokens, n, context)
  return steps:time(bound.mixed(new_tokens, 0, n, context)) - steps:time(bound.prefill(new_tokens, 0))
end

test("heads read KV apart beside a prompt: 3 further reads of 64 * 1001 tokens with 128 KiB", function()
  local bandwidth = rooflua.spec.hardware("a100-sxm-80gb").memory_bytes_per_s
  local apart, packed = steps_of {}, steps_of { release = "sglang 0.5.9" }
  -- Llama 3.1 8B: 32 heads on 8 heads of KV, 32 layers, 2 * 8 * 128 numbers of 2 bytes.
  local bytes = (32 / 8 - 1) * 64 * 1001 * 32 * 2 * 8 * 128 * 2
  local found
  for _, row in ipairs(rooflua.cost.explain(function() return apart:time(bound.mixed(500, 0, 64, 1000)) end).rows) do
    if row.note == "keys and values for each query head" then found = row end
  end
  test.near(found.time_s * found.count, bytes / bandwidth, 1e-12)
  for _, row in ipairs(rooflua.cost.explain(function() return packed:time(bound.mixed(500, 0, 64, 1000)) end).rows) do
    test.check(row.note ~= "keys and values for each query head", row.name)
  end
end)

test("ranks of tp divide the heads of queries and of KV alike, until each has one head of KV", function()
  for tp, reads in pairs { [1] = 7, [4] = 7, [8] = 7, [16] = 3 } do
    test.equal(steps_of({ model = "llama-2-70b", tp = tp }).attention.further_reads, reads, "tp " .. tp)
  end
end)

test("decodes alone, other GPUs, other releases and a cache in 8 bits pay nothing", function()
  local packed = steps_of {}
  packed.attention.further_reads = 0
  test.equal(steps_of({}):time(bound.decodes(64, 1000)), packed:time(bound.decodes(64, 1000)))
  for _, given in ipairs { { hardware = "h100-sxm" }, { hardware = "rtx-pro-6000" }, { model = "gpt-oss-20b" },
                           { model = "deepseek-v3" }, { release = "sglang 0.5.9" }, { release = "trtllm 1.0" },
                           { hardware = "l40s", deployment = { kv = "fp8" } } } do
    test.equal(steps_of(given).attention.further_reads, 0, given.hardware or given.model or given.release)
  end
end)

test("another back end of attention packs heads, and so did V0", function()
  local about = { model = "llama-3.1-8b", hardware = "a10" }
  local function is_apart(engine) return bound.values(engine, about).heads_apart end
  test.equal(is_apart "vllm 0.11", true)
  test.equal(is_apart { "vllm 0.11", attention_backend = "FLASH_ATTN" }, true)
  test.equal(is_apart { "vllm 0.11", attention_backend = "TRITON_ATTN" }, false)
  test.equal(is_apart { "vllm 0.9", VLLM_USE_V1 = "0" }, false)
  test.equal(is_apart "vllm 0.7", false)
end)

test("a window bounds what is read again", function()
  local kinds = { { kind = "window", window = 128, layers = 4 } }
  local steps = bound.kernels(bound.layered(kinds), { hardware = "a100-sxm-80gb", release = "vllm 0.11" })
  local short, long = added_s(steps, 64, 32, 4000), added_s(steps, 64, 32, 8000)
  test.near(short, long, 1e-9)
end)

test("drafts are verified in a call with several queries a request", function()
  local steps, packed = steps_of {}, steps_of {}
  packed.attention.further_reads = 0
  local load = rooflua.cost.batch { decodes = 8, decode_context_tokens = 8 * 2000, decode_tokens = 8 * 4 }
  local bandwidth = rooflua.spec.hardware("a100-sxm-80gb").memory_bytes_per_s
  test.near(steps:time(load) - packed:time(load), 3 * 8 * 2001 * 32 * 2 * 8 * 128 * 2 / bandwidth, 1e-9)
end)

test.finish()
