-- Experts that drift: their popularity, and what an engine is told of them as its steps go by.
local test = dofile "tests/scripts/harness.lua"
local placement = require "rooflua.machine.experts.placement"
local policy = require "rooflua.policy"
local popularity = require "rooflua.machine.experts.popularity"
local running = require "rooflua.machine.experts.running"

local shape_of = dofile "tests/scripts/experts/shape.lua"
local eplb = require "balancers.eplb" {}

test("drift changes which experts are popular, and not how popular they are", function()
  local given = { experts = 40, layers = 4, zipf = 0.7, seed = 3 }
  local state = popularity.new(given)
  local first = state.weights
  popularity.advance(state, given, 0.5)
  local changed = 0
  for layer = 1, 4 do
    local a, b = {}, {}
    for e = 1, 40 do
      a[e], b[e] = first[layer][e], state.weights[layer][e]
      changed = changed + (a[e] ~= b[e] and 1 or 0)
    end
    table.sort(a)
    table.sort(b)
    for e = 1, 40 do test.equal(b[e], a[e]) end
  end
  test.check(changed > 80, "only %d of 160 changed", changed)
  test.check(first[1][1] ~= first[2][1] or first[1][2] ~= first[2][2], "layers are alike")
end)

test("scores have variance 1 at any time, and a correlation of 1/e after the time of the drift", function()
  local given = { experts = 2000, layers = 1, zipf = 1, seed = 5 }
  local state, before = popularity.new(given), {}
  for e = 1, 2000 do before[e] = state.scores[1][e] end
  for _ = 1, 10 do popularity.advance(state, given, 0.1) end
  local square, product = 0, 0
  for e = 1, 2000 do
    square, product = square + state.scores[1][e] ^ 2, product + state.scores[1][e] * before[e]
  end
  test.near(square / 2000, 1, 0.1)
  test.near(product / 2000, math.exp(-1), 0.15)
end)

