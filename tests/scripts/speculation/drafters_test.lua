-- What drafting costs: passes, weights and caches of drafters, and decodes that verify drafts.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local cost, mfu, policy, spec = rooflua.cost, rooflua.mfu, rooflua.policy, rooflua.spec
local Kernels = require "steps.kernels"

local function context_of(model, options)
  options = options or {}
  local hardware = spec.hardware(options.hardware or "h200-sxm")
  local target = spec.model(model)
  local deployment = spec.deployment { model = target, hardware = hardware, tp = options.tp, kv_blocks = 1000,
    max_num_seqs = 256, max_num_batched_tokens = 8192 }
  return { model = target, hardware = hardware, deployment = deployment, async_depth = options.async_depth or 2,
    mfu = mfu.open { hardware = hardware }, draft_depth = options.depth or 3 }
end

local function drafter(name, parameters, context)
  local out = policy.fresh(require("drafters." .. name)(parameters or {}))
  if out.bind then out:bind(context) end
  return out
end

--- n decodes with k drafts each, which get as many again.
local function verifying(n, k, tokens, next_k)
  next_k = next_k or k
  return cost.batch { decodes = n, decode_context_tokens = n * (tokens or 2000), decode_tokens = n * (1 + k),
    draft_rows = next_k > 0 and n or 0, draft_tokens = n * next_k, draft_passes = next_k }
end

local llama = context_of "llama-3.1-8b"

test("a decode without drafts has the same price as before, whatever the next one brings", function()
  for _, name in ipairs { "kernels", "roofline_v1", "roofline_v2", "infersim" } do
    local steps = policy.fresh(require("steps." .. name) {})
    steps:bind(llama)
    local plain = cost.batch { decodes = 8, decode_context_tokens = 16000 }
    local drafting = verifying(8, 0, 2000, 3)
    test.equal(steps:time(drafting), steps:time(plain), name)
  end
end)

test("more drafts never make a step cheaper, in any step model", function()
  for _, name in ipairs { "kernels", "roofline_v1", "roofline_v2", "infersim" } do
    local steps = policy.fresh(require("steps." .. name) {})
    steps:bind(llama)
    for _, n in ipairs { 1, 7, 64, 200 } do
      local before = 0
      for k = 0, 8 do
        local time_s = steps:time(verifying(n, k))
        test.at_least(time_s, before * (1 - 1e-9), ("%s: %d requests, %d drafts"):format(name, n, k))
        before = time_s
      end
    end
  end
end)

test("drafts cost much less than requests while weights and caches bound the step", function()
  local steps = policy.fresh(Kernels {})
  steps:bind(llama)
  local one, drafts = steps:time(verifying(1, 0)), steps:time(verifying(1, 7))
  test.check(drafts < 1.1 * one, "seven drafts: %g ms after %g ms", drafts * 1e3, one * 1e3)
  local many = steps:time(verifying(8, 0))
  test.check(drafts < many, "eight requests read eight caches")
end)

test("kinds of attention price drafts: window, latent, sparse, recurrent", function()
  for _, model in ipairs { "gpt-oss-120b", "deepseek-v3", "deepseek-v3.2", "qwen3-next-80b-a3b", "nemotron-nano-9b-v2",
    "llama-4-scout", "deepseek-v4-flash", "minimax-m3" } do
    local context = context_of(model, { tp = model:find "nano" and 1 or 8 })
    local steps = policy.fresh(Kernels {})
    steps:bind(context)
    -- Shared experts are a share of rows that are padded: where two numbers of drafts have the same rows or nearly so,
    -- the larger may be a little cheaper.
    local tolerance = context.model.moe and 0.05 or 1e-9
    local before = steps:time(verifying(4, 0, 9000))
    for k = 1, 4 do
      local time_s = steps:time(verifying(4, k, 9000))
      test.at_least(time_s, before * (1 - tolerance), model .. " " .. k)
      before = time_s
    end
    test.check(before < 5 * steps:time(verifying(4, 0, 9000)), model)
  end
end)

