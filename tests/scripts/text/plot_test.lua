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

test("series with names have a legend, and lines differ without colour", function()
  local function lines_of(names)
    local series = {}
    for i, name in ipairs(names) do
      series[i] = { x = { 0, 10 }, y = { i, i + 5 }, name = name, note = "note " .. i }
    end
    return chart({}, {}, { series = series })
  end
  local text = lines_of { "first", "second", "third" }
  local samples = {}
  for _, name in ipairs { "first", "second", "third" } do
    local sample = text:match("\n%s*(%S[^\n]-) +" .. name .. " +note")
    test.check(sample and not samples[sample], "no line of its own for %s: %s", name, text)
    samples[sample] = true
  end
  test.check(not chart({ 0, 1 }, { 0, 1 }):find "note", "a legend without names")
  local points = chart({}, {}, { series = { { x = { 1 }, y = { 1 }, points = true, name = "points" } } })
  test.check(points:find("points", 1, true), points)
end)

test("without any point it says so", function()
  test.equal(chart({}, {}), "title  (nothing to show yet)")
  test.equal(chart({ nan }, { 1 }), "title  (1 point left out)")
end)

test("a chart is as large as a terminal may be, and no larger", function()
  local measure = require("rooflua").measure
  local serve = require "rooflua.serve"
  local live = serve.open { model = "llama-3.1-8b", hardware = "h100-sxm", workload = require "workloads.poisson" {
    rate_per_s = 2, num_requests = 3, prompt_tokens = 100, output_tokens = 4 } }
  live:run()
  for _, view in ipairs { "load", "ttft_s", "roofline" } do
    for _, width in ipairs { 1e5, 2 ^ 63, inf, nan, -1, 0, 1001, 2.5, "80" } do
      test.raises("measure.plot: width: expected", function() measure.plot(live, view, { width = width }) end)
    end
    test.raises("measure.plot: height: expected a whole number up to 200", function()
      measure.plot(live, view, { height = 201 })
    end)
    test.check(#measure.plot(live, view, { width = 1000, height = 200 }) > 1000, view)
    test.check(#measure.plot(live, view, { width = 1, height = 1 }) > 10, view)
  end
end)

test.finish()
