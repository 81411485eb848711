-- Laws of plans: bounds hold for every run, more choice is never worse, more load is never cheaper, money adds up.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local confidence = require "rooflua.plan.confidence"
local evaluate = require "rooflua.plan.evaluate"
local random = require "rooflua.random"
local steady = require "rooflua.plan.steady"

local bounded = require "strategies.bounded" {}

--- The best score of a question; nil where nothing serves it.
local function best(more, top)
  local all = { strategy = bounded, requests = 150 }
  for key, value in pairs(more or {}) do all[key] = value end
  local first = setup.ranking(setup.searched(all, top))[1]
  return first and first.score
end

test("no run is faster than the bounds, for random candidates and lengths", function()
  local stream, compared = random.streams(3):stream "bounds", 0
  for _ = 1, 12 do
    local asked = setup.searched({ load = { rate_per_s = 10 ^ (1 + 2 * stream:uniform()) }, requests = 150,
      strategy = require "strategies.sample" { n = 1 },
      candidates = require "candidates.ladder" { tp = { 1, 2 }, max_num_seqs = { stream:integer(1, 40) },
        max_num_batched_tokens = { stream:integer(64, 2000) } } },
      { workload = require "workloads.poisson" { prompt_tokens = { distribution = "lognormal",
        mean = 50 + 800 * stream:uniform(), sigma = 0.6, max = 3000 }, output_tokens = 1 + stream:integer(0, 40) } })
    for _, candidate in ipairs(asked.found.fit) do
      local found = candidate.bound
      if found and not found.off then
        -- All requests at once: the run lasts as long as its steps.
        local flood = evaluate.run(asked.question, candidate, 1, { requests = 150, seed = 7, scale = 1e6 })
        local rate = flood.metrics.requests_per_s
        local drawn = asked.question.drawn
        test.check(rate <= found.rate_per_s * 1.25, "%s: %g/s, bound %g/s (%g tokens)", candidate.name, rate,
          found.rate_per_s, drawn.mean_prompt)
        local same = evaluate.run(asked.question, candidate, 1, { requests = 150, seed = asked.question.seed,
          scale = 1e6 })
        test.check(same.metrics.requests_per_s <= found.rate_per_s * (1 + 1e-9), "%s: %g/s, bound %g/s",
          candidate.name, same.metrics.requests_per_s, found.rate_per_s)
        for name, least in pairs(found.latency) do
          test.check(same.metrics[name] >= least * (1 - 1e-9), "%s: %s %g, bound %g", candidate.name, name,
            same.metrics[name], least)
        end
        compared = compared + 1
      end
    end
  end
  test.at_least(compared, 30)
end)

test("a run that ends when it has missed has the verdict of the whole run", function()
  local stream, cut, met = random.streams(21):stream "verdicts", 0, 0
  for i = 1, 8 do
    local asked = setup.searched { strategy = require "strategies.sample" { n = 1 }, requests = 150,
      load = { rate_per_s = 20 + 200 * stream:uniform() },
      slo = { [("ttft_s_p%d"):format(i % 2 == 0 and 99 or 50)] = 0.02 + 0.3 * stream:uniform(),
        [("%s_s_p%d"):format(i % 3 == 0 and "e2e" or "tpot", i % 4 < 2 and 95 or 90)] = i % 3 == 0 and 0.4 or 0.01 } }
    for _, candidate in ipairs(asked.found.fit) do
      for replicas = 1, 4 do
        local options = { requests = i % 3 == 0 and 150 or 100, seed = i, steady = i % 3 == 0 }
        local whole = evaluate.run(asked.question, candidate, replicas, options)
        options.verdict = true
        local verdict = evaluate.run(asked.question, candidate, replicas, options)
        test.equal(verdict.meets, whole.meets, candidate.name)
        cut, met = cut + (verdict.cut and 1 or 0), met + (whole.meets and 1 or 0)
      end
    end
  end
  test.at_least(cut, 40)
  test.at_least(met, 40)
end)

test("bounds of the step model kernels hold as well", function()
  local asked = setup.searched({ requests = 200, load = { rate_per_s = 400 }, gpus = { { "h100-sxm",
    price_per_hour = 2, most = 64 } }, strategy = require "strategies.sample" { n = 1 },
    candidates = require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 64 }, max_num_batched_tokens = { 1024 } } },
    { steps = require "steps.kernels" {} })
  local candidate = asked.found.fit[1]
  local run = evaluate.run(asked.question, candidate, 1, { requests = 200, seed = 1, scale = 1e5 })
  local found = candidate.bound
  test.check(not found.off, "bounds are off: %s", tostring(found.off))
  test.check(run.metrics.requests_per_s <= found.rate_per_s, "%g/s, bound %g/s", run.metrics.requests_per_s,
    found.rate_per_s)
  test.check(run.metrics.requests_per_s > 0.25 * found.rate_per_s, "the bound is loose: %g/s, bound %g/s",
    run.metrics.requests_per_s, found.rate_per_s)