test("windows that verify compute the pairs of their window, at a rate that a GPU has", function()
  local context = context_of "gpt-oss-120b"
  local steps = policy.fresh(Kernels {})
  steps:bind { model = context.model, hardware = context.hardware, deployment = context.deployment, mfu = context.mfu,
    async_depth = 2, draft_depth = 7 }
  local function window_s(k, tokens)
    for _, row in ipairs(cost.explain(function() return steps:time(verifying(32, k, tokens)) end).rows) do
      if row.name == "attention_decode" then
        test.at_least(1, row.mfu or 0)
        return row.time_s
      end
    end
  end
  test.at_least(2.2 * window_s(0, 30000), window_s(7, 30000))
  test.near(window_s(7, 30000), window_s(7, 60000), 0.35)
end)

test("drafts touch fewer experts than tokens of other requests, and none where every expert is touched", function()
  local context = context_of("qwen3-30b-a3b")
  local function time(overlap, n, k)
    local steps = policy.fresh(Kernels { draft_overlap = overlap })
    steps:bind(context)
    return steps:time(verifying(n, k))
  end
  test.check(time(0.4, 2, 3) < 0.98 * time(0, 2, 3), "eight tokens touch some experts")
  test.near(time(0.4, 250, 3), time(0, 250, 3), 1e-6, "a thousand tokens touch all")
  test.at_least(time(1, 2, 3), time(1, 2, 0), "at least the request's own")
  test.equal(time(0.4, 8, 0), time(0, 8, 0))
end)

test("experts of drafts overlap on ranks that step together, too", function()
  local context, times = context_of "qwen3-235b-a22b", {}
  context.deployment = spec.deployment { model = context.model, hardware = context.hardware, tp = 4, dp = 2, moe_tp = 8,
    kv_blocks = 1000, max_num_seqs = 256, max_num_batched_tokens = 8192 }
  for i, overlap in ipairs { 0, 0.4, 1 } do
    local steps = policy.fresh(Kernels { draft_overlap = overlap })
    steps:bind { model = context.model, hardware = context.hardware, deployment = context.deployment, mfu = context.mfu,
      async_depth = 2, draft_depth = 3 }
    times[i] = steps:time(cost.batch { decodes = 4, decode_context_tokens = 8000, decode_tokens = 16,
      group = { ranks = 2, tokens = 32, max_tokens = 16, prefills = 0 } })
  end
  test.check(times[1] > 1.02 * times[2] and times[2] > 1.02 * times[3], "%g, %g, %g", times[1], times[2], times[3])
end)

test("Marlin runs experts in four bits only", function()
  local context = context_of("deepseek-v3", { tp = 8 })
  test.raises('experts_kernels = "marlin" runs int4, int4_wo, mxfp4, and the experts of this model are fp8_block',
    function()
      policy.fresh(Kernels { experts_kernels = "marlin" }):bind { model = context.model, hardware = context.hardware,
        deployment = context.deployment, mfu = context.mfu, async_depth = 2 }
    end)
end)

test("Marlin prices experts by their rows, and rounds their widths up", function()
  local context = context_of("gpt-oss-120b")
  local function experts(tokens)
    local steps = policy.fresh(Kernels { experts_kernels = "marlin" })
    steps:bind(context)
    local found
    local batch = cost.batch { prefills = { { new_tokens = tokens } } }
    for _, row in ipairs(cost.explain(function() return steps:time(batch) end).rows) do
      if row.name == "experts" then found = row end
    end
    return found
  end
  -- 36 layers of 128 experts of three matrices of 3072 x 2944, four bits and a scale for each 32: 8,192 tokens are 256
  -- rows per expert, for which rows of another shape take 4.36 ms a GB
  local bytes = 128 * 3 * 3072 * 2944 * (4 + 8 / 32) / 8
  local row = experts(8192)
  test.near(row.bytes, bytes, 0.01)
  test.near(row.time_s, bytes * 4.36e-12 + 30e-6, 0.02)
  test.equal(row.evidence, "stand_in")
  local before = 0
  for e = 0, 13 do
    local time_s = experts(2 ^ e).time_s
    test.check(time_s > before, "%d tokens", 2 ^ e)
    before = time_s
  end
end)

test("graphs hold 1 + k tokens of every seat", function()
  local graphs = require "steps.kernels.graphs"
  test.equal(graphs.largest(512, 64, 8192), 128)
  test.equal(graphs.largest(512, 64, 8192, 3), 512)
  test.equal(graphs.largest(2048, 64, 8192, 3), 512)
  test.equal(graphs.largest(2048, 128, 8192, 4), 1280)
end)

