-- Layers of several kinds: query-key pairs against counting one by one, prices of bounded, selected, compressed and
-- recurrent layers written out by hand, and what must hold between them.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local core = require "rooflua.base.core"
local cost = rooflua.cost
local Kernels = require "steps.kernels"
local pairs_of = require "steps.kernels.pairs"

local us = 1e-6

local model, of, rows_of = bound.layered, bound.kernels, bound.rows_of

local full = { kind = "full", layers = 2 }
local function window(w, layers) return { kind = "window", layers = layers or 2, window = w } end
local function chunk(c) return { kind = "chunk", layers = 2, chunk = c } end

-- Pairs --------------------------------------------------------------------------------------------

local function brute(t, p, seen)
  local sum = 0
  for i = 1, t do sum = sum + seen(p + i) end
  return sum
end

test("pairs of every kind equal counting token by token, and add up over the chunks of a prompt", function()
  for t = 1, 64, 3 do
    for p = 0, 63, 7 do
      test.equal(pairs_of.full(t, p), brute(t, p, function(s) return s end))
      for w = 1, 70, 3 do
        test.equal(pairs_of.window(t, p, w), brute(t, p, function(s) return math.min(s, w) end))
        test.equal(pairs_of.chunk(t, p, w), brute(t, p, function(s) return (s - 1) % w + 1 end))
        test.equal(pairs_of.entries(t, p, w), brute(t, p, function(s) return math.floor(s / w) end))
        for most = 1, 9, 4 do
          test.equal(pairs_of.entries(t, p, w, most),
            brute(t, p, function(s) return math.min(math.floor(s / w), most) end))
        end
        test.equal(pairs_of.window(t, p, w) + pairs_of.window(5, p + t, w), pairs_of.window(t + 5, p, w))
        test.equal(pairs_of.chunk(t, p, w) + pairs_of.chunk(5, p + t, w), pairs_of.chunk(t + 5, p, w))
      end
    end
  end
end)

-- Bounded contexts ---------------------------------------------------------------------------------

local loads = {
  bound.decodes(16, 300), bound.decodes(3, 9000), bound.prefill(700), bound.prefill(100, 5000),
  bound.mixed(300, 900, 7, 2000),
}

test("a window or a chunk as wide as the longest context prices to the same bits as full attention", function()
  for _, kind in ipairs { window(262144), { kind = "chunk", layers = 2, chunk = 300000 } } do
    local bounded = rows_of(of(model { kind, full }), loads[5])
    local alike = rows_of(of(model { full, { kind = "full", layers = 2 } }), loads[5])
    for name, row in pairs(bounded) do
      test.equal(row.time_s, (alike[name] or alike[name:gsub("@full", "@full_2")]).time_s, name)
    end
  end
end)

test("contexts within the window price to the same bits as full attention", function()
  local plain = of(model { full, { kind = "full", layers = 2 } })
  local steps = of(model { window(10000), full })
  for _, load in ipairs(loads) do test.near(steps:time(load), plain:time(load), 1e-15) end
end)

test("decodes compute with the sum of min(context, window), not with the window of the mean", function()
  local load = cost.batch { decode_contexts = { 9, 4999, 129, 99 } }
  local row = rows_of(of(model { window(2048), full }), load)
  local pair = 4 * 8 * 128
  test.equal(row.attention_decode.flop, (10 + 2048 + 130 + 100) * pair)
  test.equal(row["attention_decode@full"].flop, (10 + 5000 + 130 + 100) * pair)
  test.equal(row.attention_decode.count, 2)
  local chunked = rows_of(of(model { chunk(1024), full }), load)
  test.equal(chunked.attention_decode.flop, (10 + (4999 % 1024 + 1) + 130 + 100) * pair)
end)

