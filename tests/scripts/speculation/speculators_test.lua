-- How many drafts a speculator asks for. Batches are made by hand; what landed is a table as the engine gives it.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local cost, policy = rooflua.cost, rooflua.policy

local function of(class, parameters) return policy.fresh(class(parameters)) end

local function decodes(n) return cost.batch { decodes = n, decode_context_tokens = 1000 * n } end

--- Rows that landed with so many drafts each; `accepted_at[j]` rows accepted draft j.
local function seen(rows, k, accepted_at)
  local accepted = 0
  for _, count in ipairs(accepted_at) do accepted = accepted + count end
  return { rows = rows, drafted = rows * k, accepted = accepted, accepted_at = accepted_at, decodes = rows, now_s = 0 }
end

test("fixed asks for the same number whatever the batch", function()
  local fixed = of(require "speculators.fixed", { draft_tokens = 4 })
  test.equal(fixed:depth(), 4)
  test.equal(fixed:drafts(decodes(1)), 4)
  test.equal(fixed:drafts(decodes(200)), 4)
end)

test("by_batch follows its table, and has no drafts beyond it", function()
  local by_batch = of(require "speculators.by_batch", { ranges = { { 1, 4, 5 }, { 8, 16, 2 } } })
  test.equal(by_batch:depth(), 5)
  for n, k in pairs { [1] = 5, [4] = 5, [5] = 0, [8] = 2, [16] = 2, [17] = 0 } do
    test.equal(by_batch:drafts(decodes(n)), k, n .. " requests")
  end
  test.equal(by_batch:drafts(cost.batch { prefills = { { new_tokens = 8 } } }), 5, "a prompt alone")
end)

test("by_batch refuses ranges that overlap, descend or are no numbers", function()
  for _, ranges in ipairs { { { 1, 4, 5 }, { 4, 8, 1 } }, { { 4, 2, 1 } }, { { 1, 2 } }, { { 1, 2, 65 } }, { 3 } } do
    local by_batch = of(require "speculators.by_batch", { ranges = ranges })
    test.raises("by_batch.ranges[", function() by_batch:depth() end)
  end
end)

test("ema goes down its ladder where drafts are refused, and up where they are accepted", function()
  local ema = of(require "speculators.ema", {})
  test.equal(ema:depth(), 7)
  test.equal(ema:drafts(decodes(2)), 3)
  for _ = 1, 15 do ema:landed(seen(2, 3, { 0, 0, 0 })) end
  test.equal(ema:drafts(decodes(2)), 1, "the ladder of few requests has no 0")
  for _ = 1, 60 do ema:landed(seen(2, 1, { 2 })) end
  test.at_least(ema:drafts(decodes(2)), 3)
  test.equal(ema:drafts(decodes(20)), 3, "another ladder, which has learned nothing")
  test.equal(ema:drafts(decodes(100)), 0)
end)

test("ema decides nothing in its first steps, and leaves 0 drafts at the next decision", function()
  local ema = of(require "speculators.ema", { ladders = { { from = 1, drafts = { 0, 1 } } }, draft_tokens = 1 })
  for _ = 1, 14 do ema:landed(seen(1, 1, { 0 })) end
  test.equal(ema:drafts(decodes(1)), 1)
  ema:landed(seen(1, 1, { 0 }))
  test.equal(ema:drafts(decodes(1)), 0)
  for _ = 1, 5 do ema:landed(seen(1, 0, {})) end
  test.equal(ema:drafts(decodes(1)), 1)
end)

test("ema refuses ladders that do not ascend", function()
  local descending = { { from = 8, drafts = { 1 } }, { from = 1, drafts = { 1 } } }
  for _, ladders in ipairs { {}, { { from = 1, drafts = { 3, 1 } } }, descending } do
    test.raises("ema.ladders", function() of(require "speculators.ema", { ladders = ladders }):depth() end)
  end
end)

test("gate closes for good after a window with too few tokens per round", function()
  local gate = of(require "speculators.gate", { draft_tokens = 2, threshold = 1.5, window = 100 })
  for _ = 1, 10 do gate:landed(seen(10, 2, { 6, 0 })) end
  test.equal(gate:drafts(decodes(1)), 2, "1.6 tokens per round")
  for _ = 1, 10 do gate:landed(seen(10, 2, { 4, 0 })) end
  test.equal(gate:drafts(decodes(1)), 0, "1.4 tokens per round")
  for _ = 1, 50 do gate:landed(seen(10, 2, { 10, 10 })) end
  test.equal(gate:drafts(decodes(1)), 0)
end)

--- A step of 1 ms, and twice so much more for each draft of each request: to make it and to verify it.
local function priced(draft_s)
  return {
    steps = { time = function(_, batch) return 1e-3 + (batch.decode_tokens - batch.decodes) * draft_s end },
    drafter = { time = function(_, batch) return batch.draft_tokens * draft_s end },
  }
end

test("goodput takes as many drafts as pay, and fewer as the batch grows", function()
  local goodput = of(require "speculators.goodput", { draft_tokens = 5, prior = 0.5, switch_gain = 0 })
  goodput:bind(priced(10e-6))
  -- E[T] = 1, 1.5, 1.75, 1.875, ..: with one request k = 4 gives 1.9375 / 1.08, k = 3 gives 1.875 / 1.06
  test.equal(goodput:drafts(decodes(1)), 4)
  -- with 16 requests k = 1 gives 1.5 / 1.32, k = 2 gives 1.75 / 1.64, k = 0 gives 1
  test.equal(goodput:drafts(decodes(16)), 1)
  test.equal(goodput:drafts(decodes(64)), 0)
end)

test("goodput learns the shares of drafts that are accepted", function()
  local goodput = of(require "speculators.goodput", { draft_tokens = 3, prior = 0.9, weight = 0.01 })
  goodput:bind(priced(50e-6))
  test.equal(goodput:drafts(decodes(1)), 3)
  for _ = 1, 200 do goodput:landed(seen(10, 3, { 5, 1, 0 })) end
  test.near(goodput.shares[1], 0.5, 1e-3)
  test.near(goodput.shares[2], 0.2, 1e-3)
  test.at_least(0.9, goodput.shares[3])
  -- 1.5 / 1.1 = 1.36 with one draft, 1.6 / 1.2 = 1.33 with two
  test.equal(goodput:drafts(decodes(1)), 1)
end)

test("goodput keeps its number while another is hardly better", function()
  local goodput = of(require "speculators.goodput", { draft_tokens = 2, prior = 0.5, switch_gain = 0.1 })
  goodput:bind(priced(80e-6))
  -- k = 2: 1.75 / 1.32 = 1.326; k = 1: 1.5 / 1.16 = 1.293
  test.equal(goodput:drafts(decodes(1)), 2)
  goodput:bind(priced(100e-6))
  -- k = 2: 1.75 / 1.4 = 1.25; k = 1: 1.5 / 1.2 = 1.25
  test.equal(goodput:drafts(decodes(1)), 2)
end)

test.finish()
