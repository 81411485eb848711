-- Measured closed loops of public deployments whose settings are stated, simulated: the mean error over deployments is
-- held to a bound. Of each deployment every eighth question is asked, from the first on. By load, questions of one
-- deployment lie close to each other: the means over 86 deployments are 7.8 % and 8.1 % with an eighth of them,
-- 8.0 % and 8.1 % with a quarter, 7.9 % and 7.9 % with half, 7.9 % and 8.0 % with all, which `rooflua validate` asks.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local loops = require "rooflua.validate.closed_loops.kind"
local totals = require "rooflua.validate.closed_loops.totals"

--- The most that errors may be in the mean over deployments.
local most = { tpot = 0.095, e2e = 0.095 }
--- The share of questions that must run.
local fewest_frac = 0.99

test("TPOT and E2E of deployments with stated settings are within 9.5 % in the mean", function()
  local path = test.shared "truth/silicon/questions.csv"
  local run = loops.open { path = path, scoped = {}, steps = {}, intervals = 0 }
  local answers, count, of_deployment = {}, 0, {}
  for i, question in ipairs(run.questions) do
    local exact = question.config == "exact"
    if exact then of_deployment[question.key] = (of_deployment[question.key] or 0) + 1 end
    if exact and of_deployment[question.key] % 8 == 1 then
      local ok, found = pcall(run.case, run, i)
      local problem = not ok and tostring(found) or nil
      answers[#answers + 1] = run:take(i, ok and json.decode(json.encode(found)) or nil, problem)
      if problem then print(("%s %s: %s"):format(question.id, question.key, problem)) end
      count = count + (ok and 1 or 0)
      collectgarbage() -- simulations hold memory that Lua's collector does not count
    end
  end
  test.at_least(#answers, 105, "questions with stated settings")
  test.at_least(count / #answers, fewest_frac, "share of questions that ran")
  local of = totals.of(answers)
  for metric, bound in pairs(most) do
    local mean = of[metric].mean_over_deployments
    print(("%s: mean over %d deployments %.1f %%"):format(metric, of.deployments, mean * 100))
    test.check(mean < bound, "%s: %.2f %%", metric, mean * 100)
  end
end)

test.finish()