test("a chunk of a prompt computes its own pairs, at the speed of a call with as many", function()
  local steps, database = of(model { window(2048), full }), bound.modelled "h100-sxm"
  local function latency(t, p)
    local _, estimate = database:lookup { op = "attention_prefill", heads = 8, kv_heads = 2, head_dim = 128, tp = 1,
                                          kv_dtype = "bf16", batch = 1, new_tokens = t, context_tokens = p }
    return estimate.latency_s
  end
  local row = rows_of(steps, bound.prefill(100, 5000))
  test.equal(row.attention_prefill.flop, 100 * 2048 * 4 * 8 * 128)
  test.near(row.attention_prefill.time_s, latency(100, 2048 - 50.5), 1e-9)
  test.near(row["attention_prefill@full"].time_s, latency(100, 5000), 1e-9)
  --- Longer than its window: the part of a call without context, launch apart.
  row = rows_of(steps, bound.prefill(8000))
  local pairs, triangle = pairs_of.window(8000, 0, 2048), 8000 * 8001 / 2
  test.near(row.attention_prefill.time_s, 8 * us + (latency(8000, 0) - 8 * us) * pairs / triangle, 1e-9)
end)

test("more tokens never cost less, whatever the kinds", function()
  local index = { index_heads = 4, index_head_dim = 128, index_topk = 16, index_block = 128 }
  local sparse = { kind = "block_sparse", layers = 2 }
  for key, value in pairs(index) do sparse[key] = value end
  for _, kinds in ipairs { { window(512), full }, { chunk(1000), full }, { sparse, full } } do
    local steps = of(model(kinds))
    local before = 0
    for context = 1, 40000, 1777 do
      local time_s = steps:time(bound.decodes(8, context))
      if kinds[1].kind ~= "chunk" then test.at_least(time_s * (1 + 1e-9), before) end
      before = time_s
    end
    before = 0
    for tokens = 1, 16000, 1111 do
      local time_s = steps:time(bound.prefill(tokens, 3000))
      test.at_least(time_s * (1 + 1e-9), before)
      before = time_s
    end
  end
end)

-- Selected tokens ----------------------------------------------------------------------------------

local mla = { q_lora_rank = 384, kv_lora_rank = 256, qk_nope_head_dim = 64, qk_rope_head_dim = 32, v_head_dim = 64 }

local function latent(kind, more)
  local out = { kind = kind, layers = 2 }
  for key, value in pairs(mla) do out[key] = value end
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local dsa = { index_heads = 16, index_head_dim = 128, index_topk = 2048 }

test("an index scores every token, and attention computes with those that it selects", function()
  local steps = of(model { latent("latent_sparse", dsa) })
  local row = rows_of(steps, bound.decodes(4, 9999))
  test.equal(row.attention_decode.flop, 4 * 2048 * 2 * 8 * (2 * 256 + 32))
  local scores = 4 * 10000 * 2 * 16 * 128
  test.equal(row.index_scores.flop, scores)
  test.equal(row.index_scores.bytes, 4 * 10000 * (128 + 4 + 3 * 4))
  local hardware = rooflua.spec.hardware "h100-sxm"
  local bytes_s = 4 * 10000 * 144 / (0.88 * hardware.memory_bytes_per_s)
  local flop_s = scores / (0.38 * hardware.peak_flop_per_s.fp8)
  test.near(row.index_scores.time_s, math.max(bytes_s, flop_s) + 6 * us, 1e-9)
  row = rows_of(steps, cost.batch { decode_contexts = { 1000, 2047, 3 } })
  test.check(not row.index_scores, "every token is selected")
  row = rows_of(steps, cost.batch { decode_contexts = { 1000, 2048, 3 } })
  test.equal(row.index_scores.flop, (1001 + 2049 + 4) * 2 * 16 * 128)
  row = rows_of(steps, bound.prefill(1000, 4000))
  test.equal(row.attention_prefill.flop, 1000 * 2048 * 2 * 8 * (2 * 256 + 32))
  test.equal(row.index_scores.flop, (1000 * 4000 + 1000 * 1001 / 2) * 2 * 16 * 128)
  test.check(not rows_of(steps, bound.prefill(2048)).index_scores, "a short prompt selects everything")
end)

