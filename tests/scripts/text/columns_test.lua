-- The rules of tables as text, and of quantiles.
local test = dofile "tests/scripts/harness.lua"
local columns = require "rooflua.text.columns"
local statistics = require "rooflua.base.statistics"

test("columns of numbers are set to the right, others to the left, by what a terminal shows", function()
  test.equal(columns.text({ { "name", "n", "mixed" }, { "µs", "1", "2" }, { "b", "-10", "x" } }, "  "),
    "  name    n  mixed\n  µs      1  2\n  b     -10  x")
  test.equal(columns.text { { "only", "a header" } }, "only  a header")
  test.equal(columns.text { { "a" }, { "" }, { "<0.1 %" } }, "     a\n\n<0.1 %")
end)

test("the first columns to the left, whatever they hold", function()
  test.equal(columns.after(1, { { "a", "b" }, { "10", "text" } }), "a      b\n10  text")
end)

test("values: numbers to the right with six digits, texts to the left; a list of tables with a line between", function()
  local one = { { "a", "b" }, { 1 / 3, "x" }, { 20, true } }
  test.equal(columns.values(one), "a         b\n0.333333  x\n      20  true")
  test.equal(columns.values { one, { { "c" }, { 1 } } }, columns.values(one) .. "\n\nc\n1")
end)

test("a page shows numbers of a scenario's own report as reports do, and a terminal all of them", function()
  local answer = require "rooflua.text.answer"
  local rows = { { "fleet", "GPU-hours", "ms", "peak" }, { "hpa", 0.999155, 230788.6, 8 },
    { "keda", 1.78333, 93.6695, 0 } }
  test.equal(answer.figures(rows), "fleet  GPU-hours  ms      peak\nhpa       0.9992  230789     8\n"
    .. "keda       1.783   93.67     0")
  test.equal(answer.text(rows), "fleet  GPU-hours  ms       peak\nhpa     0.999155   230789     8\n"
    .. "keda     1.78333  93.6695     0")
  test.check(answer.figures { mean_ms = 230788 }:find("230,788", 1, true))
end)

test("no quantity has an exponent, whatever its magnitude and unit", function()
  local units = require "rooflua.text.units"
  for magnitude = -30, 25 do
    for _, mantissa in ipairs { 1, 2.0184567, 9.99996, -4.2 } do
      local value = mantissa * 10 ^ magnitude
      local texts = { columns.values { { "name", value } }, require("rooflua.text.answer").text { { "name", value } },
        units.significant(value, 3) }
      for _, unit in ipairs { "s", "B", "flop/s", "tokens", "requests", "share" } do
        texts[#texts + 1] = units.text(value, unit)
      end
      for _, text in ipairs(texts) do test.check(not text:find "%de[+-]", "%s of %.17g", text, value) end
      if magnitude >= -6 then test.near(tonumber(units.significant(value, 6)), value, 6e-6) end
    end
  end
  test.equal(units.text(20.18, "s"), "20.18 s")
  test.equal(units.text(3.469e-18, "s"), "<0.001 ns")
  test.equal(units.significant(20180.4, 4), "20180")
end)

test("quantiles are numpy's: linear between ranks", function()
  -- numpy.quantile([4, 1, 3, 2], q)
  for q, expected in pairs { [0] = 1, [0.25] = 1.75, [0.5] = 2.5, [0.9] = 3.7, [1] = 4 } do
    test.near(statistics.quantile({ 4, 1, 3, 2 }, q), expected, 1e-15)
  end
  test.equal(statistics.median { 7, 1, 3 }, 3)
  test.equal(statistics.mean { 1, 2, 6 }, 3)
  test.check(statistics.mean {} == nil and statistics.median {} == nil)
  local values = { 3, 1, 2 }
  statistics.quantile(values, 0.5)
  test.equal(values[1], 3, "the list itself stays as it is")
end)

test.finish()
