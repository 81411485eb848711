-- cost.octaves and cost.octave_grid: what scripts see of them. The search itself: tests/cost/octave_grid_test.cpp.
local test = dofile "tests/scripts/harness.lua"
local cost = require("rooflua").cost

local codes = cost.evidence_codes()

--- A grid to 8 and 4 with latency x + y / 100, measured but for one extrapolated point at (4, 2).
local function rows()
  local latency_s, evidence = {}, {}
  for i, x in ipairs(cost.octaves(8)) do
    latency_s[i], evidence[i] = { [0] = x }, { [0] = codes.measured }
    for j, y in ipairs(cost.octaves(4)) do
      latency_s[i][j] = x + y / 100
      evidence[i][j] = x == 4 and y == 2 and codes.extrapolated or codes.measured
    end
  end
  return latency_s, evidence
end

test("an axis has 1, 2, 3 and then four points an octave", function()
  test.equal(table.concat(cost.octaves(4), " "), "1 2 3 4")
  test.equal(table.concat(cost.octaves(32), " "), "1 2 3 4 5 6 7 8 10 12 14 16 20 24 28 32")
  for _, wrong in ipairs { 2, 6, 2 ^ 27, 0 / 0, "8", false } do
    test.raises("expected a power of two from 4 to 2^26", function() cost.octaves(wrong) end)
  end
end)

test("a cell has the points around a place, the part of the way, and the evidence of those that count", function()
  local cell_at = cost.octave_grid(8, 4, rows())
  local cell = cell_at(4.25, 1.5)
  test.equal(cell.x, 4)
  test.equal(cell.next_x, 5)
  test.equal(cell.y, 1)
  test.equal(cell.next_y, 2)
  test.equal(cell.u, 0.25)
  test.equal(cell.v, 0.5)
  test.equal(cell.few_few, 4.01)
  test.equal(cell.few_many, 4.02)
  test.equal(cell.many_few, 5.01)
  test.equal(cell.many_many, 5.02)
  test.equal(cell.evidence, codes.extrapolated)
  test.equal(cell_at(4, 1).evidence, codes.measured)
  test.equal(cell_at(4.5, 1).evidence, codes.interpolated)
  test.equal(cell_at(4, 0).few_few, 4)
end)

test("a cell lives longer than its grid", function()
  local cells = {}
  for i = 1, 50 do cells[i] = cost.octave_grid(8, 4, rows())(4 + i / 64, 1.5) end
  collectgarbage()
  for _ = 1, 50 do cost.octave_grid(8, 4, rows())(7, 3) end
  for i = 1, 50 do
    test.equal(cells[i].u, i / 64)
    test.equal(cells[i].many_many, 5.02)
  end
end)

test("a cell is read-only, and a grid is asked with numbers", function()
  local cell_at = cost.octave_grid(8, 4, rows())
  test.raises("constant", function() cell_at(1, 1).u = 3 end)
  for _, wrong in ipairs { 0 / 0, "4", false } do
    test.raises("a grid: expected two numbers", function() cell_at(wrong, 1) end)
    test.raises("a grid: expected two numbers", function() cell_at(1, wrong) end)
  end
end)

test("a grid is whole: what is missing or no latency is named by its row and column", function()
  local latency_s, evidence = rows()
  latency_s[3][2] = nil
  test.raises("row 3, column 2: expected seconds >= 0", function() cost.octave_grid(8, 4, latency_s, evidence) end)
  latency_s[3][2] = -1
  test.raises("row 3, column 2: expected seconds >= 0", function() cost.octave_grid(8, 4, latency_s, evidence) end)
  latency_s, evidence = rows()
  evidence[8][0] = "measured"
  test.raises("row 8, column 0: expected a code", function() cost.octave_grid(8, 4, latency_s, evidence) end)
  evidence[8][0] = 6
  test.raises("row 8, column 0: expected a code", function() cost.octave_grid(8, 4, latency_s, evidence) end)
  latency_s[8] = nil
  test.raises("row 8, column 0: expected seconds", function() cost.octave_grid(8, 4, latency_s, evidence) end)
end)

test("an operation is recorded with the code of its evidence as with its name", function()
  for name, code in pairs(codes) do
    for _, given in ipairs { name, code } do
      local found = cost.explain(function() return cost.record("work", 1, given) end)
      test.equal(found.evidence[name], 1)
    end
    test.equal(cost.mixed(code, "measured"), name)
  end
  test.raises("expected a name, a code or an estimate, found number 6", function() cost.record("work", 1, 6) end)
  test.raises("expected a name, a code or an estimate, found number 0.5", function() cost.record("work", 1, 0.5) end)
end)

test.finish()
