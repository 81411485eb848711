-- Prices of steps/kernels, written out by hand: every operation of a dense model, of experts (split, and whole
-- on ranks), of latent attention and of a hybrid, with literal shapes; then how far each parameter moves a step.
-- mutations_test.lua takes lines out of the model and expects a failure here.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Kernels = require "steps.kernels"

local us = 1e-6

--- Chunks of 40 after 100 and of 24, and 64 decodes with 1,024 keys each: 128 tokens, 66 requests.
local prefills = { { new_tokens = 40, context_tokens = 100 }, { new_tokens = 24, context_tokens = 0 } }
local batch = cost.batch { prefills = prefills, decodes = 64, decode_context_tokens = 64 * 1023 }
local chunks = cost.batch { prefills = prefills }

local function of(given, parameters) return bound.bind(Kernels(parameters or {}), given) end

-- Primitives: seconds of one run -------------------------------------------------------------------

local function primitives(gpu)
  local database, hardware = bound.modelled(gpu), rooflua.spec.hardware(gpu)
  local price = { hardware = hardware }
  function price.ask(query)
    local _, estimate = database:lookup(query)
    return estimate.latency_s
  end
  function price.gemm(m, k, n, dtype)
    local _, estimate = database:gemm(m, k, n, dtype or "bf16")
    return estimate.latency_s
  end
  function price.small(bytes) return bytes / (0.7 * hardware.memory_bytes_per_s) + 3 * us end
  function price.quantize(tokens, width)
    return price.ask { op = "elementwise", kernel = "quantize", tokens = tokens, width = width }
  end
  function price.all_reduce(bytes, ranks) return price.ask { op = "all_reduce", bytes = bytes, ranks = ranks } end
  --- At least 64 requests and 1,024 keys. Powers of two are points of the grid, so only they are tested here.
  function price.decode(query)
    local least_s = math.huge
    for requests = 6, 12 do
      for tokens = 16, 24 do
        query.batch, query.context_tokens = 2 ^ requests, math.max(2 ^ tokens / 2 ^ requests, 1024)
        least_s = math.min(least_s, price.ask(query))
      end
    end
    return least_s
  end
  return price
end

--- Rows of a step by name: {count, seconds of one run}; rows of the same name are added.
local function rows_of(steps, load)
  local out = {}
  for _, row in ipairs(cost.explain(function() return steps:time(load or batch) end).rows) do
    local same = out[row.name]
    out[row.name] = { row.count, row.time_s + (same and same[2] or 0), flop = row.flop, bytes = row.bytes }
  end
  return out
end

--- Checks that a step has exactly these rows, with these counts and times, and that its time is their sum.
local function check(steps, expected, load)
  local found, sum = rows_of(steps, load), 0
  for name, row in pairs(expected) do
    local is = found[name]
    test.check(is, "%s: is not there", name)
    test.equal(is[1], row[1], name .. ": count")
    test.near(is[2], row[2], 1e-9, name)
    sum = sum + row[1] * row[2]
  end
  for name, row in pairs(found) do
    test.check(expected[name] or name == "host", "%s: not expected", name)
    if name == "host" then sum = sum + row[2] end
  end
  test.near(steps:time(load or batch), sum, 1e-9, "step")
end

-- Models -------------------------------------------------------------------------------------------

