-- Intervals of measured closed loops: the ends of a kind, without the points of the model that is asked about.
local test = dofile "tests/scripts/harness.lua"
local ends = require "rooflua.intervals.ends"
local intervals = require "rooflua.validate.closed_loops.intervals"
local kinds = require "rooflua.intervals.kinds"
local making = require "rooflua.intervals.making"
local validate = require "rooflua.validate.command"
local widths = require "rooflua.intervals.widths"

local write = dofile "tests/scripts/validate/closed_loop_file.lua" (test)

--- Questions of a document: `count` of one deployment, with measured / simulated from 1 to `most`.
local function questions(out, about, family, count, most)
  for i = 1, count do
    local ratio = most ^ ((i - 1) / math.max(1, count - 1))
    out[#out + 1] = { class = about.class or "dense", engine = about.engine or "vllm", gpu = about.gpu or "h100_sxm",
      architecture = "hopper", config = about.config or "exact", deployment = family .. "|gpu|engine",
      evidence = { measured = 1 - (about.modelled or 0), modelled = about.modelled },
      errors = { tpot = 1 / ratio - 1, ttft = ratio - 1, e2e = 1 / ratio - 1 },
      simulated = { tpot_mean = 1, ttft_mean = 1, queue_mean = about.queue or 0 } }
  end
  return out
end

local function both(list) return making.residuals(making.points(list), {}) end
local function made(list) return both(list).tables end