end)

test("bounds are off, and say so, where a step model does not declare itself monotone or is not", function()
  local off = setup.searched({}, { steps = setup.Undeclared {} })
  test.check(off.found.bounds_off[1]:find("does not declare itself monotone", 1, true), "%s", off.found.bounds_off[1])
  test.equal(setup.ranking(off)[1].text, setup.ranking(setup.searched())[1].text)
  local dip = setup.searched({ candidates = require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 7 },
    max_num_batched_tokens = { 256 } } }, { steps = setup.Constants { dip = 0.5 } })
  test.check((dip.found.bounds_off[1] or ""):find("gets cheaper with more work", 1, true), "%s",
    tostring(dip.found.bounds_off[1]))
end)

test("one more GPU type, width or budget never worsens the best", function()
  local h100, l40s = { "h100-sxm", most = 16, price_per_hour = 3 }, { "l40s", most = 16, price_per_hour = 1 }
  local one, both = best { gpus = { h100 } }, best { gpus = { h100, l40s } }
  test.check(both <= one, "%g with two GPU types, %g with one", both, one)
  local function ladder(tp, budgets)
    return require "candidates.ladder" { tp = tp, max_num_seqs = { 16 }, max_num_batched_tokens = budgets }
  end
  local narrow = best { candidates = ladder({ 1 }, { 256 }) }
  test.check(best { candidates = ladder({ 1, 2 }, { 256 }) } <= narrow, "one more tp")
  test.check(best { candidates = ladder({ 1 }, { 256, 1024 }) } <= narrow, "one more budget")
end)

test("more load, a tighter SLO and a spare replica never cost less", function()
  local before = 0
  for _, rate in ipairs { 10, 30, 60, 120 } do
    local cost = best { load = { rate_per_s = rate } }
    test.check(cost >= before, "%g/s costs %g, less load %g", rate, cost, before)
    before = cost
  end
  local loose, tight = best { slo = { ttft_s_p99 = 1 } }, best { slo = { ttft_s_p99 = 0.05 } }
  test.check(not tight or tight >= loose, "tight %s, loose %g", tostring(tight), loose)
  local none, spare = best {}, best { survive = 1 }
  test.check(spare > none, "a spare replica costs nothing: %g, %g", spare, none)
end)

test("the largest rate grows with GPUs and with the SLO, and is where a plan of GPUs needs one more", function()
  local function gpus(most) return { { "h100-sxm", most = most, price_per_hour = 3 } } end
  local one = require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 16 }, max_num_batched_tokens = { 512 } }
  local function largest(more)
    local all = { objective = "rate", load = { rate_per_s = 5 }, requests = 300, gpus = gpus(2), candidates = one }
    for key, value in pairs(more or {}) do all[key] = value end
    return -best(all)
  end
  local before = 0
  for _, most in ipairs { 1, 2, 3, 6 } do
    local rate = largest { gpus = gpus(most) }
    test.check(rate > before, "%d GPUs serve %g/s, fewer %g/s", most, rate, before)
    before = rate
  end
  before = 0
  for _, limit_s in ipairs { 0.02, 0.05, 0.2, 1 } do
    local rate = largest { slo = { ttft_s_p99 = limit_s } }
    test.check(rate >= before, "TTFT p99 <= %g s: %g/s, tighter %g/s", limit_s, rate, before)
    before = rate
  end
  local rate = largest()
  local function fewest(load)
    return best { objective = "gpus", load = { rate_per_s = load }, requests = 300, gpus = gpus(6), candidates = one }
  end
  test.equal(fewest(rate), 2)
  test.check(fewest(rate * 1.05) > 2, "two GPUs hold 5 %% more than their largest rate, %g/s", rate)
  test.check(largest { survive = 1 } <= rate * 0.6, "a spare replica takes no rate")
end)

