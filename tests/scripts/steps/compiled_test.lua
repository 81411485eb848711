-- Warm step models and bucketing policies run in compiled code: the compiler gives up no trace.
local test = dofile "tests/scripts/harness.lua"
local aborts = dofile "tests/scripts/aborts.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local batch = require("rooflua").cost.batch

local warm_up, measured = 6000, 6000

--- Whether a line names something that the compiler can never compile. Such a place becomes "blacklisted": it is
--- interpreted from then on, without further messages.
local function hopeless(line)
  if line:find("rooflua.border.ledger", 1, true) then return false end
  if line:find "bytecode" or line:find "mixed sparse" or line:find "blacklisted" or line:find "meta.__call" then
    return true
  end
  -- Snapshots, spill slots: too much in one trace. It depends on which branches came first; the compiler tries again
  -- with others, and gives the place up after about ten of them.
  return line:find "too many" and tonumber(line:match "%((%d+) times%)") >= 10
end

--- Repeats `call(count)`. At first the compiler may abort traces, but none for such a reason; later it aborts none.
--- @return string|nil what was not compiled
local function interpreted(call)
  for _ = 1, 2 do
    for _, line in ipairs(aborts.of(call, warm_up).lines) do
      if hopeless(line) then return line end
    end
  end
  local found = aborts.of(call, measured)
  return found.aborts > 0 and table.concat(found.lines, "; ") or nil
end

--- Which traces come first depends on counters that the compiler hashes by address. A few starts in a hundred end in
--- traces that do not fit together, so that a second and a third start from nothing count too.
local function stays_compiled(call)
  local problem
  for _ = 1, 3 do
    problem = interpreted(call)
    if not problem then return end
    jit.flush()
  end
  test.check(false, problem)
end

local batches = { decode = {}, contexts = {}, prefill = {}, mixed = {} }
for i = 1, 60 do
  local prefills, contexts = {}, {}
  for j = 1, 1 + i % 5 do
    prefills[j] = { new_tokens = 100 + (i * 97 + j * 513) % 3000, context_tokens = (i * 31 + j * 7) % 2000 }
  end
  for j = 1, 16 do contexts[j] = 500 + (i * 37 + j * 101) % 3000 end
  batches.decode[i] = batch { decodes = 8 + i % 4, decode_context_tokens = (8 + i % 4) * 1000 + i * 7 }
  batches.contexts[i] = batch { decode_contexts = contexts }
  batches.prefill[i] = batch { prefills = prefills }
  batches.mixed[i] = batch { prefills = prefills, decodes = 8, decode_context_tokens = 8000 + i * 7 }
end

local function prices(name, parameters, kind)
  local steps = bound.bind(require("steps." .. name)(parameters), { hardware = "h200-sxm" })
  local list, sum = batches[kind], 0
  return function(count)
    for i = 1, count do sum = sum + steps:time(list[i % #list + 1]) end
    return sum
  end
end

for _, name in ipairs { "roofline_v1", "roofline_v2", "infersim" } do
  for _, kind in ipairs { "decode", "prefill", "mixed" } do
    test(("%s prices %s batches in compiled code"):format(name, kind), function()
      stays_compiled(prices(name, {}, kind))
    end)
  end
end

for _, kind in ipairs { "decode", "contexts" } do
  test(("roofline_v2 with a context per request prices %s batches in compiled code"):format(kind), function()
    stays_compiled(prices("roofline_v2", { decode_context = "per_request" }, kind))
  end)
end

for _, bucketing in ipairs { "exact", "pow2", "fused", "quantile" } do
  test(bucketing .. " groups prefills in compiled code", function()
    stays_compiled(prices("roofline_v2", { bucketing = bucketing }, "prefill"))
  end)
end

for _, model in ipairs { "qwen3-8b", "qwen3-30b-a3b", "deepseek-v3" } do
  test(("a sweep of InferSim's static model for %s is one trace"):format(model), function()
    local steps = bound.bind(require "steps.infersim" { device = "H20", world_size = 4 },
      { model = model, hardware = "h20", deployment = { weights = "fp8" } })
    local load, sum = steps:load(), 0
    stays_compiled(function(count)
      for i = 1, count do
        load.decode_batch, load.isl, load.max_prefill_tokens = 1 + i % 31, 100 * (1 + i % 16), 1024 * (1 + i % 3)
        local run = steps:evaluate(load)
        sum = sum + run.decode.total_s + run.prefill.total_s
      end
      return sum
    end)
  end)
end

for _, model in ipairs { "qwen3-8b", "qwen3-30b-a3b", "deepseek-v3" } do
  test(("so is one of %s where no table was asked before"):format(model), function()
    local steps = bound.bind(require "steps.infersim" { device = "H20", world_size = 4 },
      { model = model, hardware = "h20", deployment = { weights = "fp8" } })
    local load, sum, asked = steps:load(), 0, 0
    stays_compiled(function(count)
      for i = asked + 1, asked + count do
        load.decode_batch, load.isl, load.max_prefill_tokens = i, 64 + i, 2048 + i
        local run = steps:evaluate(load)
        sum = sum + run.decode.total_s + run.prefill.total_s
      end
      asked = asked + count
      return sum
    end)
  end)
end

test.finish()
