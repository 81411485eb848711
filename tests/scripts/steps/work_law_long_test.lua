-- The laws of work_laws.lua over 6,000 random steps and 100 random runs. To open a scenario takes as long as to price
-- 30 batches: each scenario prices ten.
local laws = dofile "tests/scripts/steps/work_laws.lua"
local test = dofile "tests/scripts/harness.lua"

test("6,000 random steps: rows sum to the time, evidence to 1, and nothing beats the GPU", function()
  local checked, refused, problems = laws.of_steps(100000, 6000, 10)
  test.equal(#problems, 0, problems[1])
  print(("%d steps checked; %d scenarios refused"):format(checked, refused))
end)

test("100 random runs: overall_mfu is the work of all steps", function()
  local checked, refused, problems, worst, far = laws.of_runs(100000, 100)
  test.equal(#problems, 0, problems[1])
  test.check(far <= 0.02 * checked, "%d runs are more than 2 %% apart", far)
  print(("%d runs checked, %d more than 2 %% apart, at most %.2g; %d scenarios refused"):format(checked, far, worst,
    refused))
end)

test.finish()