--- The part that Llama-3.1-8B and Mixtral-8x7B have in common: 32 layers of 4096 with 32 heads and 8 KV heads of 128,
--- on two ranks; bf16.
local function common_rows(price, vocabulary)
  local norm, reduce = price.small(4 * 4096 * 2 * 128 + 4096 * 2), price.all_reduce(128 * 4096 * 2, 2)
  local chunk = { op = "attention_prefill", heads = 32, kv_heads = 8, head_dim = 128, tp = 2, kv_dtype = "bf16" }
  chunk.new_tokens, chunk.context_tokens = 40, 100
  local first = price.ask(chunk)
  chunk.new_tokens, chunk.context_tokens = 24, 0
  local second = price.ask(chunk)
  return {
    embed = { 1, price.small(2 * 4096 * 2 * 128) }, embed_all_reduce = { 1, reduce },
    attention_norm = { 32, norm }, mlp_norm = { 32, norm }, final_norm = { 1, norm },
    qkv = { 32, price.gemm(128, 4096, (16 + 4 + 4) * 128) },
    rope = { 32, price.small(2 * (16 + 4) * 128 * 2 * 128) },
    kv_write = { 32, price.small((2 + 2) * 2 * 4 * 128 * 128) },
    attention_decode = { 32, price.decode { op = "attention_decode", heads = 32, kv_heads = 8, head_dim = 128, tp = 2,
                                            kv_dtype = "bf16" } },
    attention_prefill = { 32, (first - 8 * us) + (second - 8 * us) },
    o = { 32, price.gemm(128, 16 * 128, 4096) },
    attention_all_reduce = { 32, reduce }, mlp_all_reduce = { 32, reduce },
    lm_head = { 1, price.gemm(66, 4096, vocabulary / 2) },
    logits_gather = { 1, price.all_reduce(66 * vocabulary * 2 / 2, 2) },
    sampler = { 1, 150 * us },
  }
end

local dense = { model = "llama-3.1-8b", tp = 2 }
local h100 = primitives "h100-sxm"

test("a step of a dense model is these operations", function()
  local expected = common_rows(h100, 128256)
  expected.gate_up = { 32, h100.gemm(128, 4096, 2 * 7168) }
  expected.activation = { 32, h100.small(3 * 7168 * 2 * 128) }
  expected.down = { 32, h100.gemm(128, 7168, 4096) }
  check(of(dense), expected)
end)

test("alone, the first chunk of a step pays the launch of its attention", function()
  local expected, found = common_rows(h100, 128256), rows_of(of(dense), chunks)
  test.near(found.attention_prefill[2], expected.attention_prefill[2] + 8 * us, 1e-9)
  test.check(not found.attention_decode, "there are no decodes")
end)

local function experts_query(tokens, tp)
  return { op = "grouped_gemm", dtype = "bf16", experts = 8, experts_per_token = 2, hidden_size = 4096,
           intermediate_size = 14336, tp = tp, ranks = 2, tokens = tokens, decode = true }
end

test("a step of experts that are split over ranks is these operations", function()
  local expected = common_rows(h100, 32000)
  expected.router = { 32, h100.gemm(128, 4096, 8) }
  expected.experts = { 32, h100.ask(experts_query(128, 2)) }
  check(of { model = "mixtral-8x7b", tp = 2 }, expected)
end)

test("ranks with whole experts get their share of the rows, and results are added up as before", function()
  local expected = common_rows(h100, 32000)
  expected.router = { 32, h100.gemm(128, 4096, 8) }
  expected.experts = { 32, h100.ask(experts_query(64, 1)) }
  check(of { model = "mixtral-8x7b", tp = 2, ep = 2 }, expected)
end)

