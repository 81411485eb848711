-- Operations of balancers, placements and the price of their loads are needed: with one taken out, a test fails. How
-- many go unnoticed must not grow.
local test = dofile "tests/scripts/harness.lua"

local laws, runs = "tests/scripts/experts_test.lua", "tests/scripts/experts_runs_test.lua"

dofile("tests/scripts/mutations.lua").check {
  test = test, most = 40,
  modules = {
    ["balancers.eplb"] = { tests = { laws } },
    ["balancers.swaps"] = { tests = { laws } },
    ["steps.kernels.moving"] = { tests = { runs } },
  },
}

test.finish()
