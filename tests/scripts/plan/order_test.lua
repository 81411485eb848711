-- The order of a plan's answer, with made deployments: the cheapest that is sure first, of equal cost the surest, and
-- each deployment told once.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local answer = require "rooflua.plan.answer"
local confidence = require "rooflua.plan.confidence"
local evaluate = require "rooflua.plan.evaluate"
local random = require "rooflua.random"

--- answer.of for made deployments: {name, score, p, margin, gpus, of, family}. p is the share of replicates that meet
--- the SLO; no deployment gets surer with more replicas.
local function answer_of(list, more)
  local kept = { confidence.of, confidence.parts, confidence.standing, evaluate.run, evaluate.holds_to }
  local left, tries = {}, {}
  for i, each in ipairs(list) do
    local result = { score = each.score, margin = each.margin or 0.5, gpus = each.gpus or 4, paid_gpus = 4,
      replicas = 1, scale = 1, cost_per_hour = each.score, metrics = {}, evidence = {} }
    left[i] = { index = i, name = each.name, family = each.family or "family", tp = i, pp = 1, dp = 1, ep = 1, gpu = 1,
      most = 8, ended = "in full", result = { score = each.score, deployment = result, requests = 100 }, made = each }
  end
  confidence.of = function(_, candidate)
    local own = candidate.made
    tries[own.name] = (tries[own.name] or 0) + 1
    if not own.p then return nil end
    local of = own.of or 20
    local low, high = confidence.jeffreys(own.p * of, of)
    return { met = own.p * of, of = of, p = own.p, low = low, high = high, metrics = {} }
  end
  confidence.parts = function() return 1, 1 end
  confidence.standing = function() return true, "here" end
  evaluate.run = function() return { meets = false } end
  evaluate.holds_to = function() return 2 end
  local question = { in_process = true, confidence = 0.8, ranks = 3, survive = 0, replicates = 20, requests = 100,
    objective = {}, load = { kind = "rate", value = 5, peak = 1 }, gpus = { { label = "GPU" } } }
  for key, value in pairs(more or {}) do question[key] = value end
  local ok, plan = pcall(answer.of, question, { left = left, results = {} })
  confidence.of, confidence.parts, confidence.standing, evaluate.run, evaluate.holds_to = unpack(kept, 1, 5)
  assert(ok, plan)
  return plan, tries
end

local function names(list)
  local out = {}
  for i, each in ipairs(list) do out[i] = each.candidate.name end
  return table.concat(out, " ")
end

test("of equal cost the surer deployment comes first, whatever else is better of the other", function()
  local plan = answer_of { { name = "a", score = 6, p = 0.9, margin = 0.1 }, { name = "b", score = 6, p = 0.95,
    margin = 0.9 }, { name = "c", score = 6, p = 1, margin = 0.99, gpus = 8 } }
  test.equal(names(plan.ranks), "c b a")
  plan = answer_of { { name = "a", score = 6, p = 1, of = 10, margin = 0.1 }, { name = "b", score = 6, p = 1, of = 40,
    margin = 0.9 } }
  test.equal(names(plan.ranks), "b a", "all replicates of 40 are surer than all of 10")
  plan = answer_of { { name = "a", score = 5, p = 0.8 }, { name = "b", score = 6, p = 1 } }
  test.equal(names(plan.ranks), "a b", "what is sure enough and cheaper stays first")
end)

test("costs that differ by rounding alone are equal", function()
  local plan = answer_of { { name = "a", score = 0.1 * 3, p = 0.9 }, { name = "b", score = 0.3, p = 0.95 } }
  test.check(0.1 * 3 ~= 0.3)
  test.equal(names(plan.ranks), "b a")
end)

test("a surer deployment of equal cost is found beyond the ranks that are asked for", function()
  local plan = answer_of({ { name = "a", score = 6, p = 0.85, margin = 0.1 }, { name = "b", score = 6, p = 0.9,
    margin = 0.2 }, { name = "c", score = 6, p = 0.95, margin = 0.3 } }, { ranks = 1 })
  test.equal(names(plan.ranks), "c")
  local _, tries = answer_of({ { name = "a", score = 6, p = 1, margin = 0.1 }, { name = "b", score = 6, p = 1,
    margin = 0.2 } }, { ranks = 1 })
  test.equal(tries.b, nil, "none is surer than one that always meets the SLO")
end)

test("a deployment that is not sure is told once: above the winner where it costs less, else as a last rank", function()
  local plan, tries = answer_of { { name = "a", score = 4, p = 0.5 }, { name = "b", score = 6, p = 0.9 },
    { name = "c", score = 6, p = 0.6 }, { name = "d", score = 7, p = 1 } }
  test.equal(names(plan.unsure), "a")
  test.equal(names(plan.ranks), "b d c")
  test.check(plan.ranks[3].too_unsure and not plan.ranks[2].too_unsure, "what is not sure enough")
  for name, count in pairs(tries) do test.equal(count, 1, name) end
  plan = answer_of { { name = "a", score = 4, p = 0.5 }, { name = "b", score = 5, p = 0.6 } }
  test.equal(#plan.ranks, 0)
  test.equal(names(plan.unsure), "a b")
end)

test("laws of the order hold for random deployments", function()
  local stream = random.streams(4):stream "orders"
  local equal, unsure = 0, 0
  for i = 1, 300 do
    local list = {}
    for k = 1, stream:integer(1, 8) do
      list[k] = { name = "d" .. k, score = stream:integer(3, 6), p = stream:integer(10, 20) / 20,
        margin = stream:uniform(), family = "f" .. stream:integer(1, 3) }
    end
    local plan = answer_of(list, { ranks = stream:integer(1, 4) })
    local told = {}
    for _, part in ipairs { plan.unsure, plan.ranks } do
      for _, item in ipairs(part) do
        test.check(not told[item.candidate], "case %d: %s is told twice", i, item.candidate.name)
        told[item.candidate] = true
      end
    end
    for k, item in ipairs(plan.ranks) do
      local before = plan.ranks[k - 1]
      if before and not item.too_unsure then
        test.check(before.result.score <= item.result.score, "case %d: rank %d is cheaper", i, k)
        if before.result.score == item.result.score then
          equal = equal + 1
          test.check(before.sure.p >= item.sure.p, "case %d: rank %d is surer", i, k)
        end
      end
      test.equal(item.too_unsure == true, item.sure.p < 0.8)
    end
    unsure = unsure + #plan.unsure
  end
  test.at_least(equal, 30)
  test.at_least(unsure, 30)
end)

test("ranks of equal cost say what decides between them", function()
  local done = setup.report({ replicates = 10, ranks = 5, gpus = { { "h100-sxm", most = 4, price_per_hour = 3 } },
    load = { rate_per_s = 250 } })
  local first, same = done.plan.ranks[1], 0
  for i = 2, #done.plan.ranks do
    local item = done.plan.ranks[i]
    if item.result.cost_per_hour == first.result.cost_per_hour then
      same = same + 1
      local why = item.sure.p < first.sure.p and "less sure" or item.result.margin > first.result.margin
        and "closer to the limits" or "more GPUs"
      test.check(done.text:find("costs the same; " .. why, 1, true), "%s: %s", why, done.text)
    end
  end
  test.at_least(same, 1)
end)

test.finish()