test("the ends of a kind leave a model out where another one is there, and name the only one", function()
  local list = questions(questions({}, {}, "one", 100, math.exp(1)), {}, "two", 100, math.exp(4))
  list[#list + 1] = { class = "dense", deployment = "three|gpu|engine", config = "exact", refused = "broken row" }
  local found = made(list)
  local of = found.kinds["vllm dense hopper"].unsaturated
  test.equal(of.points .. " " .. of.deployments, "200 2", "questions that were scored")
  test.near(of.without.one.tpot[2], 4 * 94 / 99, 1e-9, "of the other model")
  test.near(of.without.two.tpot[1], 4 / 99, 1e-9)
  test.near(of.without.two.ttft[1], -95 / 99, 1e-9, "the other metric has the other sign")
  test.equal(of.without.three, nil)
  test.equal(of.gpus["h100-sxm"][2], 200)
  test.equal(of.only, nil)
  local alone = made(questions({}, {}, "one", 10, 2)).kinds["vllm dense hopper"].unsaturated
  test.equal(alone.only, "one")
end)

test("a kind with few deployments has nearly the ends of the others, one with many its own", function()
  local list = questions({}, { class = "tep" }, "other", 100, math.exp(2))
  questions(list, {}, "few", 100, 1)
  local few = made(list).kinds["vllm dense hopper"].unsaturated
  test.check(few.tpot[2] > 1.5, "one deployment without errors among others with errors up to e^2")
  for i = 1, 200 do questions(list, {}, "m" .. i, 1, 1) end
  test.near(made(list).kinds["vllm dense hopper"].unsaturated.tpot[2], 0, 1e-9, "201 deployments")
end)

test("others weigh as much as they have deployments", function()
  local list = questions(questions({}, {}, "own", 1, 1), { class = "tep" }, "wrong", 10, math.exp(3))
  for i = 1, 99 do questions(list, { class = "pd" }, "right" .. i, 1, 1) end
  test.near(made(list).kinds["vllm dense hopper"].unsaturated.tpot[2], 0, 1e-9, "one deployment of a hundred is off")
end)

test("a kind that was never measured has the ends of 95 % of the deployments, each side for itself", function()
  local list = {}
  for _, engine in ipairs { "vllm", "sglang", "trtllm" } do
    for i = 1, 30 do questions(list, { engine = engine }, engine .. i, 1, 1) end
  end
  local none = made(list).unseen.unsaturated
  test.equal(none.deployments .. " " .. none.points, "90 90")
  test.near(none.tpot[2], 0, 1e-9)
  for i = 1, 4 do questions(list, { class = "tep" }, "wide" .. i, 50, math.exp(3)) end
  test.near(made(list).unseen.unsaturated.tpot[2], 0, 1e-9, "4 of 94 deployments are of a kind with other ends")
  for i = 5, 12 do questions(list, { class = "tep" }, "wide" .. i, 50, math.exp(3)) end
  local found = made(list)
  test.check(found.unseen.unsaturated.tpot[2] > 1, "12 of 102 are")
  test.near(found.unseen.unsaturated.tpot[1], 0, 1e-9, "no simulation is too slow")
  test.near(found.kinds["vllm tep hopper"].unsaturated.left_out.tpot[2], 0, 1e-9, "left out, a kind says nothing")
end)

test("simulations that rest on models are a group of their own", function()
  local list = questions({}, {}, "one", 100, math.exp(1))
  questions(list, { modelled = 0.3 }, "two", 100, math.exp(4))
  questions(list, { class = "tep", modelled = 0.2 }, "three", 10, 1)
  local found = both(list)
  test.equal(found.tables.points .. " " .. found.models.points, "110 100")
  local tables, models = found.tables.kinds["vllm dense hopper"].unsaturated, found.models.kinds["vllm dense hopper"]
  test.check(tables.tpot[2] <= 1, "errors of models say nothing of tables")
  test.near(models.unsaturated.tpot[2], 4 * 94 / 99, 1e-9)
  test.equal(kinds.basis_of { modelled = 0.15, assumed = 0.15 }, "models", "what is assumed rests on no table either")
  test.equal(kinds.basis_of { stand_in = 0.9, modelled = 0.1 }, "tables")
end)

test("an interval is never narrower on models than on tables, whatever was measured", function()
  math.randomseed(7)
  local random = math.random
  for _ = 1, 50 do
    local list = {}
    for i = 1, 12 do
      questions(list, { class = ({ "dense", "tep", "pd" })[random(3)], engine = ({ "vllm", "sglang" })[random(2)],
        modelled = ({ 0, 0.5 })[i < 3 and i or random(2)] }, "m" .. random(4) .. "-" .. i, random(5),
        math.exp(2 * random() - 1))
    end
    local found = both(list)
    for _, key in ipairs { "vllm dense hopper", "sglang tep hopper", "vllm pd hopper", "trtllm pp ada" } do
      for _, family in ipairs { false, "m1-1", "m2-2" } do
        local on = { tables = ends.of(found, key, "unsaturated", "tables", family or nil),
          models = ends.of(found, key, "unsaturated", "models", family or nil) }
        for _, metric in ipairs(ends.metrics) do
          test.check(on.models[metric][1] <= on.tables[metric][1] and on.models[metric][2] >= on.tables[metric][2],
            "%s %s %s", key, metric, tostring(family))
        end
      end
    end
  end
end)

test("left out, a measurement lies in as many of the intervals as is said", function()
  local list = questions(questions({}, {}, "one", 20, 2), { class = "tep" }, "two", 20, 4)
  local points = making.points(list)
  local of = making.coverage(points, both(list)).left_out
  test.equal(of.points, 40)
  test.equal(of.tpot.inside, 0.75, "all of one, and half of two")
  test.check(of.tpot.width > 0)
end)

test("a request that waits for more than half of its TTFT makes the load saturated", function()
  test.equal(kinds.load_of(0.6, 1), "saturated")
  test.equal(kinds.load_of(0.5, 1), "unsaturated")
  test.equal(kinds.load_of(nil, nil), "unsaturated")
  local found = made(questions(questions({}, {}, "one", 10, 2), { queue = 0.9 }, "two", 10, 3))
  test.equal(found.kinds["vllm dense hopper"].saturated.points, 10)
  test.equal(found.kinds["vllm dense hopper"].unsaturated.points, 10)
end)

test("questions whose settings are not stated are left out", function()
  local list = questions({}, {}, "one", 100, 2)
  local alone = making.text(made(list), "tables")
  questions(list, { config = "none" }, "one", 100, 50)
  test.equal(making.text(made(list), "tables"), alone)
  for _, each in ipairs(list) do each.config = each.config == "none" and "mixed" or each.config end
  test.equal(made(list).points, 200, "several sweeps have stated settings")
end)

test("the text that is made is Lua with the same counts", function()
  local list = questions(questions({}, {}, "one", 50, 2), {}, "two", 50, 3)
  local modelled = making.points(questions(questions({}, { modelled = 1 }, "one", 7, 2), {}, "two", 9, 2))
  local found = making.residuals(making.points(list), modelled)
  local tables = assert(loadstring(making.text(found.tables, "tables")))()
  test.equal(tables.points, 100)
  test.equal(tables.kinds["vllm dense hopper"].unsaturated.points, 100)
  local models = assert(loadstring(making.text(found.models, "models")))()
  test.equal(models.unseen.unsaturated.points, 7, "simulations without tables that still rest on tables do not count")
  test.equal(models.kinds["vllm dense hopper"].unsaturated.only, "one")
end)

test("a question takes no points of its own model, and is counted", function()
  local kind = { engine = "vllm", class = "moe-tp", architecture = "blackwell" }
  local function answer(family, off, evidence)
    local one = { class = kind.class, architecture = kind.architecture, question = { key = family .. "|gpu",
      engine = kind.engine }, simulated = { tpot_mean = 2, ttft_mean = 1, queue_mean = 0 },
      errors = { tpot = math.exp(-off) - 1, ttft = 0, e2e = 0 }, evidence = evidence or { measured = 1 } }
    one.intervals = intervals.of(one)
    return one
  end
  local low_high = widths.without(kind, "unsaturated", "tables", "gpt-oss-120b").tpot
  local inside, outside = answer("gpt-oss-120b", low_high[2] - 1e-9), answer("gpt-oss-120b", low_high[2] + 1e-9)
  test.near(inside.intervals.tpot.low, 2 * math.exp(low_high[1]), 1e-12)
  test.equal(inside.intervals.tpot.inside, true)
  test.equal(outside.intervals.tpot.inside, false)
  local own = widths.of(kind, "unsaturated", "tables").tpot
  test.near(answer("unknown", 0).intervals.tpot.high, 2 * math.exp(own[2]), 1e-12, "a model that no point is about")
  local models = widths.of(kind, "unsaturated", "models").tpot
  test.near(answer("unknown", 0, { modelled = 1 }).intervals.tpot.high, 2 * math.exp(models[2]), 1e-12, "the evidence")
  test.check(models[2] > own[2], "on models the ends are further out")
  test.check(own[2] ~= low_high[2], "points of a model move the ends of its kind")
  local found = intervals.coverage { inside, outside, {} }
  test.equal(found.tpot.questions, 2)
  test.equal(found.tpot.inside_frac, 0.5)
  test.near(found.tpot.high_over_low, math.exp(low_high[2] - low_high[1]), 1e-12)
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
  test.equal(found.document.silicon.class[one.class].intervals.e2e.questions, 1, "a broken row has none")
  local of = found.document.silicon.intervals
  test.equal(of.tpot.rows .. " " .. of.tpot.coverage, "1 " .. (one.intervals.tpot.inside and 1 or 0))
  for _, each in ipairs { { "engine", one.engine }, { "gpu", one.gpu }, { "class", one.class },
    { "load", intervals.load(one) } } do
    test.equal(of[each[1]][each[2]].e2e.rows, 1, each[1])
  end
  test.near(of.ttft.high_over_low, one.intervals.ttft.high / one.intervals.ttft.low, 1e-9)
  test.check(found.text:find("inside the 90 % interval, from the errors of other models", 1, true), "the report")
end)

test("silicon.modelled=1 takes the tables away, and nothing else is a value of it", function()
  local path = write { {} }
  local function evidence(set)
    local found = validate.run { folder = path, wide = true, scoped = nil, set = set and { set } or {} }
    return found.document.questions[1].evidence, found.document
  end
  local with = evidence()
  local without, document = evidence "silicon.modelled=1"
  test.check((with.measured or 0) + (with.interpolated or 0) > 0.5, "rows of tables")
  test.equal((without.measured or 0) + (without.interpolated or 0), 0)
  test.equal(document.silicon and document.settings.modelled, 1)
  test.raises("silicon.modelled=2: expected 0 or 1", function() evidence "silicon.modelled=2" end)
end)

test.finish()