test("an index of blocks scores every token, in 16 bit", function()
  local sparse = { kind = "block_sparse", layers = 2, index_heads = 4, index_head_dim = 128, index_topk = 16,
                   index_block = 128 }
  local steps = of(model { sparse })
  local row = rows_of(steps, bound.decodes(4, 9999))
  test.equal(row.attention_decode.flop, 4 * 2048 * 4 * 8 * 128)
  test.equal(row.index_scores.flop, 4 * 10000 * 2 * 4 * 128)
  test.equal(row.index_scores.bytes, 4 * 10000 * 2 * 128)
  row = rows_of(steps, bound.prefill(1000, 4000))
  test.equal(row.index_scores.flop, (1000 * 4000 + 1000 * 1001 / 2) * 2 * 4 * 128)
  test.equal(row.index_scores.bytes, 5000 * 2 * 128)
  test.check(not rows_of(steps, bound.prefill(2048)).index_scores, "a short prompt selects every block")
end)

test("a layer that uses the selection of another one scores nothing", function()
  local reuse = latent("latent_sparse",
    { index_heads = 16, index_head_dim = 128, index_topk = 2048, own_index = false })
  local row = rows_of(of(model { latent("latent_sparse", dsa), reuse }), bound.decodes(4, 9999))
  test.equal(row.index_scores.count, 2)
  test.check(not row["index_scores@latent_sparse_2"], "no scores")
  test.equal(row["attention_decode@latent_sparse_2"].flop, row.attention_decode.flop)
  test.check(row.index_q and not row["index_q@latent_sparse_2"], "no projections")
end)

test("a compressed cache is read as its window and an entry for every few tokens", function()
  local base = { kind = "compressed", layers = 1, kv_heads = 1, head_dim = 512, q_lora_rank = 256,
                 qk_rope_head_dim = 64, window = 128, o_lora_rank = 256, o_groups = 2 }
  local function layer(ratio, more)
    local out = { ratio = ratio }
    for key, value in pairs(base) do out[key] = value end
    for key, value in pairs(more or {}) do out[key] = value end
    return out
  end
  local steps = of(model { layer(4, { index_heads = 8, index_head_dim = 64, index_topk = 512 }), layer(128), layer(0) })
  local pair, row = 2 * 8 * 1024, rows_of(steps, bound.decodes(4, 9999))
  test.equal(row.attention_decode.flop, 4 * (128 + 512) * pair)
  test.equal(row["attention_decode@compressed_2"].flop, 4 * (128 + 10000 / 128) * pair)
  test.equal(row["attention_decode@compressed_3"].flop, 4 * 128 * pair)
  test.equal(row.index_scores.flop, 4 * 10000 / 4 * 2 * 8 * 64)
  test.check(row.compressor and row["compressor@compressed_2"] and not row["compressor@compressed_3"], "compressors")
  row = rows_of(steps, bound.prefill(1000))
  test.equal(row["attention_prefill@compressed_2"].flop,
    (pairs_of.window(1000, 0, 128) + pairs_of.entries(1000, 0, 128)) * pair)
end)

-- States -------------------------------------------------------------------------------------------

