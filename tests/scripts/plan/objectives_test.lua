-- What a plan says of its runners-up follows from the figure that the objective compares: their difference, the factors
-- of it, and prices only where these decide.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local money = require "rooflua.plan.money"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local run = require "rooflua.plan.run"
local standing = require "rooflua.plan.standing"

local has = test.has
local function has_not(text, part) test.check(not text:find(part, 1, true), "'%s' in %s", part, text) end

local function figure_of(item, key)
  local result = item.result
  if key == "output_tokens_per_s_per_gpu" then return result.output_tokens_per_s / result.gpus end
  return result[key]
end

test("runners-up show their difference in what the objective compares, whatever they cost", function()
  for name, key in pairs { cost = "cost_per_hour", energy = "joules_per_token", gpus = "gpus",
    goodput_per_gpu = "output_tokens_per_s_per_gpu" } do
    for _, price in ipairs { 0.2, 3 } do -- of the other GPU, so that costs and energies have different orders
      local done = setup.report { objective = name, ranks = 2, gpus = { { "h100-sxm", most = 16, price_per_hour = 1 },
        { "l40s", most = 16, price_per_hour = price } } }
      local first, second = done.plan.ranks[1], done.plan.ranks[2]
      local ratio = figure_of(second, key) / figure_of(first, key)
      has(done.text, ("   %+.1f %%\n"):format(100 * (ratio - 1)))
      if second.lost_by then
        local product = 1
        for _, factor in pairs(second.lost_by) do product = product * factor end
        test.near(product, ratio, 1e-9, name)
      end
      if name ~= "cost" then
        test.equal(second.break_even, nil, name)
        test.equal(second.lost_by and second.lost_by.price, nil, name)
        has_not(done.text, "Wins below")
      end
    end
  end
end)

test("the price at which a deployment wins is the one at which both have one score", function()
  local Own = policy.define { name = "own_objective", doc = "Cost and a constant.", params = {} }
  function Own:score(result) return 2 * result.cost_per_hour + result.gpus end -- luacheck: ignore 212
  for _, objective in ipairs { "cost", require "objectives.weighted" { cost = 1, gpus = 0.3 }, Own {} } do
    local gpus = { { "h100-sxm", most = 16, price_per_hour = 3 }, { "l40s", most = 16, price_per_hour = 1 } }
    local done = setup.answer { objective = objective, ranks = 2, gpus = gpus }
    local first, second = done.plan.ranks[1], done.plan.ranks[2]
    local cost = second.break_even * second.result.paid_gpus
    test.near(cost, money.cost_of_score(done.question, second.result, first.result.score), 1e-9)
    for _, side in ipairs { { 0.99, second.candidate.gpu }, { 1.01, first.candidate.gpu } } do
      gpus[second.candidate.gpu].price_per_hour = second.break_even * side[1]
      test.equal(setup.answer({ objective = objective, ranks = 2, gpus = gpus }).plan.ranks[1].candidate.gpu, side[2])
    end
  end
end)

test("no price is told where a score follows from the cost in a way that is not known", function()
  local Odd = policy.define { name = "odd_objective", doc = "A square.", params = {} }
  function Odd:score(result) return result.cost_per_hour ^ 2 end -- luacheck: ignore 212
  local done = setup.report { objective = Odd {}, ranks = 2 }
  test.equal(money.by_cost(done.question, done.plan.ranks[2].result), nil)
  test.equal(done.plan.ranks[2].break_even, nil)
  has(done.text, "score +")
end)

test("an objective that compares a figure that deployments do not have is refused by name", function()
  local Wrong = policy.define { name = "wrong_objective", doc = "A figure that is not there.", params = {},
    figure = "joule_per_token" }
  function Wrong:score(result) return result.joules_per_token end -- luacheck: ignore 212
  test.raises("did you mean 'joules_per_token'", function() setup.answer { objective = Wrong {} } end)
end)

test("a deployment that is better and not sure is told by what the objective compares", function()
  local question = { objective = require "objectives.energy" {} }
  test.equal(standing.better(question), "less energy")
  test.equal(standing.better { objective = require "objectives.cost" {} }, "cheaper")
  test.equal(standing.figure(question, { result = { joules_per_token = 1.4, power_bound = "at most" } }),
    "at most 1.4 J/token")
end)

test("a file of results that another objective filled gives the answer of a plan without one", function()
  local file = test.file "kept.sqlite"
  local gpus = { { "h100-sxm", most = 3, price_per_hour = 3 }, { "l40s", most = 6, price_per_hour = 1 } }
  local function text(objective, results)
    local opened = opening.table(setup.scenario { objective = objective, gpus = gpus, replicates = 4 }, {})
    return run.report(run.all(opened.reader, opened.given, { jobs = 1, results = results })).text
  end
  for _, objective in ipairs { "cost", "rate", "gpus", "energy", "rate" } do
    test.equal(text(objective, file), text(objective), objective)
  end
end)

test.finish()
