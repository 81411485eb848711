-- Experts that move: laws of placements and balancers on random numbers, and cases by hand. Their drift, and what an
-- engine is told: drift_test.lua; what a run says of them: runs_test.lua.
local test = dofile "tests/scripts/harness.lua"
local placement = require "rooflua.machine.experts.placement"
local popularity = require "rooflua.machine.experts.popularity"
local random = require "rooflua.random"

local shape_of = dofile "tests/scripts/experts/shape.lua"
local draws = random.streams(11):stream "experts"

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

test("every expert has a slot and every slot an expert, whatever placed them", function()
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

test("what would change nothing is refused by eplb", function()
  local function refused(part, given, more)
    test.raises(part, function() require "balancers.eplb" (given):schedule(shape_of(12, 0, 4, more)) end)
  end
  refused("eplb: groups: 12 experts do not divide into 5 groups", { groups = 5 })
  refused("eplb: groups: has no effect: 3 groups on 4 ranks do not divide over 2 nodes", { groups = 3 }, { nodes = 2 })
  refused("eplb: groups: has no effect: 4 groups on 3 ranks do not", { groups = 4 }, { nodes = 2, ranks = 3 })
  refused("eplb: head_start: expected a part from 0 to 1, or -1, found -0.5", { head_start = -0.5 })
  refused("eplb: host_s: has no effect where experts move while steps go on", { host_s = 1, use_async = "yes" })
  for _, given in ipairs { { groups = 4 }, { head_start = 0 }, { host_s = 1 } } do
    require "balancers.eplb" (given):schedule(shape_of(12, 0, 4, { nodes = 2 }))
  end
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

test.finish()