test("state-space layers read and write a state per request, and their scan pairs tokens of a chunk", function()
  local mamba = { kind = "mamba2", layers = 3, heads = 32, head_dim = 64, groups = 8, state_size = 128,
                  conv_kernel = 4 }
  local given = model({ mamba, { kind = "full", layers = 1 } }, { { kind = "dense", layers = 4 } }, { layers = 8 })
  local steps, hardware = of(given), rooflua.spec.hardware "h100-sxm"
  local inner, channels = 32 * 64, 32 * 64 + 2 * 8 * 128
  local token_flop = 6 * 32 * 64 * 128 + 2 * channels * 4
  local row = rows_of(steps, bound.decodes(5, 1000))
  local state, weights = 4 * 32 * 64 * 128, channels * 5 * 2
  local bytes = 2 * 5 * state + 5 * (channels + 2 * inner) * 2 + weights
  test.equal(row.linear_attention_decode.flop, 5 * token_flop)
  test.equal(row.linear_attention_decode.bytes, bytes)
  test.near(row.linear_attention_decode.time_s, bytes / (0.7 * hardware.memory_bytes_per_s) + 6 * us, 1e-9)
  test.equal(row.linear_attention_decode.count, 3)
  row = rows_of(steps, bound.prefill(1000))
  test.equal(row.linear_attention_prefill.flop, 1000 * token_flop + 1000 * 256 * 2 * (8 * 128 + 32 * 64))
  --- One block a layer: a norm and, on two ranks, an all-reduce for each.
  row = rows_of(of(given, { tp = 2 }), bound.decodes(5, 1000))
  test.equal(row.attention_norm.count, 4)
  test.equal(row.mlp_norm.count, 4)
  test.equal(row.attention_all_reduce.count, 4)
  test.equal(row.mlp_all_reduce.count, 4)
end)

test("the parts of a gated delta rule are put in order by as many kernels as the engine has", function()
  local function splits(copies)
    local steps = bound.bind(Kernels { recurrent_copies = copies }, { model = "qwen3-next-80b-a3b", tp = 2 })
    local row = rows_of(steps, bound.decodes(5, 1000)).gdn_split
    return row and row.count or 0
  end
  test.equal(splits(nil), 36)
  test.equal(splits(7), 7 * 36)
  test.equal(splits(0), 0)
end)

-- All kinds -----------------------------------------------------------------------------------------

test("kinds of layers must add up", function()
  test.raises("the kinds of attention add up to 2", function() model({ full }, nil, { layers = 5 }) end)
  test.raises("did you mean 'window'", function() model { { kind = "windows", layers = 2 } } end)
  test.raises("window", function() model { { kind = "window", layers = 2 } } end)
  test.raises("unknown key 'topk'", function() model { { kind = "full", layers = 2, topk = 3 } } end)
end)

test("a step model that takes all layers to be alike says so", function()
  local given = model { window(512), full }
  local function notes_of(steps)
    local result = rooflua.serve.run { model = given, hardware = "h100-sxm", steps = steps,
      workload = require "workloads.poisson" { num_requests = 3 } }
    return table.concat(core.plain(result.notes or {}), "\n")
  end
  test.check(notes_of("roofline_v1"):find("roofline_v1 prices every layer of model alike", 1, true), "no note")
  test.check(notes_of("roofline_v1"):find("2 window, 2 full", 1, true), "no kinds")
  test.check(not notes_of("kernels"):find("alike", 1, true), "a note too many")
end)

test("every shipped model is priced with shipped tables, alone and mixed", function()
  for _, gpu in ipairs { "b200", "h200-sxm" } do
    local tables, priced = rooflua.mfu.open { gpu = gpu }, 0
    for _, name in ipairs(rooflua.spec.models()) do
      for _, tp in ipairs { 1, 8 } do
        local ok, steps = pcall(of, rooflua.spec.model(name), { hardware = gpu, tp = tp, mfu = tables })
        if ok then
          local decode_s, both_s = steps:time(bound.decodes(4, 9000)), steps:time(bound.mixed(700, 3000, 4, 9000))
          test.check(decode_s > 0 and both_s > decode_s and both_s < math.huge, "%s on %s: %g, %g", name, gpu, decode_s,
            both_s)
          priced = priced + 1
        else
          test.check(tostring(steps):find("do not divide by tp", 1, true), "%s on %s: %s", name, gpu, tostring(steps))
        end
      end
    end
    test.at_least(priced, 100)
  end
end)

test.finish()