test("a step of latent attention is these operations", function()
  local price = primitives "h200-sxm"
  local norm, reduce = price.small(4 * 7168 * 2 * 128 + 7168 * 2), price.all_reduce(128 * 7168 * 2, 8)
  local chunk = { op = "mla_prefill", heads = 128, qk_nope_head_dim = 128, qk_rope_head_dim = 64, v_head_dim = 128,
                  tp = 8, kv_dtype = "bf16", batch = 1, new_tokens = 40, context_tokens = 100 }
  local first = price.ask(chunk)
  chunk.new_tokens, chunk.context_tokens = 24, 0
  local second = price.ask(chunk)
  local bandwidth, peak = price.hardware.memory_bytes_per_s, price.hardware.peak_flop_per_s.bf16
  --- 16 heads of a rank in one launch, 64 rows each
  local flop, bytes = 16 * 2 * 64 * 128 * 512, 16 * 2 * (128 * 512 + 64 * (128 + 512))
  local batched = math.max(flop / (0.5 * peak), bytes / bandwidth) + 3 * us
  local expected = {
    embed = { 1, price.small(2 * 7168 * 2 * 128) }, embed_all_reduce = { 1, reduce },
    attention_norm = { 61, norm }, mlp_norm = { 61, norm }, final_norm = { 1, norm },
    quantize_qkv_a = { 61, price.quantize(128, 7168) },
    qkv_a = { 61, price.gemm(128, 7168, 1536 + 512 + 64, "fp8_block") },
    latent_norm = { 61, price.small(2 * (1536 + 512) * 2 * 128 + (1536 + 512) * 2) },
    quantize_q_b = { 61, price.quantize(128, 1536) }, q_b = { 61, price.gemm(128, 1536, 16 * 192, "fp8_block") },
    rope = { 61, price.small(2 * (16 + 1) * 64 * 2 * 128) }, kv_write = { 61, price.small(2 * (512 + 64) * 2 * 128) },
    quantize_kv_b = { 61, price.quantize(140 + 24, 512) },
    kv_b = { 61, price.gemm(140 + 24, 512, 16 * (128 + 128), "fp8_block") },
    bmm_q = { 61, batched }, bmm_o = { 61, batched },
    attention_decode = { 61, price.decode { op = "mla_decode", heads = 128, kv_lora_rank = 512, qk_rope_head_dim = 64,
                                            tp = 8, kv_dtype = "bf16" } },
    attention_prefill = { 61, (first - 8 * us) + (second - 8 * us) },
    quantize_o = { 61, price.quantize(128, 2048) }, o = { 61, price.gemm(128, 16 * 128, 7168, "fp8_block") },
    attention_all_reduce = { 61, reduce }, mlp_all_reduce = { 61, reduce },
    quantize_gate_up = { 3, price.quantize(128, 7168) }, gate_up = { 3, price.gemm(128, 7168, 2 * 2304, "fp8_block") },
    activation = { 3, price.small(3 * 2304 * 2 * 128) },
    quantize_down = { 3, price.quantize(128, 2304) }, down = { 3, price.gemm(128, 2304, 7168, "fp8_block") },
    router = { 58, price.gemm(128, 7168, 256) },
    experts = { 58, price.ask { op = "grouped_gemm", dtype = "fp8_block", experts = 256, experts_per_token = 8,
                                hidden_size = 7168, intermediate_size = 2048, tp = 8,
                                ranks = 8, tokens = 128, decode = true } },
    -- 256 experts of 127 empty rows: their output, gate and up written and read, the product in FP8
    experts_empty_rows = { 58, 256 * 127 * (2 * 7168 + 9 * 256) / (0.7 * bandwidth) },
    quantize_shared_gate_up = { 58, price.quantize(128, 7168) },
    shared_gate_up = { 58, price.gemm(128, 7168, 2 * 256, "fp8_block") },
    shared_activation = { 58, price.small(3 * 256 * 2 * 128) },
    quantize_shared_down = { 58, price.quantize(128, 256) },
    shared_down = { 58, price.gemm(128, 256, 7168, "fp8_block") },
    experts_sum = { 58, price.small(3 * 2 * 7168 * 128) },  -- of shared and routed experts
    lm_head = { 1, price.gemm(66, 7168, 129536 / 8) },  -- 129,280 words padded to a multiple of 64 x 8
    logits_gather = { 1, price.all_reduce(66 * 129536 * 2 / 2, 8) },
    sampler = { 1, 150 * us },
  }
  local deployment = { model = "deepseek-v3", tp = 8, hardware = "h200-sxm" }
  check(of(deployment, { shared_beside = 0, expert_block = 128 }), expected)
  local found = rows_of(of(deployment), chunks)
  test.near(found.attention_prefill[2], first + second - 8 * us, 1e-9, "chunks alone")
end)

--- 8 layers of 1024, every fourth of full attention: 8 heads and 2 KV heads of 128, gated; 16 value heads and 8
--- key heads of 64 in the others; an MLP of 3072; 32,768 words.
local hybrid = { model = "tests/fixtures/models/small_hybrid.json", tp = 2 }

