-- The law of steps/kernels, at random: one more decode, a longer context, one more prompt or more of its
-- tokens never make a step cheaper. Every model that ships on GPUs that ship, with and without shipped tables, and
-- every measured table beside the repository; parameters at their defaults and at random.
-- A step of decodes above the largest captured size is launched kernel by kernel. Its first prompt may make it cheaper
-- where steps with prompts have larger graphs of their own: these two steps are not compared.
-- With shipped tables a step may fall by a ten-thousandth: collectives are faster at some sizes between those that are
-- tried as padding, and prompts of windows are a part of a call whose time has steps.
-- ROOFLUA_LAW_ROUNDS=20 draws twenty times as many.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local Kernels = require "steps.kernels"

local tolerance, tolerance_of_tables = 1e-9, 1e-4
local rounds = tonumber(os.getenv "ROOFLUA_LAW_ROUNDS" or 1)

-- Random batches that grow ---------------------------------------------------------------------

local state = 20261121

--- A whole number from low to high, from a fixed generator, so that a failure can be repeated.
local function whole(low, high)
  state = (state * 16807) % 2147483647
  return low + math.floor(state / 2147483647 * (high - low + 1))
end

local function one_of(list) return list[whole(1, #list)] end

--- A length with a uniform logarithm: short and long lengths are equally frequent by octaves.
local function length(most)
  local high = 2 ^ whole(0, math.floor(math.log(most) / math.log(2)))
  return whole(math.floor(high / 2), math.min(most, 2 * high))
end

local function sum(list)
  local total = 0
  for i = 1, #list do total = total + list[i] end
  return total
end

--- A batch as contexts of decodes and chunks {new, context}.
local function random_load()
  local load = { contexts = {}, chunks = {} }
  local kind = whole(1, 4)
  if kind ~= 1 then
    local longest = one_of { 300, 3000, 30000 }
    for i = 1, length(one_of { 4, 40, 256 }) do load.contexts[i] = length(longest) end
  end
  if kind == 1 or kind == 4 then
    for i = 1, whole(1, 3) do
      load.chunks[i] = { math.max(1, length(2048)), whole(0, 1) * length(20000) }
    end
  end
  return load
end

local function batch_of(load)
  local prefills = {}
  for i, chunk in ipairs(load.chunks) do prefills[i] = { new_tokens = chunk[1], context_tokens = chunk[2] } end
  return cost.batch { prefills = prefills, decodes = #load.contexts, decode_context_tokens = sum(load.contexts) }
end

local function text_of(load)
  local chunks = {}
  for i, chunk in ipairs(load.chunks) do chunks[i] = chunk[1] .. "@" .. chunk[2] end
  return ("%d decodes of %d tokens, chunks {%s}"):format(#load.contexts, sum(load.contexts), table.concat(chunks, " "))
end

--- Ways to make a batch larger. Each changes the load and returns a description; nil: it does not apply.
local growths = {
  function(load)
    local n, context = one_of { 1, 1, 2, 17 }, one_of { 0, 1, length(30000) }
    for _ = 1, n do load.contexts[#load.contexts + 1] = context end
    return ("%d more decodes at %d"):format(n, context)
  end,
  function(load)
    if #load.contexts == 0 then return nil end
    local more = length(one_of { 2, 300, 30000 })
    local i = whole(1, #load.contexts)
    load.contexts[i] = load.contexts[i] + more
    return ("a context longer by %d"):format(more)
  end,
  function(load)
    local more = length(one_of { 3, 300, 3000 })
    for i = 1, #load.contexts do load.contexts[i] = load.contexts[i] + more end
    return ("contexts longer by %d"):format(more)
  end,
  function(load)
    local chunk = { math.max(1, length(1024)), whole(0, 1) * length(20000) }
    local place = whole(1, #load.chunks + 1)
    table.insert(load.chunks, place, chunk)
    return ("chunk %d@%d at place %d"):format(chunk[1], chunk[2], place)
  end,
  function(load)
    if #load.chunks == 0 then return nil end
    local chunk = one_of(load.chunks)
    local more = length(one_of { 2, 200, 2000 })
    chunk[1] = chunk[1] + more
    return ("%d more new tokens"):format(more)
  end,
  function(load)
    if #load.chunks == 0 then return nil end
    local chunk = one_of(load.chunks)
    local more = length(one_of { 2, 300, 20000 })
    chunk[2] = chunk[2] + more
    return ("%d more tokens before a chunk"):format(more)
  end,
}

--- Seconds by operation, for the message of a failure.
local function by_name(steps, batch)
  local out = {}
  for _, row in ipairs(cost.explain(function() return steps:time(batch) end).rows) do
    out[row.name] = (out[row.name] or 0) + row.time_s * row.count
  end
  return out
end

local function what_fell(steps, before, after)
  local old, new, list = by_name(steps, before), by_name(steps, after), {}
  for name, time_s in pairs(old) do
    local fell = time_s - (new[name] or 0)
    if fell > 0 then list[#list + 1] = ("%s -%.3g us"):format(name, fell * 1e6) end
  end
  table.sort(list)
  return table.concat(list, ", ")
end

--- Whether an engine could run the step: within its seats and its token budget.
local function fits(steps, batch)
  return batch.requests <= steps.limits.seats and batch.tokens <= steps.limits.tokens
end

--- Whether a step is one of prompts to an engine: a chunk of one token runs as a decode does.
local function has_prompts(load)
  for _, chunk in ipairs(load.chunks) do
    if chunk[1] > 1 then return true end
  end
  return false
end

--- Grows one batch many times. Returns how often the price fell, by how much at most, and a text of that case.
local function grow(steps, label, worst, times, tolerated)
  tolerated = tolerated or tolerance
  local load = random_load()
  if #load.contexts + #load.chunks == 0 then load.contexts[1] = 100 end
  local before = batch_of(load)
  if not fits(steps, before) then return end
  for _ = 1, times do
    local old, had_prompts = text_of(load), has_prompts(load)
    local which = whole(1, #growths)
    local done = growths[which](load)
    if done then
      local after = batch_of(load)
      if not fits(steps, after) then return end
      local before_s, after_s = steps:time(before), steps:time(after)
      worst.tried = worst.tried + 1
      local has_other_graphs = not had_prompts and has_prompts(load) and before.tokens > steps.graph_tokens
        and steps.prefill_graph_tokens > steps.graph_tokens
      local fell = has_other_graphs and 0 or 1 - after_s / before_s
      if fell > tolerated then worst.found = worst.found + 1 end
      if fell > tolerated and fell > worst.fell then
        worst.fell = fell
        worst.text = ("%s: %s, %s: %.9g -> %.9g ms (%s)"):format(label, old, done, before_s * 1e3, after_s * 1e3,
          what_fell(steps, before, after))
      end
      before = after
    end
  end
end

local function random_parameters()
  if whole(1, 2) == 1 then return {} end
  return {
    overlap = one_of { 0.0, 0.5, 1.0 }, largest_graph = one_of { 0, 64, 512 },
    attention_launch_s = one_of { 0.0, 8e-6, 4e-5 },
    small_kernel_tables = one_of { true, false }, sorted_logit_s = one_of { 0.0, 1.4e-10 },
    host_step_s = one_of { 0.0, 700e-6 },
  }
end

local function verdict(worst, least)
  test.at_least(worst.tried, least, "steps that were priced")
  test.check(worst.found == 0, "%d of %d fell, the worst by %.3g: %s", worst.found, worst.tried, worst.fell, worst.text)
end

local function fresh() return { tried = 0, found = 0, fell = 0, text = "" } end

-- Data -----------------------------------------------------------------------------------------

local gpus = { "a100-sxm-80gb", "b200", "b300", "gb200", "h100-sxm", "h20", "h200-sxm", "h800", "l40s", "mi300x",
  "rtx-pro-6000" }

local opened = {}
--- The shipped tables of a GPU, from which an engine's rows are taken first; a fifth of the draws has no tables.
local function shipped(gpu)
  local engine = one_of { "vllm", "sglang", "trtllm" }
  if whole(1, 5) == 1 then return bound.modelled(gpu), "modelled" end
  opened[gpu .. engine] = opened[gpu .. engine] or rooflua.mfu.open { gpu = gpu, engine = engine }
  return opened[gpu .. engine], engine
end

--- A hybrid model; rooflua ships none.
local hybrid = "tests/fixtures/models/small_hybrid.json"

--- A step model drawn at random and bound; nil if the model cannot run so (ranks, experts, formats).
local function random_steps(model, gpu, mfu)
  local given = { model = model, hardware = gpu, tp = one_of { 1, 2, 4, 8 }, mfu = mfu, async_depth = whole(1, 2) }
  given.deployment = { max_num_batched_tokens = one_of { 2048, 8192 } }
  if whole(1, 4) == 1 then given.deployment.kv = "fp8" end
  if whole(1, 2) == 1 then given.deployment.weights = one_of { "fp8", "fp8", "fp8_block", "nvfp4", "mxfp4" } end
  local parameters = random_parameters()
  local ok, steps = pcall(function() return bound.bind(Kernels(parameters), given) end)
  local label = ("%s tp%d on %s, %s weights, %s KV, overlap %s"):format(model, given.tp, gpu,
    given.deployment.weights or "own", given.deployment.kv or "own", parameters.overlap or "default")
  if not ok then return nil end
  steps.limits = { seats = 256, tokens = given.deployment.max_num_batched_tokens }
  return steps, label
end

--- Attention in chunks begins anew in each of them: a longer context may cost less.
local function begins_anew(model) return rooflua.spec.model(model).context_chunk > 0 end

for _, model in ipairs { hybrid, unpack(rooflua.spec.models()) } do
  if not begins_anew(model) then
    test("with shipped data a step of " .. model .. " never costs less for more", function()
      local worst, bound_ones = fresh(), 0
      for _ = 1, 24 * rounds do
        local gpu = one_of(gpus)
        local mfu, tables = shipped(gpu)
        local steps, label = random_steps(model, gpu, mfu)
        if steps and bound_ones < 6 * rounds then
          bound_ones = bound_ones + 1
          for _ = 1, 4 do grow(steps, label .. ", " .. tables, worst, 8, tolerance_of_tables) end
        end
      end
      verdict(worst, 50)
    end)
  end
end

test("one more decode costs no less where a GEMM's rows are less the quantisation that they contain", function()
  local tried = 0
  for _, gpu in ipairs { "b200", "gb200", "h100-sxm", "h200-sxm" } do
    local mfu = rooflua.mfu.open { gpu = gpu, engine = "trtllm" }
    for _, model in ipairs { "qwen3-32b", "mistral-7b", "llama-3.1-8b", "llama-3.3-70b" } do
      for _, tp in ipairs { 1, 2, 4, 8 } do
        local steps = bound.bind(Kernels {}, { model = model, hardware = gpu, tp = tp, mfu = mfu,
          deployment = { weights = "fp8" } })
        local before_s = 0
        for n = 1, 40 do
          local time_s = steps:time(bound.decodes(n, 1000))
          if time_s < before_s * (1 - tolerance_of_tables) then
            test.check(false, "%s tp%d on %s: %.9g ms after %.9g with %d decodes", model, tp, gpu, time_s * 1e3,
              before_s * 1e3, n)
          end
          before_s, tried = time_s, tried + 1
        end
      end
    end
  end
  test.equal(tried, 4 * 4 * 4 * 40)
end)

--- Every set of measured tables, and models that have rows in it. (Tables of llmservingsim hold times of whole
--- layers; no layout reads them.)
local sets = {
  { path = "tables/aic", layout = "aic", gpu = "h100_sxm", hardware = "h100-sxm" },
  { path = "tables/aic", layout = "aic", gpu = "h200_sxm", hardware = "h200-sxm" },
  { path = "tables/blis_h100/bench_data", layout = "blis", gpu = "h100", hardware = "h100-sxm" },
  { path = "tables/infersim/bench_data", layout = "infersim", gpu = "h20", hardware = "h20" },
  { path = "tables/infersim/bench_data", layout = "infersim", gpu = "h800", hardware = "h800" },
  { path = "tables/infersim_floor/bench_data", layout = "infersim", gpu = "h20", hardware = "h20" },
  { path = "tables/infersim_floor/bench_data", layout = "infersim", gpu = "h800", hardware = "h800" },
}
local measured_models = {
  "llama-3.1-8b", "llama-2-7b", "llama-2-70b", "qwen3-8b", "qwen3-14b", "qwen3-30b-a3b", "qwen3-235b-a22b",
  "mixtral-8x7b", "codellama-34b", "deepseek-v3", hybrid,
}

for _, set in ipairs(sets) do
  test(("with %s of %s a step never costs less for more"):format(set.path, set.gpu), function()
    local mfu = rooflua.mfu.open { path = test.shared(set.path), layout = set.layout, gpu = set.gpu,
                                   hardware = set.hardware }
    local worst = fresh()
    for _, model in ipairs(measured_models) do
      for _ = 1, 3 * rounds do
        local steps, label = random_steps(model, set.hardware, mfu)
        if steps then
          for _ = 1, 4 do grow(steps, label, worst, 8) end
        end
      end
    end
    verdict(worst, 500)
  end)
end

test.finish()
