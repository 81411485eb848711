-- Intervals of measured closed loops: quantiles of the errors that other models had.
local test = dofile "tests/scripts/harness.lua"
local intervals = require "rooflua.validate.closed_loops.intervals"
local residuals = require "rooflua.validate.closed_loops.residuals"
local validate = require "rooflua.validate.command"

local write = dofile "tests/scripts/closed_loop_file.lua" (test)

--- Questions of a document: `count` of a family's deployment, with measured / simulated from 1 to `most`.
local function questions(out, class, family, count, most)
  for i = 1, count do
    local ratio = most ^ ((i - 1) / (count - 1))
    out[#out + 1] = { class = class, config = "exact", deployment = family .. "|gpu|engine",
      measured = { tpot = ratio, ttft = 1 / ratio },
      simulated = { tpot_mean = 1, ttft_mean = 1 } }
  end
  return out
end

test("quantiles leave the own model out, where other models have enough questions", function()
  local list = questions(questions({}, "dense", "one", 100, math.exp(1)), "dense", "two", 100, math.exp(4))
  list[#list + 1] = { class = "dense", deployment = "three|gpu|engine", refused = "broken row" }
  local found = intervals.residuals_of(list)
  test.equal(found.dense.questions, 200, "questions that were scored")
  test.near(found.dense.without.one.tpot[2], 4 * 94 / 99, 1e-9, "of the other model")
  test.near(found.dense.without.two.tpot[1], 4 / 99, 1e-9)
  test.near(found.dense.without.two.ttft[1], -95 / 99, 1e-9, "the other metric has the other sign")
  test.equal(found.dense.without.three, nil)
  test.near(found.all.tpot[2], found.dense.tpot[2], 1e-12, "one class is all classes")
  local few = intervals.residuals_of(questions(questions({}, "pd", "one", 39, 2), "pd", "two", 41, 2))
  test.equal(few.pd.without.two, nil, "39 questions of another model are too few")
  test.check(few.pd.without.one, "41 are not")
  few = intervals.residuals_of(questions(questions({}, "dpa", "one", 19, 2), "dpa", "two", 20, 2))
  test.equal(few.dpa, nil, "nor has a class with 39 quantiles")
  few = intervals.residuals_of(questions(questions({}, "dpa", "one", 20, 2), "dpa", "two", 20, 2))
  test.check(few.dpa, "one with 40 has")
end)

test("a class of one model says nothing about others, and has no quantiles", function()
  local found = intervals.residuals_of(questions(questions({}, "dense", "one", 100, 2), "tep", "two", 100, 9))
  test.equal(found.dense, nil)
  test.equal(found.all.questions, 200)
  test.near(found.all.without.one.tpot[2], math.log(9) * 94 / 99, 1e-9)
  found = intervals.residuals_of(questions({}, "dense", "one", 100, 2))
  test.equal(found.all.questions, 100, "all classes together always have some")
end)

test("questions whose settings nobody stated are left out", function()
  local list = questions({}, "dense", "one", 100, 2)
  local alone = intervals.text_of(intervals.residuals_of(list))
  for _, each in ipairs(questions({}, "dense", "one", 100, 50)) do
    each.config = "none"
    list[#list + 1] = each
  end
  test.equal(intervals.text_of(intervals.residuals_of(list)), alone)
  for _, each in ipairs(list) do each.config = each.config == "none" and "mixed" or each.config end
  test.equal(intervals.residuals_of(list).all.questions, 200, "several sweeps have stated settings")
end)

test("a deployment with many questions weighs less than they do, and more than one", function()
  local list = questions({}, "dense", "many", 400, 1)
  for _, each in ipairs(questions({}, "dense", "few", 4, 1)) do
    each.measured.tpot = 2
    list[#list + 1] = each
  end
  -- 400 questions weigh 20, and 4 questions weigh 2: 9 % of the weight, so that the upper 5 % are theirs.
  test.near(intervals.residuals_of(list).dense.tpot[2], math.log(2), 1e-12, "few")
  for i = 1, 3 do list[#list + 1 - i].measured.tpot = 1 end
  test.near(intervals.residuals_of(list).dense.tpot[2], 0, 1e-12, "one question of 404 does not")
end)

test("an interval is the simulated figure times the quantiles, and is counted", function()
  local function answer(family, class, tpot)
    local one = { class = class, question = { key = family .. "|gpu", measured = { tpot = tpot, ttft = 1 } },
      simulated = { tpot_mean = 2, ttft_mean = 1 } }
    one.intervals = intervals.of(one)
    return one
  end
  local quantiles = residuals["moe-tp"].without["deepseek-v3"].tpot
  local inside = answer("deepseek-v3", "moe-tp", 2 * math.exp(quantiles[2] - 1e-9))
  test.near(inside.intervals.tpot.low, 2 * math.exp(quantiles[1]), 1e-12)
  test.equal(inside.intervals.tpot.inside, true)
  local outside = answer("deepseek-v3", "moe-tp", 2 * math.exp(quantiles[2] + 1e-9))
  test.equal(outside.intervals.tpot.inside, false)
  test.near(answer("unknown", "moe-tp", 2).intervals.tpot.high, 2 * math.exp(residuals["moe-tp"].tpot[2]), 1e-12,
            "a model that no question is about")
  test.near(answer("unknown", "dpa", 2).intervals.tpot.high, 2 * math.exp(residuals.all.tpot[2]), 1e-12,
            "a class that few questions are about")
  local found = intervals.coverage { inside, outside, {} }
  test.equal(found.tpot.questions, 2)
  test.equal(found.tpot.inside_frac, 0.5)
  test.near(found.tpot.high_over_low, math.exp(quantiles[2] - quantiles[1]), 1e-12)
  test.equal(intervals.coverage { {} }, nil)
end)

test("--intervals reports them; without it there are none", function()
  local path = write { {}, { family = "" } }
  local plain = validate.run { folder = path, wide = true }
  test.equal(plain.document.silicon.all.intervals, nil)
  test.equal(plain.document.questions[1].intervals, nil)
  local found = validate.run { folder = path, wide = true, intervals = 1 }
  local one = found.document.questions[1]
  test.equal(one.intervals.tpot.inside, one.measured.tpot >= one.intervals.tpot.low
    and one.measured.tpot <= one.intervals.tpot.high)
  test.equal(one.simulated.tpot_mean, plain.document.questions[1].simulated.tpot_mean, "the figures stay")
  test.equal(found.document.silicon.class[one.class].intervals.tpot.questions, 1, "a broken row has none")
  test.check(found.text:find("inside the 90 % interval, from the errors of other models", 1, true), "the report")
end)

test("the quantiles are those of the text that makes them", function()
  local list = questions(questions({}, "dense", "one", 50, 2), "dense", "two", 50, 3)
  local text = intervals.text_of(intervals.residuals_of(list))
  test.check(text:find('["one"] = { tpot = {', 1, true) and text:find("questions = 100", 1, true), text)
  test.check(load(text), "the text is Lua")
end)

test.finish()
