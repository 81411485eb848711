-- Laws of layer kinds, for every shipped model and random batches: a bound as wide as the context changes nothing,
-- ranks conserve work, and more tokens never cost less where every context is known.
-- ROOFLUA_LAW_ROUNDS=20 draws twenty times as many.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost, spec = rooflua.cost, rooflua.spec
local Kernels = require "steps.kernels"

local rounds = tonumber(os.getenv "ROOFLUA_LAW_ROUNDS" or 1)
local state = 20261122

local function whole(low, high)
  state = (state * 16807) % 2147483647
  return low + math.floor(state / 2147483647 * (high - low + 1))
end

--- Contexts of decodes and chunks {new, context}; half of the batches have no chunk.
local function random_load(longest)
  local load = { contexts = {}, chunks = {} }
  for i = 1, whole(1, 24) do load.contexts[i] = whole(1, longest) end
  for i = 1, whole(0, 1) * whole(1, 2) do load.chunks[i] = { whole(1, 2000), whole(0, 1) * whole(1, longest) } end
  return load
end

local function batch_of(load)
  local prefills = {}
  for i, chunk in ipairs(load.chunks) do prefills[i] = { new_tokens = chunk[1], context_tokens = chunk[2] } end
  return cost.batch { prefills = prefills, decode_contexts = load.contexts }
end

-- Bounds -------------------------------------------------------------------------------------------

--- A kind as the keys of a model's file; `bounds` is what a window, a chunk or a full layer becomes.
local function plain_kind(kind, bounds)
  return { kind = bounds.kind, window = bounds.window, chunk = bounds.chunk, layers = kind.layers, heads = kind.heads,
           kv_heads = kind.kv_heads, head_dim = kind.head_dim, v_head_dim = kind.v_head_dim }
end

local function with_bounds(name, own, bounds)
  local kinds = {}
  for i, kind in ipairs(own) do
    kinds[i] = plain_kind(kind, (kind.kind == "window" or kind.kind == "chunk") and bounds or { kind = "full" })
  end
  --- A gate is none of a kind that is a file, as chunks are.
  return spec.model { from = name, attention = kinds, name = name, attention_output_gate = false }
end

local function is_bounded(kinds)
  for _, kind in ipairs(kinds) do
    if kind.kind == "window" or kind.kind == "chunk" then return true end
  end
end

local bounded_models = 0
for _, name in ipairs(spec.models()) do
  local kinds = spec.model(name).attention
  if is_bounded(kinds) then
    bounded_models = bounded_models + 1
    test("in " .. name .. " a window or a chunk as wide as the context prices to full attention", function()
      local longest = math.min(spec.model(name).max_model_len, 100000)
      local function bind(bounds, parameters)
        return bound.bind(Kernels(parameters or {}), { model = with_bounds(name, kinds, bounds) })
      end
      local full = bind { kind = "full" }
      --- Wider than every context that may come, and wider than those that come.
      for _, width in ipairs { 2 * spec.model(name).max_model_len, 64000 } do
        local contexts = math.min(longest, width - 4000)
        for _, wide in ipairs { bind { kind = "window", window = width }, bind { kind = "chunk", chunk = width } } do
          for _ = 1, 4 * rounds do
            local batch = batch_of(random_load(contexts))
            test.near(wide:time(batch), full:time(batch), 1e-12)
          end
        end
      end
      --- A narrow window costs no more, and less where contexts are long.
      local narrow, batch = bind { kind = "window", window = 64 }, bound.decodes(64, 60000)
      test.check(narrow:time(batch) < full:time(batch), "the window saves nothing")
    end)
  end
end
test("models with windows and chunks are among the shipped ones", function() test.at_least(bounded_models, 9) end)

-- Work over ranks ----------------------------------------------------------------------------------

-- Operations that every rank runs in full: they are not divided.
local replicated = { router = true, qkv_a = true, kv_a = true, index_q = true, index_k = true, compressor = true,
                     latent_down = true, latent_up = true, index_qk = true, index_scores = true }
-- Divided as far as heads or groups reach: KV heads fewer than ranks are replicated, and so are groups of Mamba2.
local partly = { qkv = true, mamba_in = true, linear_attention = true, o_a = true }

local function work_of(model, options)
  local ok, deployment = pcall(spec.deployment, { model = model, hardware = "b200", kv_blocks = 100, tp = options.tp,
                                                  ep = options.ep, dp = options.dp })
  if not ok then return nil end
  local out = {}
  for i, op in ipairs(cost.layers(model, deployment)) do
    local flop = op.flop_per_row * op.count
    if op.op == "attention_decode" or op.op == "mla_decode" then flop = op.heads * op.count end
    if op.name:match "^[^@]*" == "experts" then flop = flop * op.rows_per_token / (options.ep or 1) end
    out[i] = { name = op.name:match "^[^@]*", full_name = op.name, flop = flop,
               weight_bytes = op.weight_bytes * op.count }
  end
  return out
end

local function by_name(list)
  local out = {}
  for _, each in ipairs(list) do out[each.full_name] = each end
  return out
end

