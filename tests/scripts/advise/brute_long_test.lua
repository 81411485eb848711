-- Advice against brute force over every value of every option that acts, and over all pairs of them: on ten scenarios,
-- with ROOFLUA_SCENARIOS=60 on 60.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/advise/setup.lua"

test("advice is that of brute force over all options and all pairs of them", function()
  local count = tonumber(os.getenv "ROOFLUA_SCENARIOS" or 10)
  local same, by_count, told = setup.compared(11, count, 2)
  for needs, number in pairs(by_count) do print(("%s changes: %d scenarios"):format(needs, number)) end
  test.check(#told == 0, "%d of %d are the same", same, count)
end)

test.finish()