--- An engine that is asked step by step, with what it was told.
local function told(balancer, given, steps)
  local shape = given.shape or shape_of(16, 0, 4)
  local instance = running.new({ shape }, given, balancer)
  local next_of, out, left, run = running.next_of(instance), {}, 0, 0
  for step = 1, steps do
    if left == 0 then
      local load, stall_s, bytes, rebalanced
      left, load, stall_s, bytes, rebalanced = next_of(1, step, run, run * 100)
      out[#out + 1] = { step = step - 1, load = load, stall_s = stall_s, bytes = bytes, rebalanced = rebalanced }
      run = 0
    end
    left, run = left - 1, run + 1
  end
  return out, instance
end

local drifting = { zipf = 0.8, drift = 500, unit = "steps", update_steps = 100, seed = 2 }
local still = { zipf = 0.8, update_steps = 100, seed = 2 }

--- A number of a list, added up.
local function sum(list, name)
  local out = 0
  for _, each in ipairs(list) do out = out + each[name] end
  return out
end

test("an interval beyond the end is as never", function()
  local never = told(require "balancers.never" {}, drifting, 3000)
  local eternal = told(require "balancers.eplb" { step_interval = 1e9 }, drifting, 3000)
  test.equal(#eternal, #never)
  for i, each in ipairs(never) do
    for key, value in pairs(each) do test.equal(eternal[i][key], value, key) end
  end
  test.equal(sum(never, "bytes"), 0)
end)

test("without a drift nothing is asked again, unless a balancer acts", function()
  test.equal(#told(require "balancers.never" {}, still, 5000), 1)
  local acts = told(require "balancers.eplb" { step_interval = 1000, head_start = 0 }, still, 5000)
  test.equal(#acts, 5)
  test.check(acts[1].load > acts[2].load, "no better")
  test.equal(acts[2].bytes > 0, true)
  test.equal(acts[3].bytes, 0, "the same tokens, the same place")
end)

test("the first rebalancing comes early by the head start", function()
  local acts = told(require "balancers.eplb" { step_interval = 1000 }, still, 3000)
  test.equal(acts[2].step, 250)
  test.equal(acts[3].step, 1250)
end)

test("layers move in chunks, each in front of a step, and the sum is what moves at once", function()
  local function of(chunk)
    local balancer = require "balancers.eplb" { step_interval = 1000, head_start = 0, layers_per_chunk = chunk }
    return told(balancer, still, 1900)
  end
  local whole, parts = of(0), of(1)
  test.equal(#whole, 2)
  test.equal(#parts, 4)
  test.equal(sum(parts, "bytes"), sum(whole, "bytes"))
  test.near(sum(parts, "stall_s"), sum(whole, "stall_s"), 1e-12)
  test.equal(parts[4].load, whole[2].load)
  test.equal(parts[3].rebalanced, false)
end)

test("moves beside steps take the same bytes and no step waits", function()
  local at_once = told(require "balancers.eplb" { step_interval = 1000, head_start = 0, host_s = 2 }, still, 1900)
  local beside = told(require "balancers.eplb" { step_interval = 1000, head_start = 0, use_async = "yes" }, still, 1900)
  test.equal(sum(beside, "bytes"), sum(at_once, "bytes"))
  test.equal(sum(beside, "stall_s"), 0)
  test.check(sum(at_once, "stall_s") > 2, "no host time")
end)

test("a stall is the experts of the busiest rank over its link, layer by layer", function()
  local shape = shape_of(4, 0, 2, { layers = 1, expert_bytes = 1e6, link_bytes_per_s = 1e9 })
  local Exchange = policy.define { name = "exchange", doc = "Two experts change places.", params = {} }
  function Exchange:schedule()
    return { first_steps = 1, interval_steps = 1000, window_steps = 10, layers_per_chunk = 0, hidden = false,
      host_s = 0 }
  end
  function Exchange:place() return { 3, 2, 1, 4 } end
  local given = { zipf = 1, update_steps = 1, seed = 1, shape = shape }
  local acts = told(Exchange {}, given, 2)
  test.equal(acts[2].bytes, 2e6)
  test.near(acts[2].stall_s, 1e6 / 1e9, 1e-12)
end)

test("a balancer that keeps experts where tokens are even enough does nothing", function()
  local acts = told(require "balancers.eplb" { step_interval = 1000, max_utilization = 0 }, still, 5000)
  test.equal(sum(acts, "bytes"), 0)
  for _, each in ipairs(acts) do test.equal(each.rebalanced, false) end
end)

test("a balancer sees the tokens of its window, and all of them", function()
  local seen = {}
  local Counts = policy.define { name = "counts", doc = "It counts.", params = {} }
  function Counts:schedule()
    return { first_steps = 700, interval_steps = 700, window_steps = 250, layers_per_chunk = 0, hidden = false,
      host_s = 0 }
  end
  function Counts:place(counts, shape)
    local all = 0
    for e = 1, shape.experts do all = all + counts[e] end
    seen[#seen + 1] = all
    return placement.first(shape)
  end
  told(Counts {}, drifting, 1500)
  test.equal(#seen, 6, "two rebalancings of three layers")
  for _, each in ipairs(seen) do test.near(each, 2 * 100 * 250, 1e-9) end
end)

test("a wrong placement is an error that names the balancer", function()
  local Wrong = policy.define { name = "wrong", doc = "Forgets experts.", params = {} }
  function Wrong:schedule() return eplb:schedule(shape_of(8, 0, 4)) end
  function Wrong:place() return { 1, 2 } end
  test.raises("has 2 slots; 16 are right", function() told(Wrong {}, still, 1000) end)
end)

test("the same seed gives the same course, another one another", function()
  local a, b = told(eplb, drifting, 4000), told(eplb, drifting, 4000)
  local c = told(eplb, { zipf = 0.8, drift = 500, unit = "steps", update_steps = 100, seed = 9 }, 4000)
  for i, each in ipairs(a) do test.equal(b[i].load, each.load) end
  test.check(c[1].load ~= a[1].load, "seeds do nothing")
end)

test("drift goes by steps, tokens or seconds", function()
  local function load_of(unit, drift)
    local out = told(require "balancers.never" {}, { zipf = 0.8, drift = drift, unit = unit, update_steps = 100,
      seed = 2 }, 400)
    return out[#out].load
  end
  test.equal(load_of("tokens", 50000), load_of("steps", 500))
  test.equal(load_of("s", 500), load_of("s", 500))
  test.check(load_of("steps", 500) ~= load_of("steps", 5000), "the pace does nothing")
end)

test.finish()
