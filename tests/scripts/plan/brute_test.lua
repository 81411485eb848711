-- Plans against brute force over hundreds of small random spaces: every number of replicas of every candidate that fits
-- is run, without bounds, without a guess and without bisection.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local candidates = require "rooflua.plan.candidates"
local evaluate = require "rooflua.plan.evaluate"
local money = require "rooflua.plan.money"
local opening = require "rooflua.runs.opening"
local random = require "rooflua.random"
local run = require "rooflua.plan.run"

local requests = 40

--- A random question over one to eight candidates, with few requests.
local function random_question(stream)
  local function pick(list) return list[stream:integer(1, #list)] end
  local gpus = { { "h100-sxm", most = pick { 2, 4, 6 }, price_per_hour = 1 + stream:uniform() * 3 } }
  if stream:uniform() < 0.5 then
    gpus[2] = { "l40s", most = pick { 2, 4, 6 }, price_per_hour = 0.5 + stream:uniform() }
  end
  return { load = { rate_per_s = pick { 10, 40, 80, 160, 400 } }, gpus = gpus, requests = requests, ranks = 1,
    slo = { ttft_s_p99 = pick { 0.05, 0.1, 0.3, 1 }, tpot_s_p99 = pick { 0.006, 0.008, 0.012, 0.03 } },
    survive = pick { 0, 0, 0, 1 }, buy = pick { "gpu", "gpu", "node" },
    objective = stream:uniform() < 0.7 and require "objectives.cost" {} or require "objectives.gpus" {},
    candidates = require "candidates.ladder" { tp = pick { { 1 }, { 1, 2 } },
      max_num_seqs = pick { { 4 }, { 4, 32 }, { 16 } }, max_num_batched_tokens = { pick { 64, 256, 1024 } } } }
end

--- Whether a deployment that meets the SLO in a short run is above its capacity: all requests at once take longer than
--- their arrivals. Such a deployment misses by definition (docs/PLANNER_SEARCH.md).
local function is_overloaded(question, candidate, replicas)
  local flood = evaluate.run(question, candidate, replicas, { requests = requests, seed = question.seed, scale = 1e6 })
  return flood.metrics.requests_per_s < question.load.value
end

--- The least score of every deployment that meets the SLO, and the least of those that are not above their capacity.
local function brute(asked, top)
  local opened = opening.table(setup.scenario(asked, top), {})
  local question = run.check(opened.reader, opened.given)
  local all, steady = math.huge, math.huge
  for _, candidate in ipairs((candidates.fitting(question, candidates.all(question)))) do
    local most = require("rooflua.plan.deploy").most_replicas(question, candidate)
    local options = { requests = requests, seed = question.seed, steady = true }
    for needs = 1, most - question.survive do
      if evaluate.run(question, candidate, needs, options).meets then
        local found = evaluate.run(question, candidate, needs + question.survive, options)
        if found.meets then
          local score = money.add(question, candidate, found).score
          all = math.min(all, score)
          if score < steady and not is_overloaded(question, candidate, needs) then steady = score end
        end
        break
      end
    end
  end
  return all, steady
end

local function best(asked, top)
  local first = setup.ranking(setup.searched(asked, top))[1]
  return first and first.score or math.huge
end

--- Checks that the winner of `bounded` is that of brute force. Bounds may leave out only what is above its capacity.
local function compare(asked, top, what)
  local all, steady = brute(asked, top)
  asked.strategy = require "strategies.bounded" { batch = 2 }
  local found = best(asked, top)
  test.check(found >= all * (1 - 1e-12), "%s: %g, and brute force finds nothing below %g", what, found, all)
  test.check(found <= steady * (1 + 1e-12), "%s: %g, and brute force finds %g", what, found, steady)
  return found < math.huge, found == all
end

test("bounded finds the winner of brute force in 200 random spaces", function()
  local stream, served, same = random.streams(11):stream "spaces", 0, 0
  for i = 1, 200 do
    local serves, is_same = compare(random_question(stream), nil, "space " .. i)
    served, same = served + (serves and 1 or 0), same + (is_same and 1 or 0)
  end
  test.at_least(served, 80)
  test.at_least(same, 150)
end)

test("with a step model that declares nothing, or dips, bounds are off and brute force has the same winner", function()
  local stream, off = random.streams(12):stream "spaces", 0
  for i = 1, 20 do
    local asked = random_question(stream)
    local top = { steps = i % 2 == 0 and setup.Undeclared {} or setup.Constants { dip = 0.5 } }
    compare(asked, top, "space " .. i)
    local found = setup.searched(asked, top).found
    off = off + (#found.bounds_off > 0 and 1 or 0)
    test.check(i % 2 == 1 or #found.fit == 0 or #found.bounds_off > 0, "space %d: bounds are on", i)
  end
  test.at_least(off, 10)
end)

test.finish()