test("an EAGLE drafter runs once over all tokens and then once per further draft", function()
  local eagle = drafter("eagle", { pass_s = 1 }, llama)
  local function time(k, next_k)
    return eagle:time(verifying(4, k, 1000, next_k))
  end
  for k = 1, 4 do test.near(time(3, k), k, 0.01, k .. " drafts") end
  test.near(time(3, 0), 1, 0.01, "without drafts, its cache still goes on")
  test.check(time(3, 2) > time(0, 2), "rejected drafts are tokens of the first pass")
end)

test("a pass of an EAGLE drafter costs at least its weights", function()
  local eagle = drafter("eagle", { pass_s = 0 }, llama)
  local weight_bytes, kv_bytes = eagle:memory()
  -- one layer: q, k, v over 8192; o; MLP of 14336; LM head of 32,000; the GEMM over three hidden states
  local weights = 8192 * 6144 + 4096 * 4096 + 3 * 4096 * 14336 + 32000 * 4096 + 3 * 4096 * 4096
  test.near(weight_bytes, 2 * weights, 0.001)
  test.equal(kv_bytes, 2 * 8 * 128 * 2)
  local fused = 2 * 3 * 4096 * 4096
  test.at_least(eagle:time(verifying(1, 1)), (weight_bytes - fused) / llama.hardware.memory_bytes_per_s)
end)

test("where steps are not planned ahead, the host's time for each request and pass is on the path", function()
  local parameters = { host_row_s = 1e-4, host_pass_s = 2e-4 }
  local ahead = drafter("eagle", parameters, llama)
  local behind = drafter("eagle", parameters, context_of("llama-3.1-8b", { async_depth = 1 }))
  local batch = verifying(10, 3)
  test.near(behind:time(batch) - ahead:time(batch), 10 * 1e-4 + 3 * 2e-4, 1e-9)
end)

test("multi-token prediction is one more layer like the usual one, with the model's LM head", function()
  local context = context_of("deepseek-v3", { tp = 8 })
  local weight_bytes, kv_bytes = drafter("mtp", {}, context):memory()
  -- 58 of 61 layers have experts; all weights but embedding and LM head, by layers
  local per_layer = (context.deployment.weight_bytes - 2 * 2 * 129280 * 7168 / 8) / 61
  local joining = 2 * 2 * 7168 * 7168  -- of the hidden state and the embedding, whole on every rank
  weight_bytes = weight_bytes - joining
  test.check(weight_bytes > per_layer and weight_bytes < 1.15 * per_layer, "%g of %g", weight_bytes, per_layer)
  test.near(kv_bytes, context.deployment.kv_bytes_per_block / 16 / 61, 1e-9)
end)

--- Times of a drafter's operations by name, and how often each is priced.
local function parts_of(own, batch)
  local times, counts = {}, {}
  for _, row in ipairs(cost.explain(function() return own:time(batch) end).rows) do
    times[row.name] = (times[row.name] or 0) + row.time_s
    counts[row.name] = (counts[row.name] or 0) + 1
  end
  return times, counts
end

test("the layer of multi-token prediction has one kind of attention, which is not recurrent", function()
  local times = parts_of(drafter("mtp", {}, context_of("qwen3-next-80b-a3b", { tp = 4 })), verifying(4, 2))
  test.check(times.qkv and times.attention_decode and times.experts, "full attention and experts")
  test.check(not times.gdn_in and not times.linear_attention_decode, "recurrent layers")
end)

test("hidden states are joined in every pass of multi-token prediction, in the first one of EAGLE", function()
  for name, passes in pairs { mtp = 3, eagle = 1 } do
    local own = drafter(name, {}, context_of("deepseek-v3", { tp = 8 }))
    local one, three = parts_of(own, verifying(4, 1)), parts_of(own, verifying(4, 3))
    test.near(three.fuse, passes * one.fuse, 0.05, name)
    test.at_least(one.fuse, (name == "mtp" and 2 or 3) * 2 * 7168 * 7168 / 4.8e12)
  end
end)

test("a draft model with several kinds of layers is priced whole", function()
  local own = drafter("draft_model", { model = "gpt-oss-20b" }, context_of "gpt-oss-120b")
  local short, long = parts_of(own, verifying(8, 2, 1000)), parts_of(own, verifying(8, 2, 50000))
  test.near(short.attention_decode, long.attention_decode, 0.5, "windows")
  test.at_least(long["attention_decode@full"], 10 * short["attention_decode@full"])
  local states = parts_of(drafter("draft_model", { model = "qwen3-next-80b-a3b" }, context_of "qwen3-32b"),
    verifying(8, 2))
  test.check(states.linear_attention_decode, "recurrent layers")
end)