test("a step of a hybrid is these operations", function()
  local price = h100
  local norm, reduce = price.small(4 * 1024 * 2 * 128 + 1024 * 2), price.all_reduce(128 * 1024 * 2, 2)
  local chunk = { op = "attention_prefill", heads = 8, kv_heads = 2, head_dim = 128, tp = 2, kv_dtype = "bf16" }
  chunk.new_tokens, chunk.context_tokens = 40, 100
  local first = price.ask(chunk)
  chunk.new_tokens, chunk.context_tokens = 24, 0
  local second = price.ask(chunk)
  local function linear(decode, requests, new_tokens)
    return price.ask { op = "linear_attention", decode = decode, conv = 4, key_heads = 4, key_head_dim = 64,
                       value_heads = 8, value_head_dim = 64, batch = requests, new_tokens = new_tokens }
  end
  check(of(hybrid), {
    embed = { 1, price.small(2 * 1024 * 2 * 128) }, embed_all_reduce = { 1, reduce },
    attention_norm = { 8, norm }, mlp_norm = { 8, norm }, final_norm = { 1, norm },
    qkv = { 2, price.gemm(128, 1024, (4 + 1 + 1 + 4) * 128) },  -- with a gate as wide as the queries
    rope = { 2, price.small(2 * (4 + 1) * 128 * 2 * 128) }, kv_write = { 2, price.small((2 + 2) * 2 * 128 * 128) },
    attention_gate = { 2, price.small(3 * 4 * 128 * 2 * 128) },
    attention_decode = { 2, price.decode { op = "attention_decode", heads = 8, kv_heads = 2, head_dim = 128, tp = 2,
                                           kv_dtype = "bf16" } },
    attention_prefill = { 2, (first - 8 * us) + (second - 8 * us) },
    o = { 2, price.gemm(128, 4 * 128, 1024) },
    gdn_in = { 6, price.gemm(128, 1024, 2 * 256 + 2 * 512) }, gdn_gates = { 6, price.gemm(128, 1024, 2 * 8) },
    gdn_split = { 6, price.small(2 * (2 * 256 + 2 * 512 + 2 * 8) * 2 * 128) },
    gdn_norm = { 6, price.small(3 * 512 * 2 * 128) }, gdn_out = { 6, price.gemm(128, 512, 1024) },
    linear_attention_prefill = { 6, linear(false, 1, 40) + linear(false, 1, 24) },
    linear_attention_decode = { 6, linear(true, 64, 1) },
    attention_all_reduce = { 8, reduce }, mlp_all_reduce = { 8, reduce },
    gate_up = { 8, price.gemm(128, 1024, 2 * 1536) }, activation = { 8, price.small(3 * 1536 * 2 * 128) },
    down = { 8, price.gemm(128, 1536, 1024) },
    lm_head = { 1, price.gemm(66, 1024, 16384) }, logits_gather = { 1, price.all_reduce(66 * 32768 * 2 / 2, 2) },
    sampler = { 1, 150 * us },
  })
end)

-- Work ---------------------------------------------------------------------------------------------

test("flop of a pair: 4 per element of a head; 2 (2 rank + rope) absorbed, 2 (nope + rope + value) expanded", function()
  local steps = of(dense)
  test.equal(steps.attention.decode_pair_flop, 4 * 16 * 128)
  test.equal(steps.attention.prefill_pair_flop, 4 * 16 * 128)
  test.equal(rows_of(steps).attention_decode.flop, 64 * 1024 * 4 * 16 * 128)
  test.equal(rows_of(steps).attention_decode.bytes, 64 * 1024 * 2 * 4 * 128 * 2)
  local latent = of { model = "deepseek-v3", tp = 8, hardware = "h200-sxm" }
  test.equal(latent.attention.decode_pair_flop, 2 * 16 * (2 * 512 + 64))
  test.equal(latent.attention.prefill_pair_flop, 2 * 16 * (128 + 64 + 128))
  test.equal(rows_of(latent).attention_decode.bytes, 64 * 1024 * (512 + 64) * 2)
end)