test("a run whose queue grows misses, however loose the limits are", function()
  local asked = setup.searched({ slo = { ttft_s_p99 = 1000 }, strategy = require "strategies.sample" { n = 1 } },
    { steps = setup.Undeclared {} })
  local candidate = asked.found.fit[1]
  local function run(scale, looks_at_halves)
    return evaluate.run(asked.question, candidate, 1, { requests = 2000, seed = 1, scale = scale,
      steady = looks_at_halves })
  end
  test.check(run(0.05, true).meets, "a light load does not meet the SLO")
  local flooded = run(10, true)
  test.equal(flooded.problem, "not steady: TTFT grows")
  test.check(not flooded.meets, "a growing queue meets the SLO")
  test.check(run(10, false).meets, "without the look at its halves the run meets the SLO")
end)

test("prices times k: the same order, k times the cost; whole nodes cost at least as much", function()
  local function gpus(k)
    return { { "h100-sxm", most = 16, price_per_hour = 3 * k }, { "l40s", most = 16, price_per_hour = k } }
  end
  local one, two = setup.ranking(setup.searched { gpus = gpus(1) }), setup.ranking(setup.searched { gpus = gpus(2) })
  for i, each in ipairs(one) do test.near(two[i].score, 2 * each.score, 1e-12) end
  test.check(best { buy = "node" } >= best {}, "nodes are cheaper than GPUs")
end)

test("the terms of a runner-up multiply to the ratio of costs, and it wins below its price", function()
  local done = setup.answer { ranks = 2 }
  local first, second = done.plan.ranks[1], done.plan.ranks[2]
  local terms = second.lost_by
  test.near(terms.price * terms.gpus * terms.capacity * terms.rounding,
    second.result.cost_per_hour / first.result.cost_per_hour, 1e-12)
  local question, own = done.question, first.result
  test.near(own.per_million.output * question.load.value * question.drawn.mean_output * 3600 / 1e6,
    own.cost_per_hour, 1e-9)
  if second.break_even then
    local prices = { first.candidate.gpu, second.candidate.gpu }
    local gpus = { { "h100-sxm", most = 16, price_per_hour = 3 }, { "l40s", most = 16, price_per_hour = 1 } }
    gpus[prices[2]].price_per_hour = second.break_even * 0.99
    local after = setup.answer { ranks = 2, gpus = gpus }
    test.equal(after.plan.ranks[1].candidate.gpu, prices[2])
  end
end)

test("probabilities: Jeffreys' interval, and replicates without width agree with the verdict", function()
  local low, high = confidence.jeffreys(33, 40) -- R: qbeta(c(.05, .95), 33.5, 7.5)
  test.near(low, 0.7118, 5e-3)
  test.near(high, 0.9064, 5e-3)
  test.equal((confidence.jeffreys(0, 10)), 0)
  test.equal(select(2, confidence.jeffreys(10, 10)), 1)
  local done = setup.answer { replicates = 10, confidence = 0.5, ranks = 1 }
  local sure = done.plan.ranks[1].sure
  test.check(sure.p >= 0 and sure.p <= 1 and sure.low <= sure.p and sure.p <= sure.high, "%g in %g..%g", sure.p,
    sure.low, sure.high)
  test.check(done.plan.seeds >= 0 and done.plan.seeds <= 1 and done.plan.model >= 0, "shares")
end)

test("a factor on all steps is the run of the longer steps", function()
  local asked = setup.searched { strategy = require "strategies.sample" { n = 1 } }
  local slow = setup.searched({ strategy = require "strategies.sample" { n = 1 } },
    { steps = setup.Constants { base_s = 0.006, token_s = 6e-6, decode_s = 3e-5 } })
  local options = { requests = 200, seed = 4 }
  local a = evaluate.run(asked.question, asked.found.fit[1], 3, { requests = 200, seed = 4, factor = 1.5 })
  local b = evaluate.run(slow.question, slow.found.fit[1], 3, options)
  for _, name in ipairs { "ttft_s_p99", "tpot_s_p50", "requests_per_s" } do
    test.near(a.metrics[name], b.metrics[name], 1e-6, name)
  end
end)

test("the steady state solves its equation, and an empty system takes the step of one decode", function()
  local function time(n, p) return 0.004 + 1e-5 * n + 4e-6 * p end
  local drawn = { mean_prompt = 300, mean_output = 50 }
  local found = steady.at(time, drawn, 20, 64, 1024)
  test.near(found.decodes, 20 * 49 * found.step_s, 0.02)
  test.near(steady.at(time, drawn, 1e-6, 64, 1024).step_s, 0.00401, 0.02)
  test.check(steady.at(time, drawn, 1e5, 64, 1024).saturated, "100,000 requests/s are served")
end)

test.finish()
