-- Operations of balancers, placements and the price of their loads are needed: with one taken out, a test fails. How
-- many go unnoticed must not grow.
local test = dofile "tests/scripts/harness.lua"

local laws, runs = "tests/scripts/experts/experts_test.lua", "tests/scripts/experts/runs_test.lua"
local drift = "tests/scripts/experts/drift_test.lua"

dofile("tests/scripts/mutations.lua").check {
  test = test, most = 40,
  modules = {
    ["balancers.eplb"] = { tests = { laws, drift }, unnoticed = 3 },
    ["balancers.swaps"] = { tests = { laws, drift }, unnoticed = 1 },
    ["steps.kernels.moving"] = { tests = { laws, runs }, unnoticed = 5 },
  },
}

test.finish()
