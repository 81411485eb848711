-- Experts that drift and move: laws of popularity, placements and balancers on random numbers, and of what an engine is
-- told. What a run says of them: experts_runs_test.lua.
local test = dofile "tests/scripts/harness.lua"
local placement = require "rooflua.experts.placement"
local policy = require "rooflua.policy"
local popularity = require "rooflua.experts.popularity"
local random = require "rooflua.random"
local running = require "rooflua.experts.running"

local draws = random.streams(11):stream "experts"

--- Experts, copies and ranks that divide evenly; links of which the network is slower.
local function shape_of(experts, redundant, ranks, more)
  local out = { experts = experts, redundant = redundant, slots = experts + redundant, ranks = ranks, nodes = 1,
    domain = {}, layers = 3, top = 2, expert_bytes = 1e6, moe_tp = 1, link_bytes_per_s = 1e9,
    network_bytes_per_s = 1e8,
    engine = { eplb_step_interval = 3000, eplb_window_size = 1000, eplb_head_start = 0.75, eplb_use_async = false } }
  for rank = 1, ranks do out.domain[rank] = 0 end
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local shapes = { shape_of(8, 0, 4), shape_of(16, 8, 8), shape_of(64, 0, 16), shape_of(60, 4, 8), shape_of(12, 4, 2),
  shape_of(32, 16, 8, { nodes = 2, domain = { 0, 0, 0, 0, 1, 1, 1, 1 } }) }

--- Tokens of each expert: all alike, skewed, or of few experts alone.
local function counts_of(experts, skew)
  local out = {}
  for e = 1, experts do out[e] = draws:uniform(0, 1) ^ skew end
  return out
end

local function each_case(body)
  for _, shape in ipairs(shapes) do
    for _, skew in ipairs { 0, 1, 4, 12 } do body(shape, counts_of(shape.experts, skew)) end
  end
end

local eplb = require "balancers.eplb" {}
local balancers = { eplb, require "balancers.eplb" { groups = 4 }, require "balancers.swaps" {},
  require "balancers.swaps" { most_swaps = 40, least_gain = 0 } }

local function place(balancer, counts, shape)
  return balancer:place(counts, shape, placement.first(shape))
end

test("the first placement is every expert in order, and then the copies", function()
  test.equal(table.concat(placement.first(shape_of(4, 2, 3)), " "), "1 2 3 4 1 2")
end)

test("every expert has a slot and every slot an expert, whoever placed them", function()
  each_case(function(shape, counts)
    test.equal(placement.problem(shape, placement.first(shape)), nil)
    for _, balancer in ipairs(balancers) do
      local slots = place(balancer, counts, shape)
      test.equal(placement.problem(shape, slots), nil)
      local sum = 0
      for _, copies in ipairs(placement.copies(shape, slots)) do sum = sum + copies end
      test.equal(sum, shape.experts + shape.redundant)
    end
  end)
end)

test("a placement without an expert, or with another number of slots, is refused by name", function()
  local shape = shape_of(4, 0, 2)
  test.equal(placement.problem(shape, { 1, 2, 3, 3 }), "expert 4 has no slot")
  test.equal(placement.problem(shape, { 1, 2, 3 }), "has 3 slots; 4 are right")
  test.equal(placement.problem(shape, { 1, 2, 3, 5 }), "slot 4 holds 5; an expert from 1 to 4 is right")
  test.equal(placement.problem(shape, nil), "has no slots; 4 are right")
end)

test("the loads of ranks add up to all tokens, and the fullest is at least the mean", function()
  each_case(function(shape, counts)
    local all = 0
    for e = 1, shape.experts do all = all + counts[e] end
    for _, balancer in ipairs(balancers) do
      local slots = place(balancer, counts, shape)
      local loads, total = placement.loads(shape, slots, counts)
      test.near(total, all, 1e-12)
      local most = 0
      for _, load in ipairs(loads) do most = math.max(most, load) end
      test.near(placement.load(shape, slots, counts), math.max(1, most * shape.ranks / all), 1e-12)
      test.check(placement.load(shape, slots, counts) >= 1, "below the mean")
      test.check(placement.load(shape, slots, counts) <= shape.ranks * (1 + 1e-12), "more than all tokens")
    end
  end)
end)

