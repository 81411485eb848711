-- ns per steps:time(batch) from a compiled loop, and us per static InferSim evaluation.
--   rooflua lua tests/bench/steps.lua           from the source tree; medians over processes are yours
-- Contexts differ in every call, so that no answer is remembered. At the end a constant of a Lua file is
-- edited in a copy and the price changes: nothing native stands in for it.
local rooflua = require "rooflua"
local bound = dofile "tests/scripts/bound_steps.lua"
local batch = rooflua.cost.batch

local function best_of(rounds, count, call)
  local best = math.huge
  for _ = 1, rounds do
    local start = os.clock()
    call(count)
    best = math.min(best, (os.clock() - start) / count)
  end
  return best
end

local function decode_batches(n, per_request)
  local list = {}
  for i = 1, 200 do
    if per_request then
      local contexts = {}
      for j = 1, n do contexts[j] = 500 + (i * 37 + j * 101) % 3000 end
      list[i] = batch { decode_contexts = contexts }
    else
      list[i] = batch { decodes = n, decode_context_tokens = n * 1000 + i * 7 }
    end
  end
  return list
end

local function measure(name, steps, n, per_request)
  local list, sum = decode_batches(n, per_request), 0
  local seconds = best_of(7, per_request and 4000 or 100000, function(count)
    for i = 1, count do sum = sum + steps:time(list[i % 200 + 1]) end
  end)
  assert(sum > 0)
  print(("%-36s %5d decodes %8.1f ns"):format(name, n, seconds * 1e9))
end

local given = { hardware = "h200-sxm" }
for _, name in ipairs { "kernels", "roofline_v1", "roofline_v2", "infersim" } do
  local parameters = name == "roofline_v2" and { decode_context = "mean" } or {}
  local steps = bound.bind(require("steps." .. name)(parameters), given)
  for _, n in ipairs { 16, 256, 4096 } do measure(name, steps, n) end
end
local per_request = bound.bind(require "steps.roofline_v2" { decode_context = "per_request" }, given)
measure("roofline_v2, a context per request", per_request, 256, true)

for _, model in ipairs { "qwen3-8b", "qwen3-30b-a3b", "deepseek-v3" } do
  local static = bound.bind(require "steps.infersim" { device = "H20", world_size = 4 },
    { model = model, hardware = "h20", deployment = { weights = "fp8" } })
  local seconds = best_of(7, 20000, function(count) for _ = 1, count do static:static() end end)
  print(("%-36s %22.2f us"):format("infersim static, " .. model, seconds * 1e6))
end

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