test("short contexts read a block of 128 keys each, and are priced no lower than fewer of 1,024", function()
  local steps = of(dense)
  local one, all = rows_of(steps, bound.decodes(64, 0)), rows_of(steps, bound.decodes(64, 127))
  test.equal(one.attention_decode[2], all.attention_decode[2])
  test.equal(one.attention_decode.flop, 64 * 4 * 16 * 128) -- of the one token that each of them has
  local few = rows_of(steps, bound.decodes(8, 1023))
  test.at_least(one.attention_decode[2], few.attention_decode[2])
end)

-- Parameters ---------------------------------------------------------------------------------------

local function time_with(parameters, given, load) return of(given or dense, parameters):time(load or batch) end

--- The time by which a step is longer with a parameter at `value` than at 0.
--- Shared experts run after the routed ones here, so that none of their time is hidden.
local function moved(name, value, given, load)
  return time_with({ [name] = value, shared_beside = 0 }, given, load)
    - time_with({ [name] = 0.0, shared_beside = 0 }, given, load)
end

local synchronous = { model = "llama-3.1-8b", tp = 2, async_depth = 1 }

test("host_step_s counts per step, host_request_s per request", function()
  test.near(moved("host_step_s", 0.01, synchronous), 0.01, 1e-9)
  test.near(moved("host_request_s", 1e-3, synchronous), 66e-3, 1e-9)
  local steps = of(synchronous)
  test.near(steps:time(batch) - steps:gpu_time(batch, steps:rows_time(batch)), 700 * us + 66 * 2 * us, 1e-9)
end)

test("sampler_s counts per step, sorted_logit_s per request and word", function()
  test.near(moved("sampler_s", 0.01), 0.01, 1e-9)
  test.near(moved("sorted_logit_s", 1e-9), 1e-9 * 66 * 128256, 1e-9)
end)

test("small_kernel_s counts per small kernel, and per batched GEMM", function()
  test.near(moved("small_kernel_s", 1e-3), 1e-3 * (1 + 32 + 32 + 32 + 32 + 32 + 1), 1e-9)
  local latent = { model = "deepseek-v3", tp = 8, hardware = "h200-sxm" }
  -- embed, two norms, latent norm, rope, KV write, two batched GEMMs; 3 dense and 58 shared activations; 58 sums of
  -- shared and routed experts; last norm
  test.near(moved("small_kernel_s", 1e-3, latent), 1e-3 * (1 + 7 * 61 + 3 + 58 + 58 + 1), 1e-9)
end)

test("small_kernel_bandwidth divides the traffic of small kernels", function()
  local bytes = 2 * 4096 * 2 * 128 + 65 * (4 * 4096 * 2 * 128 + 4096 * 2)
    + 32 * (2 * 20 * 128 * 2 * 128 + 8 * 4 * 128 * 128 + 3 * 7168 * 2 * 128)
  local longer_s = time_with { small_kernel_bandwidth = 0.1 } - time_with { small_kernel_bandwidth = 1.0 }
  test.near(longer_s, bytes / h100.hardware.memory_bytes_per_s * (1 / 0.1 - 1), 1e-9)
end)

test("attention_launch_s is what all but the first part of the call do not pay", function()
  test.near(moved("attention_launch_s", 8 * us, dense, batch), -2 * 32 * 8 * us, 1e-9)
  test.near(moved("attention_launch_s", 8 * us, dense, chunks), -32 * 8 * us, 1e-9)
  test.near(moved("attention_launch_s", 8 * us, dense, bound.decodes(8, 100)) + 1, 1, 1e-12)
end)

test("no part of a call shares more of the launch than it takes alone", function()
  local rows = rows_of(of(dense, { attention_launch_s = 1.0 }))
  local alone = common_rows(h100, 128256)
  test.near(rows.attention_decode[2], alone.attention_decode[2], 1e-9)
  test.at_least(rows.attention_prefill[2], 0)
  local longest_s = math.max(alone.attention_decode[2], alone.attention_prefill[2] / 2)
  test.at_least(rows.attention_decode[2] + rows.attention_prefill[2], longest_s)
end)