test("tokens of an expert are spread evenly over its copies", function()
  local shape = shape_of(4, 2, 3)
  local loads = placement.loads(shape, { 1, 2, 3, 4, 1, 1 }, { 9, 1, 1, 1 })
  test.equal(table.concat(loads, " "), "4 2 6")
end)

test("experts that are alike have the load 1 exactly, where each has one slot", function()
  for _, shape in ipairs(shapes) do
    if shape.redundant == 0 then
      local given = { experts = shape.experts, layers = 3, zipf = 0, seed = 1 }
      local state = popularity.new(given)
      local slots = placement.first(shape)
      test.equal(placement.mean_load(shape, { slots, slots, slots }, state.weights), 1)
    end
  end
end)

test("swaps never leave a fuller rank on the tokens that they saw, and eplb in few of many random cases", function()
  local worse, cases = 0, 0
  for _ = 1, 60 do
    each_case(function(shape, counts)
      local before = placement.load(shape, placement.first(shape), counts)
      for i = 3, 4 do
        test.check(placement.load(shape, place(balancers[i], counts, shape), counts) <= before * (1 + 1e-12))
      end
      local after = placement.load(shape, place(eplb, counts, shape), counts)
      worse, cases = worse + (after > before * (1 + 1e-12) and 1 or 0), cases + 1
    end)
  end
  test.check(worse <= 0.02 * cases, "%d of %d", worse, cases)
end)

test("copies of eplb go to the expert with most tokens per copy, and split it", function()
  local shape = shape_of(8, 8, 8)
  local copies = placement.copies(shape, place(eplb, { 80, 8, 8, 8, 8, 8, 8, 8 }, shape))
  test.equal(table.concat(copies, " "), "9 1 1 1 1 1 1 1")
end)

-- The example of the README of github.com/deepseek-ai/EPLB: two layers of 12 experts in 4 groups, 16 slots on 8 GPUs of
-- 2 nodes, and the slots that its code prints, from 0.
local published = {
  { { 90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86 }, { 5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1 } },
  { { 20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27 }, { 7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1 } },
}

test("eplb places experts as its authors' example does", function()
  local shape = shape_of(12, 4, 8, { nodes = 2, domain = { 0, 0, 0, 0, 1, 1, 1, 1 } })
  for _, case in ipairs(published) do
    local theirs = {}
    for i, expert in ipairs(case[2]) do theirs[i] = expert + 1 end
    local ours = place(balancers[2], case[1], shape)
    local a, b = placement.loads(shape, ours, case[1]), placement.loads(shape, theirs, case[1])
    test.equal(table.concat(placement.copies(shape, ours), " "), table.concat(placement.copies(shape, theirs), " "))
    table.sort(a)
    table.sort(b)
    test.equal(table.concat(a, " "), table.concat(b, " "))
  end
end)

test("eplb packs by falling load, first places first among equal ones", function()
  local shape = shape_of(6, 0, 3)
  test.equal(table.concat(place(eplb, { 1, 9, 4, 4, 7, 2 }, shape), " "), "2 1 5 6 3 4")
  test.equal(table.concat(place(eplb, { 1, 1, 1, 1, 1, 1 }, shape), " "), "1 4 2 5 3 6")
end)

test("eplb asks for what no rule of the engine says, and moves a layer a step beside steps", function()
  local unknown = shape_of(8, 0, 4, { engine = {} })
  test.raises("eplb: step_interval: no default", function() eplb:schedule(unknown) end)
  local own = eplb:schedule(shape_of(8, 0, 4, { engine = { eplb_step_interval = 100, eplb_window_size = 40,
    eplb_head_start = 0.5, eplb_use_async = true } }))
  test.equal(own.interval_steps, 100)
  test.equal(own.first_steps, 50)
  test.equal(own.window_steps, 40)
  test.equal(own.layers_per_chunk, 1)
  test.equal(own.hidden, true)
  test.equal(eplb:schedule(shapes[1]).layers_per_chunk, 0)
  test.equal(eplb:schedule(shapes[1]).hidden, false)
  local three = require "balancers.eplb" { use_async = "yes", layers_per_chunk = 3 }
  test.equal(three:schedule(shapes[1]).layers_per_chunk, 3)
end)

