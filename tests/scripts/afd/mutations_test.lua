-- What computes the price of AFD is tested: with one of many operations of the file taken out,
-- a test fails.
local test = dofile "tests/scripts/harness.lua"

dofile("tests/scripts/mutations.lua").check {
  test = test, most = 40,
  modules = { ["steps.kernels.afd"] = { tests = { "tests/scripts/afd/prices_test.lua" }, unnoticed = 7 } },
}

test.finish()
