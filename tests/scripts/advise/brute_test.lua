-- Advice against brute force over every value of every option that acts.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/advise/setup.lua"

test("one change is that of brute force over all options", function()
  local same, by_count, told = setup.compared(5, 8, 1)
  test.check(#told == 0, "%d of 8 are the same", same)
  test.check((by_count["1"] or 0) >= 2, "too few scenarios need a change")
end)

test.finish()