test("drafters take the step model's kernels, and the cache's format", function()
  local context = context_of("deepseek-v3", { tp = 8 })
  local none = parts_of(drafter("mtp", {}, context), verifying(4, 1))
  context.steps = Kernels { expert_block = 128 }
  local blocks = parts_of(drafter("mtp", {}, context), verifying(4, 1))
  test.check(blocks.experts_empty_rows and not none.experts_empty_rows, "blocks of experts")
  local _, in_bf16 = drafter("eagle", {}, llama):memory()
  local short = context_of("llama-3.1-8b")
  short.deployment = spec.deployment { model = short.model, hardware = short.hardware, kv_blocks = 1000, kv = "fp8",
    max_num_seqs = 256, max_num_batched_tokens = 8192 }
  local _, in_fp8 = drafter("eagle", {}, short):memory()
  test.near(in_fp8, in_bf16 / 2, 1e-9)
end)

test("a drafter that reads the target's cache keeps none, and projects queries alone", function()
  for _, name in ipairs { "eagle", "block_parallel" } do
    local own, shared = drafter(name, {}, llama), drafter(name, { shares_cache = true }, llama)
    local weights, kv = own:memory()
    local fewer, none = shared:memory()
    test.equal(none, 0)
    test.check(kv > 0)
    -- keys and values of 8 heads of 128 from two states of 4,096 in 16 bits
    test.near(weights - fewer, 2 * 8 * 128 * 2 * 4096 * 2, 1e-9, name)
    local times, less = parts_of(own, verifying(8, 3)), parts_of(shared, verifying(8, 3))
    test.check(times.kv_write and not less.kv_write, "%s writes no cache", name)
    test.near(less.attention_decode, times.attention_decode, 1e-9)
  end
end)

test("placeholders read no cache a second time", function()
  local own = drafter("block_parallel", { pass_s = 0 }, context_of("llama-3.3-70b", { tp = 8 }))
  local without, with_drafts = parts_of(own, verifying(16, 0, 8000)), parts_of(own, verifying(16, 4, 8000))
  test.at_least(1.5 * without.attention_decode, with_drafts.attention_decode)
end)

test("a draft model reads all its layers in every pass", function()
  local small = drafter("draft_model", { model = "qwen2.5-1.5b", pass_s = 0 }, llama)
  local weight_bytes = small:memory()
  local k1, k2 = small:time(verifying(1, 1)), small:time(verifying(1, 2))
  test.at_least(k2 - k1, 0.8 * weight_bytes / llama.hardware.memory_bytes_per_s)
end)

test("a parallel drafter has one pass, a look-up none", function()
  local parallel = drafter("block_parallel", { pass_s = 1 }, llama)
  test.near(parallel:time(verifying(1, 7)), 1, 0.01)
  local free = drafter("free", { step_s = 1e-3, row_s = 1e-5 })
  test.near(free:time(verifying(10, 4)), 1.1e-3, 1e-12)
  test.equal(free:time(verifying(10, 0)), 0)
end)

test("a table has the times that it was given", function()
  local measured = drafter("table", { first_s = 2, later_s = 1, token_s = 0.1, row_s = 0.01 })
  -- 2 requests with 1 + 3 tokens, 3 passes
  test.near(measured:time(verifying(2, 3)), 2 + 0.8 + 3 * 0.02 + 2, 1e-12)
end)

test("a drafter takes KV blocks: its weights once, its cache with every token", function()
  local function blocks(more) return spec.deployment(scene({}, more)) end
  local plain, weights = blocks {}, blocks { drafter_weight_bytes = 2 ^ 30 }
  local lost = (plain.kv_blocks - weights.kv_blocks) * plain.kv_bytes_per_block
  test.near(lost, 2 ^ 30, 0.01)
  test.equal(weights.drafter_bytes, 2 ^ 30)
  -- a layer more than 32
  local cache = blocks { drafter_kv_bytes_per_token = 2 * 8 * 128 * 2 }
  test.near(cache.kv_blocks / plain.kv_blocks, 32 / 33, 0.001)
  test.equal(blocks({ drafter_weight_bytes = 2 ^ 30, kv_blocks = 77 }).kv_blocks, 77)
end)

test.finish()
