-- What one decode step reads, for every shipped model, against figures that were worked out from the models' published
-- dimensions without this program: one request whose new token is its 32,768th, one rank, KV cache in 16 bit.
--
-- Weights, in GB: every linear layer once, of the routed experts those of one token, the LM head (words padded to 64),
-- each class in the format of the model's own release. Absorbed projections of latent attention are 16 bit.
-- Cache, in MB: what attention computes with (32,768 tokens, or those of a window, a chunk, a selection; entries of a
-- compressed cache), the entries of an index, and recurrent states, which are read and written. By hand, for example:
--
--     llama-2-70b    weights  80 (8192 (8192 + 2 1024) + 8192 8192 + 3 8192 28672) 2 + 32000 8192 2  = 137.4 GB
--                    cache    80 layers, 32768 tokens, 2 8 128 elements of 2 bytes                 = 10737 MB
--     gpt-oss-20b    cache    12 layers of 32768 tokens and 12 of 128, 2 8 64 elements of 2 bytes  =   808 MB
--     deepseek-v3.2  cache    61 layers, 2048 latents of 576 elements of 2 bytes, 32768 entries of 132 = 408 MB
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost, spec = rooflua.cost, rooflua.spec
local Kernels = require "steps.kernels"

local tokens = 32768

local by_hand = { -- weights in GB, cache in MB
  ["codellama-34b"] = { 66.9621, 6442.45 },
  ["command-a-plus"] = { 49.9625, 1476.4 },
  ["deepseek-v3.2"] = { 39.5413, 407.765 },
  ["deepseek-v3"] = { 38.6896, 2302.67 },
  ["deepseek-v4-flash"] = { 11.027, 44.5972 },
  ["deepseek-v4-pro"] = { 39.1997, 80.0195 },
  ["deepseek-v4.1-flash"] = { 12.538, 27.0664 }, -- 40 windows, 38 with 512 entries, 8 indexes; entries of 8 bits
  ["ernie-4.5-21b-a3b"] = { 6.70401, 1879.05 },
  ["gemma-3-12b"] = { 23.5305, 2483.03 },
  ["gemma-3-27b"] = { 54.016, 3120.56 },
  ["gemma-4-12b"] = { 23.8132, 872.415 },
  ["gemma-4-26b-a4b"] = { 7.64366, 880.804 },
  ["gemma-4-31b"] = { 61.392, 3523.22 },
  ["glm-4.5-air"] = { 25.606, 6174.02 },
  ["glm-4.5"] = { 65.7107, 12348 },
  ["glm-4.6"] = { 65.7107, 12348 },
  ["glm-5.3-flash"] = { 35.4621, 320.176 },
  ["glm-5.2"] = { 80.5955, 274.858 },
  ["glm-5"] = { 81.6639, 521.404 },
  ["gpt-oss-120b"] = { 4.99977, 1212.68 },
  ["gpt-oss-20b"] = { 3.706, 808.452 },
  ["granite-4.0-h-small"] = { 17.6019, 838.861 },
  ["hy4-preview"] = { 96.5664, 274.858 },
  ["hy3"] = { 40.3602, 10737.4 },
  ["kimi-k2.5"] = { 32.9844, 2302.67 },
  ["kimi-k2"] = { 33.5446, 2302.67 },
  ["kimi-k3"] = { 136.593, 1774.19 },
  ["laguna-s-2.1"] = { 16.2618, 1686.11 },
  ["inkling-2-mini"] = { 8.88186, 1241.51 }, -- of 48 visits
  ["inkling"] = { 79.6286, 1707.0817 },
  ["inkling-small"] = { 22.34148, 1012.9244 },
  ["llama-2-13b"] = { 25.7032, 26843.5 },
  ["llama-2-70b"] = { 137.426, 10737.4 },
  ["llama-2-7b"] = { 13.2142, 17179.9 },
  ["llama-3.1-70b"] = { 139.003, 10737.4 },
  ["llama-3.1-8b"] = { 15.0093, 4294.97 },
  ["llama-3.3-70b"] = { 139.003, 10737.4 },
  ["llama-4-maverick"] = { 32.2994, 2818.57 },
  ["llama-4-scout"] = { 32.2758, 2818.57 },
  ["mimo-v2-flash"] = { 15.4983, 780.534 },
  ["minimax-m2.5"] = { 11.0808, 8321.5 },
  ["minimax-m3"] = { 49.465, 918.553 },
  ["ministral-3-8b"] = { 15.9048, 4563.4 },
  ["mistral-7b"] = { 14.2271, 4294.97 },
  ["mistral-large-3"] = { 51.4126, 2302.67 },
  ["mistral-nemo"] = { 23.1526, 5368.71 },
  ["mistral-small-3"] = { 45.8018, 5368.71 },
  ["mixtral-8x22b"] = { 77.9095, 7516.19 },
  ["mixtral-8x7b"] = { 25.4972, 4294.97 },
  ["muse-glimmer-30b"] = { 53.0171, 517.997 },
  ["nemotron-3-nano-30b-a3b"] = { 6.45361, 297.796 },
  ["nemotron-3.5-lightning-30b-a3b"] = { 6.45361, 297.796 },
  ["nemotron-3-super-120b-a12b"] = { 24.4612, 603.98 },
  ["nemotron-3-ultra-550b-a55b"] = { 109.958, 1207.96 },
  ["nemotron-h-56b"] = { 110.486, 3154.12 },
  ["nemotron-nano-12b-v2"] = { 23.2731, 1098.91 },
  ["nemotron-nano-9b-v2"] = { 16.5976, 819.986 },
  ["phi-4"] = { 28.2906, 6710.89 },
  ["qwen2.5-0.5b"] = { 0.987978, 402.653 },
  ["qwen2.5-1.5b"] = { 3.08725, 939.524 },
  ["qwen2.5-32b"] = { 63.9693, 8589.93 },
  ["qwen2.5-3b"] = { 6.17158, 1207.96 },
  ["qwen2.5-7b"] = { 14.1408, 1879.05 },
  ["qwen3-14b"] = { 27.9799, 5368.71 },
  ["qwen3-235b-a22b"] = { 43.1353, 6308.23 },
  ["qwen3-30b-a3b"] = { 6.08331, 3221.23 },
  ["qwen3-32b"] = { 63.9671, 8589.93 },
  ["qwen3-8b"] = { 15.1362, 4831.84 },
  ["qwen3-coder-480b-a35b"] = { 69.081, 8321.5 },
  ["qwen3-next-80b-a3b"] = { 7.12455, 956.301 },
  ["qwen3-vl-30b-a3b"] = { 6.08331, 3221.23 },
  ["qwen3-vl-32b"] = { 63.9671, 8589.93 },
  ["qwen3.5-122b-a10b"] = { 18.0124, 1107.3 },
  ["qwen3.5-27b"] = { 51.2439, 2449.47 },
  ["qwen3.5-35b-a3b"] = { 5.89038, 796.918 },
  ["qwen3.5-397b-a17b"] = { 32.6579, 1384.12 },
  ["qwen3.8-flash-next"] = { 11.9924, 301.99 },
  ["qwen3.8-2.4t-a95b"] = { 186.493, 4244.64 },
  ["qwen3.5-4b"] = { 8.40958, 1174.4 },
  ["qwen3.5-9b"] = { 15.8712, 1174.4 },
  ["step-3.5-flash"] = { 22.8857, 1679.82 },
  ["step-3.7-flash"] = { 22.8857, 1679.82 },
  ["yi-34b"] = { 67.8586, 8053.06 },
}

