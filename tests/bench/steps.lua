-- ns per steps:time(batch) from a compiled loop, and ns per static InferSim evaluation.
--   rooflua lua tests/bench/steps.lua           from the source tree; medians over processes are yours
-- Batches take turns, more than twice as many as a database remembers answers (1,024). So few answers about attention
-- are remembered; GEMMs repeat, as in a run. After each figure stand the aborted traces of the warm-up and of the
-- measurement; their places are listed at the end. At last a constant of a Lua file is changed in a copy, and the
-- price changes: nothing native replaces the file.
local rooflua = require "rooflua"
local aborts = dofile "tests/scripts/aborts.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local batch = rooflua.cost.batch

local rounds = 7
local turns = 2500 -- batches that take turns
local places = {}

local function add_places(name, found)
  for _, line in ipairs(found.lines) do places[#places + 1] = ("%-36s %s"):format(name, line) end
end

--- Prints the least CPU time per call of `call(count)` over the rounds, after a first round that is not counted.
--- @param prepare function|nil before each round, not measured
local function best_of(name, what, count, call, prepare)
  local best, found = math.huge, {}
  for round = 0, rounds do
    if prepare then prepare() end
    local start = os.clock()
    found[round] = aborts.of(call, count)
    if round > 0 then best = math.min(best, (os.clock() - start) / count) end
    add_places(name, found[round])
  end
  local measured = 0
  for round = 1, rounds do measured = measured + found[round].aborts end
  print(("%-48s %-26s %8.1f ns   aborts: %d warming up, %d measured"):format(name, what, best * 1e9,
    found[0].aborts, measured))
end

local function decode_batches(n, per_request)
  local list = {}
  for i = 1, per_request and turns / 10 or turns do
    if per_request then
      local contexts = {}
      for j = 1, n do contexts[j] = 500 + (i * 37 + j * 101) % 5003 end
      list[i] = batch { decode_contexts = contexts }
    else
      list[i] = batch { decodes = n, decode_context_tokens = n * 1000 + i * 7 }
    end
  end
  return list
end

local function measure(name, steps, n, per_request)
  local list, sum = decode_batches(n, per_request), 0
  best_of(name, ("%5d decodes"):format(n), per_request and 10000 or 200000, function(count)
    for i = 1, count do sum = sum + steps:time(list[i % #list + 1]) end
  end)
  assert(sum > 0)
end

--- Up to 5 prompts of a step, some with prior context.
local function measure_prefills(name, steps)
  local list, sum = {}, 0
  for i = 1, turns do
    local prefills = {}
    for j = 1, 1 + i % 5 do
      prefills[j] = { new_tokens = 100 + (i * 97 + j * 513) % 3000, context_tokens = (i * 31 + j * 7) % 2000 }
    end
    list[i] = batch { prefills = prefills }
  end
  best_of(name, "  1 to 5 prefills", 20000, function(count)
    for i = 1, count do sum = sum + steps:time(list[i % #list + 1]) end
  end)
  assert(sum > 0)
end

local given = { hardware = "h200-sxm" }
for _, name in ipairs { "kernels", "roofline_v1", "roofline_v2", "infersim" } do
  local parameters = name == "roofline_v2" and { decode_context = "mean" } or {}
  local steps = bound.bind(require("steps." .. name)(parameters), given)
  for _, n in ipairs { 16, 256, 4096 } do measure(name, steps, n) end
end
local per_request = bound.bind(require "steps.roofline_v2" { decode_context = "per_request" }, given)
measure("roofline_v2, a context per request", per_request, 256, true)
for _, bucketing in ipairs { "exact", "pow2", "fused", "quantile" } do
  local steps = bound.bind(require "steps.roofline_v2" { bucketing = bucketing }, given)
  measure_prefills("roofline_v2, " .. bucketing, steps)
end

--- One evaluation of InferSim's static model: isl, decode batch and prefill budget change in every call, and every
--- number that InferSim prints is computed again, in seconds and bytes. `seen`: the answer for each GEMM is
--- remembered; `first`: none is. The last figure includes the report with InferSim's names and units.
--- @param tables string name to print
--- @param mfu table|nil options of mfu.open; nil: the GPU's own tables, of which there are none: all is modelled
local function measure_static(model, tables, mfu)
  local name, sum, steps, load = ("infersim static, %s, %s"):format(model, tables), 0, nil, nil
  local function bind()
    steps = bound.bind(require "steps.infersim" { device = "H20", world_size = 4 },
      { model = model, hardware = "h20", mfu = rooflua.mfu.open(mfu or "h20"), deployment = { weights = "fp8" } })
    load = steps:load()
  end
  local function sweep(count)
    for i = 1, count do
      load.decode_batch, load.isl, load.max_prefill_tokens = 1 + i % 251, 100 * (1 + i % 64), 1024 * (1 + i % 5)
      local run = steps:evaluate(load)
      sum = sum + run.decode.total_s + run.prefill.total_s
    end
  end
  local function sweep_anew(count)
    for i = 1, count do
      load.decode_batch, load.isl, load.max_prefill_tokens = i, 64 + i, 2048 + i
      local run = steps:evaluate(load)
      sum = sum + run.decode.total_s + run.prefill.total_s
    end
  end
  bind()
  best_of(name, "  seen", 500000, sweep)
  best_of(name, "  first", 40000, sweep_anew, bind)
  best_of(name, "  static(), 2 labels read", 100000, function(count)
    for i = 1, count do
      load.isl, load.decode_batch = 100 * (1 + i % 64), 1 + i % 251
      local values = steps:static(load).values
      sum = sum + values["prefill/TTFT (ms)"] + values["decode/TPOT (ms)"]
    end
  end)
  assert(sum > 0)
end
local published = "../shared/data/tables/infersim/bench_data"
local found = io.open(published .. "/gemm/h20/data.csv")
if found then found:close() else print("SKIPPED: InferSim's own tables: " .. published .. " is not there") end
for _, model in ipairs { "qwen3-8b", "qwen3-30b-a3b", "deepseek-v3" } do
  measure_static(model, "modelled")
  for _, lookup in ipairs(found and { "infersim_head", "latency_linear" } or {}) do
    measure_static(model, lookup, { path = published, layout = "infersim", gpu = "h20", lookup = lookup })
  end
end

print "\nwhere the compiler gave up:"
print(#places > 0 and table.concat(places, "\n") or "nowhere")

local function price_with(edit)
  local file = assert(io.open "scripts/steps/roofline_v1.lua")
  local text = file:read "*a"
  file:close()
  local changed, count = text:gsub(edit[1], edit[2])
  assert(count > 0, "the constant to edit is not there")
  local class = assert(loadstring(changed, "@edited.lua"))()
  return bound.bind(class {}, given):time(bound.decodes(256, 1000))
end
local constant = "step_overhead_s = { default = 0%.0"
local before, after = price_with { constant, "step_overhead_s = { default = 0.0" },
  price_with { constant, "step_overhead_s = { default = 0.001" }
print(("a constant edited in roofline_v1.lua: %.6g s becomes %.6g s"):format(before, after))
assert(before ~= after)