test("ranks conserve flop and weights: each operation is divided, replicated, or between the two", function()
  local compared = 0
  for _, name in ipairs(spec.models()) do
    local model = spec.model(name)
    local alone = by_name(work_of(model, {}))
    for _, options in ipairs { { tp = 2 }, { tp = 4, ep = 4 }, { tp = 8 }, { tp = 8, ep = 2 }, { tp = 8, ep = 8 } } do
      local tp = options.tp
      for _, each in ipairs(work_of(model, options) or {}) do
        local one, where = alone[each.full_name], ("%s: %s at tp %d"):format(name, each.full_name, tp)
        if one and one.flop > 0 and each.name ~= "lm_head" then
          local flop = tp * each.flop / one.flop
          local weights = one.weight_bytes > 0 and tp * each.weight_bytes / one.weight_bytes
          if replicated[each.name] then
            test.near(flop, tp, 1e-12, where)
          elseif partly[each.name] then
            test.check(flop > 1 - 1e-12 and flop <= tp, "%s: %g times", where, flop)
          else
            test.near(flop, 1, 1e-12, where)
            if weights then test.near(weights, 1, 1e-12, where) end
          end
          compared = compared + 1
        elseif each.name == "lm_head" then
          test.check(tp * each.flop >= one.flop and tp * each.flop <= 1.02 * one.flop, where)
        end
      end
    end
  end
  test.at_least(compared, 1500)
end)

test("attention of all ranks has the flop of one rank, and every rank has the whole index", function()
  local function flop_of(name, tp, batch)
    local steps, attention, index = bound.bind(Kernels {}, { model = name, hardware = "b200", tp = tp }), 0, 0
    for _, row in ipairs(cost.explain(function() return steps:time(batch) end).rows) do
      local flop = row.flop * row.count
      if row.name:find "^attention_decode" or row.name:find "^attention_prefill" then attention = attention + flop end
      if row.name:find "^index_scores" then index = index + flop end
    end
    return attention, index
  end
  for _, name in ipairs { "gpt-oss-120b", "deepseek-v3.2", "deepseek-v4-flash", "minimax-m3", "gemma-3-27b", "glm-5.2",
                          "llama-4-scout", "mimo-v2-flash", "qwen3-next-80b-a3b", "granite-4.0-h-small", "kimi-k3" } do
    for _ = 1, 3 * rounds do
      local batch = batch_of(random_load(60000))
      local attention, index = flop_of(name, 1, batch)
      for _, tp in ipairs { 2, 8 } do
        local own, own_index = flop_of(name, tp, batch)
        test.near(tp * own, attention, 1e-9, name)
        test.equal(own_index, index, name)
      end
    end
  end
end)

test("layers with rows of their own window report the work of the window", function()
  local steps = bound.bind(Kernels {}, { model = "gpt-oss-20b", hardware = "h200-sxm",
                                         mfu = rooflua.mfu.open { gpu = "h200-sxm" } })
  for _, row in ipairs(cost.explain(function() return steps:time(bound.decodes(4, 9999)) end).rows) do
    local tokens = row.name == "attention_decode" and 4 * 128 or 4 * 10000
    if row.name:find "^attention_decode" then
      test.equal(row.flop, tokens * 4 * 64 * 64, row.name)
      test.equal(row.bytes, tokens * 2 * 8 * 64 * 2, row.name)
    end
  end
end)

test("an index that selects everything scores nothing, and attention computes with every pair", function()
  for _, name in ipairs { "deepseek-v3.2", "glm-5" } do
    local kind = spec.model(name).attention[1]
    local wide = { kind = "latent_sparse", layers = kind.layers, index_heads = kind.index.heads,
                   index_head_dim = kind.index.head_dim, index_topk = 100000 }
    for key, value in pairs(kind.latent) do wide[key] = value end
    local steps = bound.bind(Kernels {}, { model = spec.model { from = name, attention = { wide } }, hardware = "b200",
                                           deployment = { tp = 8 } })
    for _ = 1, 4 * rounds do
      local load, flop = random_load(60000), 0
      load.chunks = {}
      for _, context in ipairs(load.contexts) do flop = flop + context + 1 end
      flop = flop * 2 * kind.heads / 8 * (2 * kind.latent.kv_lora_rank + kind.latent.qk_rope_head_dim)
      for _, row in ipairs(cost.explain(function() return steps:time(batch_of(load)) end).rows) do
        test.check(not row.name:find "^index_scores", "the index scores")
        if row.name == "attention_decode" and row.note:find "grid" then test.at_least(row.flop * (1 + 1e-9), flop) end
      end
    end
  end
end)

-- More tokens --------------------------------------------------------------------------------------

local function grown(load)
  local which = whole(1, 4)
  if which == 1 then load.contexts[#load.contexts + 1] = whole(1, 30000) end
  if which == 2 then
    local i = whole(1, #load.contexts)
    load.contexts[i] = load.contexts[i] + whole(1, 5000)
  end
  if which == 3 then load.chunks[#load.chunks + 1] = { whole(1, 500), whole(0, 5000) } end
  if which == 4 then
    for i = 1, #load.contexts do load.contexts[i] = load.contexts[i] + whole(0, 300) end
  end
end

test("where every context is known, more requests and longer ones never cost less", function()
  local tried = 0
  for _, name in ipairs(spec.models()) do
    local model = spec.model(name)
    if model.context_chunk == 0 and not model.uniform then  -- a chunk begins anew: a longer context may cost less
      for _, gpu in ipairs { "b200", "h200-sxm" } do
        local ok, steps = pcall(bound.bind, Kernels {}, { model = model, hardware = gpu, tp = 8,
                                                          mfu = rooflua.mfu.open { gpu = gpu } })
        local load = ok and random_load(30000)
        local before_s = ok and steps:time(batch_of(load))
        for _ = 1, ok and 12 * rounds or 0 do
          grown(load)
          local after_s = steps:time(batch_of(load))
          test.check(after_s >= before_s * (1 - 1e-9), "%s on %s: %.9g after %.9g ms", name, gpu, after_s * 1e3,
            before_s * 1e3)
          before_s, tried = after_s, tried + 1
        end
      end
    end
  end
  test.at_least(tried, 500)
end)

test.finish()