--- Bytes of weights that the operations of a decode step of one request read.
local function weight_bytes(model, deployment)
  local sum = 0
  for _, op in ipairs(cost.layers(model, deployment)) do
    local is_experts = op.name:match "^[^@]*" == "experts"
    local part = is_experts and model.moe.experts_per_token / model.moe.experts or 1
    if op.op == "gemm" and op.rows ~= "prefill_tokens" or is_experts then
      sum = sum + op.count * op.weight_bytes * part
    end
  end
  return sum
end

--- Bytes of the rows of caches and states of a priced step, and whether states are among them.
local function cache_bytes(model)
  local steps, sum, states = bound.bind(Kernels {}, { model = model, hardware = "b200" }), 0, false
  local load = cost.batch { decode_contexts = { tokens - 1 } }
  for _, row in ipairs(cost.explain(function() return steps:time(load) end).rows) do
    local is_state = row.name:find "^linear_attention_decode" ~= nil
    if row.name:find "^attention_decode" and not row.note:find "at least" or is_state then
      states = states or is_state
      sum = sum + row.count * row.bytes
    elseif row.name:find "^index_scores" then
      --- Of the scores themselves only the entries are read from the cache.
      local kind
      for _, each in ipairs(model.attention) do
        if each.index and each.index.own or each.name == row.name:match "@(.*)$" then kind = each end
      end
      kind = kind or model.attention[1]
      local of_file = kind.parameters or {}
      local ratio = kind.compression and kind.compression.ratio or of_file.ratio or of_file.pool or 1
      if kind.kind == "pooled_sparse" then ratio = math.huge end -- a score stays in its kernel
      local scores = kind.kind == "block_sparse" and 0 or tokens * 12 / ratio
      sum = sum + row.count * (row.bytes - scores)
    end
  end
  return sum, states
end

test("a decode step of every model reads the weights that its dimensions give", function()
  local known = 0
  for _, name in ipairs(spec.models()) do
    local model = spec.model(name)
    local deployment = spec.deployment { model = model, hardware = "h100-sxm", kv_blocks = 100 }
    test.check(by_hand[name], "%s: no figures", name)
    test.near(weight_bytes(model, deployment) / 1e9, by_hand[name][1], 1e-5, name)
    known = known + 1
  end
  test.at_least(known, 61)
end)

test("a decode step of every model reads the cache that its kinds of attention give", function()
  for _, name in ipairs(spec.models()) do
    local bytes, states = cache_bytes(spec.model(name))
    --- Rows of states also hold the inputs and outputs of one token, and the weights of the short convolution.
    test.near(bytes / 1e6, by_hand[name][2], states and 0.05 or 1e-5, name)
    test.check(bytes / 1e6 > by_hand[name][2] * (1 - 1e-5), "%s reads less", name)
  end
end)

test("a batch reads as many caches as it has requests, and the weights once", function()
  for _, name in ipairs { "llama-3.1-8b", "gpt-oss-120b", "deepseek-v3.2" } do
    local steps = bound.bind(Kernels {}, { model = name, hardware = "b200" })
    local contexts = {}
    for i = 1, 7 do contexts[i] = tokens - 1 end
    local function read(load)
      local out = {}
      for _, row in ipairs(cost.explain(function() return steps:time(load) end).rows) do out[row.name] = row.bytes end
      return out
    end
    local one = read(cost.batch { decode_contexts = { tokens - 1 } })
    local seven = read(cost.batch { decode_contexts = contexts })
    test.near(seven.attention_decode, 7 * one.attention_decode, 1e-9, name)
    test.check(seven.lm_head < 1.05 * one.lm_head, "%s: the LM head is read again", name)
  end
end)

test.finish()
