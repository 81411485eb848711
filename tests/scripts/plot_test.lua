-- Charts in the terminal: points that an axis cannot show are left out and counted, and nothing else changes.
local test = dofile "tests/scripts/harness.lua"
local plot = require "rooflua.text.plot"
local nan, inf = 0 / 0, math.huge

local function chart(x, y, more)
  local given = { title = "title", width = 40, height = 5, series = { { x = x, y = y } } }
  for key, value in pairs(more or {}) do given[key] = value end
  return plot.chart(given)
end

--- Rows of the canvas, without axes and labels.
local function picture(text) return (text:gsub("^[^\n]*\n", "")) end

test("points without a place are left out and counted, and the others stand where they stood", function()
  local clean = chart({ 1, 100 }, { 2, 50 }, { x_log = true, y_log = true, series = {
    { x = { 1 }, y = { 2 } }, { x = { 100 }, y = { 50 } } } })
  local dirty = chart({}, {}, { x_log = true, y_log = true, series = {
    { x = { 0, 1, 2, -1, nan, 10, inf }, y = { 1, 2, 0, 1, 1, nan, 5 } },
    { x = { 100, -inf, 5 }, y = { 50, 1, -inf } } } })
  test.equal(picture(dirty), picture(clean))
  test.check(dirty:find("8 points left out", 1, true), dirty)
  test.check(not clean:find "left out")
end)

test("a line breaks where a point has no place", function()
  local broken, whole = chart({ 0, 1, 2, 3, 4 }, { 0, 0, nan, 0, 1 }), chart({ 0, 1, 2, 3, 4 }, { 0, 0, 0, 0, 1 })
  test.check(broken:find("1 point left out", 1, true), broken)
  test.check(picture(broken) ~= picture(whole), "the gap is not to be seen")
end)

test("no value that is a number breaks a chart", function()
  local values = { 0, 1, -1, 1e-300, 1e300, -1e300, 5e-324, nan, inf, -inf, 1e15 }
  for _, a in ipairs(values) do
    for _, b in ipairs(values) do
      for mask = 0, 15 do
        local text = chart({ a, b }, { b, a }, { x_log = mask % 2 == 1, y_log = mask % 4 > 1, y_zero = mask % 8 > 3,
          series = { { x = { a, b }, y = { b, a }, points = mask > 7, steps = mask % 8 > 3 } } })
        test.check(not text:find "nan" and not text:find "inf", "%g, %g: %s", a, b, text)
      end
    end
  end
end)

test("without any point it says so", function()
  test.equal(chart({}, {}), "title  (nothing to show yet)")
  test.equal(chart({ nan }, { 1 }), "title  (1 point left out)")
end)

test.finish()
