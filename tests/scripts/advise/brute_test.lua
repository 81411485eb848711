-- Advice against brute force over every value of every option that acts.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/advise/setup.lua"
local random = require "rooflua.random"

--- Compares advice with brute force on scenarios drawn at random: what is the same, and what differs, as texts.
---@param most integer changes at once that brute force tries
local function compared(seed, count, most)
  local stream, same, by_count, told = random.streams(seed):stream "advise", 0, {}, {}
  for i = 1, count do
    local given, gpus, metric, share = setup.random(stream)
    local limits = setup.limits(given, metric, share)
    local found, expected = setup.searched(given, limits, gpus), setup.brute(given, limits, gpus, most)
    local moves = found.answer and found.answer.moves
    local number = found.base.verdict.meets and 0 or moves and #moves or nil
    if number and number > most then number = nil end
    local is_same = number == expected.count
      and (not expected.margin or math.abs(found.answer.verdict.margin / expected.margin - 1) < 1e-9)
    same = same + (is_same and 1 or 0)
    by_count[expected.count or "none"] = (by_count[expected.count or "none"] or 0) + 1
    if not is_same then
      told[#told + 1] = ("%d: %s %s %g: advice %s %s %s, brute force %s %s %s"):format(i, given.engine[1], metric, share,
        tostring(number), found.answer and moves[1].set .. (moves[2] and "+" .. moves[2].set or "") or "",
        tostring(found.answer and found.answer.verdict.margin), tostring(expected.count),
        table.concat(expected.sets or {}, "+"), tostring(expected.margin))
    end
  end
  return same, by_count, told
end

local is_long = arg[1] == "long"

if is_long then
  test("advice is that of brute force over all options and all pairs of them", function()
    local same, by_count, told = compared(11, tonumber(arg[2]) or 60, 2)
    for key, value in pairs(by_count) do print(("%s changes: %d scenarios"):format(tostring(key), value)) end
    test.check(#told == 0, "%d are the same\n%s", same, table.concat(told, "\n"))
  end)
else
  test("one change is that of brute force over all options", function()
    local same, by_count, told = compared(5, 8, 1)
    test.check(#told == 0, "%d of 8 are the same\n%s", same, table.concat(told, "\n"))
    test.check((by_count[1] or 0) >= 2, "too few scenarios need a change")
  end)
end

test.finish()