test("overlap hides a part of the shorter attention, launch aside", function()
  local rows = common_rows(h100, 128256)
  local shorter_s = 32 * math.min(rows.attention_prefill[2], rows.attention_decode[2] - 8 * us)
  test.near(moved("overlap", 1.0), -shorter_s, 1e-9)
  test.near(moved("overlap", 0.25), -0.25 * shorter_s, 1e-9)
end)

test("overlap hides decodes behind a longer prefill, launch aside", function()
  local load = cost.batch { prefills = { { new_tokens = 7000, context_tokens = 0 } }, decodes = 64,
                            decode_context_tokens = 64 * 1023 }
  local rows = rows_of(of(dense), load)
  test.check(rows.attention_prefill[2] > rows.attention_decode[2], "the prefill is longer")
  test.near(moved("overlap", 1.0, dense, load), -32 * (rows.attention_decode[2] - 8 * us), 1e-9)
end)

test("chunks that are all launch take as long as the longest, and the least their work can take", function()
  local chunk = { op = "attention_prefill", heads = 32, kv_heads = 8, head_dim = 128, tp = 2, kv_dtype = "bf16",
                  new_tokens = 900, context_tokens = 0 }
  local function floor_s(t)
    return math.max(t * (t + 1) / 2 * 4 * 16 * 128 / h100.hardware.peak_flop_per_s.bf16,
                    t * 2 * 4 * 128 * 2 / h100.hardware.memory_bytes_per_s)
  end
  local function attention_s(...)
    local list = {}
    for i, t in ipairs { ... } do list[i] = { new_tokens = t, context_tokens = 0 } end
    return rows_of(of(dense, { attention_launch_s = 1.0 }), cost.batch { prefills = list }).attention_prefill[2]
  end
  local least_s = h100.ask(chunk) + floor_s(900) + 2 * floor_s(24)
  test.near(attention_s(24, 900, 24), least_s, 1e-9)
  test.near(attention_s(900, 24, 24), least_s, 1e-9)
  test.near(attention_s(24, 24, 900), least_s, 1e-9)
end)

test("an asynchronous host is the step where the GPU is faster", function()
  test.near(time_with { host_step_s = 1.0, host_request_s = 1e-3 }, 1.066, 1e-9)
end)

test("outside a graph no step takes less than a launch for each of its kernels", function()
  local kernels = 1 + 1 + 32 * (1 + 1 + 1 + 1 + 2 + 1 + 1 + 1 + 1 + 1 + 1 + 1) + 1 + 1 + 1  -- attention counts twice
  test.near(time_with { largest_graph = 0, eager_kernel_s = 1e-3 }, kernels * 1e-3, 1e-9)
  test.check(time_with { largest_graph = 128, eager_kernel_s = 1e-3 } < 0.1, "a graph has no such floor")
end)

test("a graph pads GEMMs to its size; largest_graph = 0 pads nothing", function()
  local load = bound.decodes(60, 1023)
  local with = rows_of(of(dense), load)
  local without = rows_of(of(dense, { largest_graph = 0 }), load)
  test.near(with.rope[2], h100.small(2 * 20 * 128 * 2 * 64), 1e-9)
  test.near(without.rope[2], h100.small(2 * 20 * 128 * 2 * 60), 1e-9)
end)

test("batched_gemm_mfu divides the flop of the absorbed projections", function()
  local latent = { model = "deepseek-v3", tp = 8, hardware = "h200-sxm" }
  local peak = rooflua.spec.hardware("h200-sxm").peak_flop_per_s.bf16
  local flop = 2 * 61 * 16 * 2 * 64 * 128 * 512
  local longer_s = time_with({ batched_gemm_mfu = 0.001 }, latent) - time_with({ batched_gemm_mfu = 0.002 }, latent)
  test.near(longer_s, flop / peak * (1 / 0.001 - 1 / 0.002), 1e-9)
end)

test.finish()