test("swaps exchange two slots of which one is on the fullest rank, while that gains enough", function()
  local shape = shape_of(6, 0, 3)
  local function swapped(counts, parameters)
    return table.concat(place(require "balancers.swaps"(parameters), counts, shape), " ")
  end
  test.equal(swapped({ 8, 6, 1, 2, 5, 4 }, { most_swaps = 1 }), "4 2 3 1 5 6")
  test.equal(swapped({ 8, 6, 1, 2, 5, 4 }, { most_swaps = 0 }), "1 2 3 4 5 6")
  test.equal(swapped({ 8, 6, 1, 2, 5, 4 }, { most_swaps = 9, least_gain = 0.5 }), "1 2 3 4 5 6")
  test.equal(swapped({ 5, 5, 5, 5, 5, 5 }, {}), "1 2 3 4 5 6")
  test.equal(swapped({ 1, 2, 5, 4, 8, 6 }, { most_swaps = 1 }), "1 5 3 4 2 6")
  local copies = shape_of(4, 2, 3)
  test.equal(table.concat(require "balancers.swaps" {}:place({ 12, 1, 1, 1 }, copies, { 1, 1, 1, 2, 3, 4 }), " "),
    "3 1 1 2 1 4")
end)

test("copies cost what they add to the roofline of a layer", function()
  local moving = require "steps.kernels.moving"
  local steps = { hardware = { memory_bytes_per_s = 1e12 }, fullest = 2, ep = 4, copies = 0.5,
    bounds = { peak = function() return 1e14 end } }
  local op = { name = "experts", count = 3, flop_per_row = 1e6, rows_per_token = 2, weight_bytes = 1e9, dtype = "bf16" }
  local moe = { experts = 8, experts_per_token = 2 }
  test.near(moving.copies(steps, op, moe, 1), 3 * 0.125e-3, 1e-12, "few experts are touched")
  test.near(moving.copies(steps, op, moe, 1.2e5), 3 * 0.3e-3, 1e-9, "arithmetic hides a part")
  test.equal(moving.copies(steps, op, moe, 1e7), 0, "arithmetic hides all")
end)

test("with groups, experts of a group stay on one node", function()
  local shape = shapes[6]
  for _ = 1, 20 do
    local slots, node_of = place(balancers[2], counts_of(shape.experts, 4), shape), {}
    for i, expert in ipairs(slots) do
      local node, group = math.ceil(i / (shape.slots / shape.nodes)), math.ceil(expert / (shape.experts / 4))
      test.equal(node_of[group] or node, node)
      node_of[group] = node
    end
  end
end)

--- Experts that ranks have and had not, counted apart from the code under test.
local function received(shape, before, after)
  local per_rank, count = shape.slots / shape.ranks, 0
  for rank = 1, shape.ranks do
    local had, got = {}, {}
    for i = (rank - 1) * per_rank + 1, rank * per_rank do had[before[i]] = true end
    for i = (rank - 1) * per_rank + 1, rank * per_rank do
      if not had[after[i]] and not got[after[i]] then got[after[i]], count = true, count + 1 end
    end
  end
  return count
end

test("what moves is what ranks get and did not have; nothing moves from a placement to itself", function()
  each_case(function(shape, counts)
    local before = placement.first(shape)
    for _, balancer in ipairs(balancers) do
      local after = place(balancer, counts, shape)
      local count, most = placement.moves(shape, before, after)
      test.equal(count, received(shape, before, after))
      test.check(most[1] + most[2] >= count / shape.ranks, "fewer than the mean")
      test.check(most[1] <= count and most[2] <= count, "more than all")
      test.equal((placement.moves(shape, after, after)), 0)
    end
  end)
end)

test("an expert comes from the same domain where a rank there has it", function()
  local shape = shape_of(4, 0, 4, { domain = { 0, 0, 1, 1 } })
  local count, most = placement.moves(shape, { 1, 2, 3, 4 }, { 2, 1, 4, 3 })
  test.equal(("%d %d %d"):format(count, most[1], most[2]), "4 1 0")
  count, most = placement.moves(shape, { 1, 2, 3, 4 }, { 3, 2, 1, 4 })
  test.equal(("%d %d %d"):format(count, most[1], most[2]), "2 0 1")
end)

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
  local beside = told(require "balancers.eplb" { step_interval = 1000, head_start = 0, host_s = 2, use_async = "yes" },
    still, 1900)
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
  function Wrong:schedule() return eplb:schedule(shapes[1]) end
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
