-- Intervals of a validation: coverage is right where the truth is known, the factor of a case never uses runs of its
-- own model, and a case has the same answer whatever other cases run.
local test = dofile "tests/scripts/harness.lua"
local discrepancy = require "rooflua.intervals.discrepancy"
local interval = require "rooflua.intervals.table_errors"
local json = require "rooflua.json"
local random = require "rooflua.random"
local statistics = require "rooflua.base.statistics"
local validate = require "rooflua.validate.command"

local function about(model, gpu, scheduler)
  return { engine = { scheduler = scheduler or "vllm_v1" }, hardware = { name = gpu or "h100-sxm" },
    model = { name = model } }
end

--- `count` replicates of an error whose logarithm has the mean `center` and the width `spread`.
local function replicates(count, center, draw)
  local out = {}
  for i = 1, count do
    local value = math.exp(center + draw(i))
    out[i] = { errors = { tpot_mean = value - 1 }, simulated = { tpot_mean = value } }
  end
  return out
end

test("the ends of an interval hold nine of ten draws like theirs, with 19 of them as with 60", function()
  local stream = random.streams(1):stream "truth"
  for _, count in ipairs { 19, 60 } do
    local found = {}
    for i = 1, 3000 do
      local truth = stream:normal(0, 0.1)
      found[i] = { intervals = interval.of(replicates(count, -truth, function() return stream:normal(0, 0.1) end)) }
    end
    local share = interval.coverage(found, "tpot_mean").inside_frac
    test.check(share > 0.88 and share < 0.92, "%d draws hold %.1f %%", count, share * 100)
  end
  test.equal(interval.end_of({ 4, 1, 3, 2 }, 0.95), 4)
  test.equal(interval.end_of({ 4, 1, 3, 2 }, 0.05), 1)
  test.equal(interval.end_of({ 4, 1, 3, 2 }, 0.4), 2)
  test.equal(interval.end_of({ 7 }, 0.95), 7)
end)

test("cases inside are counted, cases without a measured value are not", function()
  local function case(low, high, inside)
    return { intervals = { e2e_mean = { low = low, high = high, inside = inside } } }
  end
  local one = interval.coverage({ case(-0.1, 0.1, true), case(0.1, 0.2, false), case(-0.3, -0.1, false),
    case(-0.2, 0, true), { intervals = { e2e_mean = { predicted = { low = 1, high = 2 } } } }, {} }, "e2e_mean")
  test.equal(one.cases, 4)
  test.equal(one.inside_frac, 0.5)
  test.near(one.mean_width, 0.175, 1e-12)
  test.equal(interval.coverage({ {} }, "e2e_mean"), nil)
end)

test("a term rests on other models, each once, less what the tables explain", function()
  local known = { [discrepancy.lender] = {
    a = { runs = 1, residual = 0.05, tables = 0.03 }, b = { runs = 9, residual = 0.13, tables = 0.05 },
    c = { runs = 2, residual = 0.03, tables = 0.03 }, d = { runs = 1, residual = 0.5, tables = 0 } } }
  local term, rows = discrepancy.of(about "d", known), known[discrepancy.lender]
  local square = term.scale ^ 2
  test.near(0.05 ^ 2 / (0.03 ^ 2 + square) + 0.13 ^ 2 / (0.05 ^ 2 + square) + 0.03 ^ 2 / (0.03 ^ 2 + square), 3, 1e-9)
  test.equal(term.models, 3)
  test.equal(term.borrowed, false)
  rows.d.residual, rows.b.runs = 0.9, 1
  test.equal(discrepancy.of(about "d", known).scale, term.scale)
  test.check(discrepancy.of(about "a", known).scale > term.scale, "another model's error does not count")
  test.equal(discrepancy.of(about("a", "some-gpu"), known).borrowed, true)
  for _, row in pairs(rows) do row.residual, row.tables = 0.04, 0 end
  test.near(discrepancy.of(about "d", known).scale, 0.04, 1e-9)
  for _, row in pairs(rows) do row.tables = 0.05 end
  test.equal(discrepancy.of(about "d", known).scale, 0)
  test.equal(discrepancy.factor(discrepancy.of(about "d", known), 1), 1)
end)

test("factors are Student's t, and the same again", function()
  local term, logs = { scale = 0.04, models = 8 }, {}
  for i = 1, 6000 do logs[i] = math.log(discrepancy.factor(term, i)) / term.scale end
  test.near(statistics.quantile(logs, 0.95), 1.860, 0.06)
  test.near(statistics.quantile(logs, 0.05), -1.860, 0.06)
  test.equal(math.log(discrepancy.factor(term, 17)) / term.scale, logs[17])
  test.near(discrepancy.factor(term, 17, true) * discrepancy.factor(term, 17), 1, 1e-12)
end)

--- Models whose steps have errors of tables and one factor of the model, both known.
local function world(stream)
  local results = {}
  for i = 1, 9 do
    local own = stream:normal(0, 0.05)
    for run = 1, 2 do
      local off = own + stream:normal(0, 0.03)
      results[#results + 1] = { about = about("model " .. i), off = off, found = {
        errors = { tpot_mean = math.exp(off) - 1 }, intervals = { tpot_mean = { deviation = 0.03 } } } }
    end
  end
  return results
end

test("with the term nine of ten measured values are inside, without it far fewer", function()
  local stream, with, without = random.streams(2):stream "world", {}, {}
  for trial = 1, 60 do
    local results = world(stream)
    local known = { [discrepancy.lender] = discrepancy.seen(results)["vllm_v1 on h100-sxm"] }
    for n, each in ipairs(results) do
      local term = discrepancy.of(each.about, known)
      local first = (trial * 100 + n) * 1000
      local function tables() return stream:normal(0, 0.03) end
      local function both(i)
        return tables() + math.log(discrepancy.factor(term, first + math.ceil(i / 2), i % 2 == 0))
      end
      with[#with + 1] = { intervals = interval.of(replicates(39, each.off, both)) }
      without[#without + 1] = { intervals = interval.of(replicates(39, each.off, tables)) }
    end
  end
  local share = interval.coverage(with, "tpot_mean").inside_frac
  test.check(share > 0.86 and share < 0.94, "with the term %.1f %% are inside", share * 100)
  share = interval.coverage(without, "tpot_mean").inside_frac
  test.check(share < 0.72, "without it %.1f %% are inside", share * 100)
end)

test("what runs show is a root mean square by model", function()
  local function result(model, error, deviation)
    return { about = about(model), found = { errors = { tpot_mean = error },
      intervals = { tpot_mean = { deviation = deviation } } } }
  end
  local rows = discrepancy.seen { result("a", math.exp(0.03) - 1, 0.01), result("a", math.exp(-0.04) - 1, 0.01),
    result("b", 0, 0.02) }["vllm_v1 on h100-sxm"]
  test.equal(rows.a.runs, 2)
  test.near(rows.a.residual, math.sqrt(0.00125), 1e-9)
  test.near(rows.a.tables, 0.01, 1e-9)
  test.equal(rows.b.residual, 0)
  test.equal(discrepancy.metric_of({ step_time = 1, tpot_mean = 1 }, true), "step_time")
  test.equal(discrepancy.metric_of({ e2e_mean = 1, tpot_mean = 1 }, true), "e2e_mean")
  test.equal(discrepancy.metric_of({ e2e_mean = 1, tpot_mean = 1 }, false), "tpot_mean")
end)

test("declared residuals have a deviation for every model, and a term for a model without measurements", function()
  for kind, models in pairs(discrepancy.known) do
    local count = 0
    for model, row in pairs(models) do
      count = count + 1
      test.check(row.runs >= 1 and row.residual > 0 and row.residual < 0.3 and row.tables > 0, "%s: %s", kind, model)
    end
    test.check(count >= discrepancy.fewest_models, "%s: only %d models", kind, count)
  end
  local term = discrepancy.of(about "a model of tomorrow")
  test.check(term.scale > 0 and term.scale < 0.1 and not term.borrowed, "scale %g", term.scale)
end)

-- Through the whole program ---------------------------------------------------------------------------------------

local loop = "closed loop c=16 in=2000 out=20"
local measured_folder = dofile "tests/scripts/validate/measured_folder.lua"
local folder, write, write_cases = measured_folder(test, { rating = "C", dataset = "own",
  file = "loop.csv", selector = "row", model = "llama-3.1-8b", gpu = "H100", tp = 1, precision = "bf16",
  engine = "vLLM 0.15.1", metrics = "x", measured = "e2e_ms=400;tpot_ms=8" })
write("loop.csv", "a,b\n1,2\n")
write_cases { { id = "one", workload = loop }, { id = "two", workload = loop .. ", mbt 4096" } }

local function intervals(options)
  options = options or {}
  local out = {}
  local done = validate.run { folder = folder, steps = { "kernels, shipped data" }, intervals = 20, only = options.only,
    set = options.set }
  for _, case in ipairs(done.document.cases) do
    test.check(case.problem == nil, "%s: %s", case.case_id, tostring(case.problem))
    out[case.case_id] = case
  end
  return out, done.text
end

test("an interval is the same bytes again, alone or among others", function()
  local first, second, alone = intervals(), intervals(), intervals { only = "two" }
  for _, id in ipairs { "one", "two" } do
    test.equal(json.encode(first[id].intervals), json.encode(second[id].intervals))
  end
  test.equal(json.encode(first.two.intervals), json.encode(alone.two.intervals))
end)

test("each term makes an interval wider, and a stated budget is never drawn", function()
  local function width(case, metric)
    local ends = case.intervals[metric].predicted
    return ends.high - ends.low
  end
  local none = intervals { set = { "interval.discrepancy=false", "interval.settings=false" } }
  local model = intervals { set = { "interval.settings=false" } }
  local budget = intervals { set = { "interval.discrepancy=false" } }
  test.check(width(model.two, "tpot_mean") > width(none.two, "tpot_mean"), "the model's error changes nothing")
  test.check(width(budget.one, "ttft_mean") > width(none.one, "ttft_mean"), "the budget changes nothing")
  test.equal(json.encode(budget.two.intervals), json.encode(none.two.intervals))
  test.equal(none.one.discrepancy, nil)
  test.equal(model.one.discrepancy.models, discrepancy.of(about "llama-3.1-8b").models)
end)

test("quantiles of a case's row are measured values like others", function()
  write("rows.csv", "experiment,stage,rate_rps,duration_s,ttft_p90_ms,ttft_p99_ms,e2e_p99_ms\na,0,2,20,50,100,\n")
  write_cases { { id = "rows", rating = "B", file = "rows.csv", selector = "experiment=a,stage=0",
    workload = "in=200 out=10", metrics = "p99", measured = "e2e_mean_ms=100" } }
  local found = intervals().rows.intervals
  for name, measured_s in pairs { ttft_p90 = 0.05, ttft_p99 = 0.1 } do
    local one = found[name]
    test.near(one.low, one.predicted.low / measured_s - 1, 1e-9, name)
    test.equal(one.inside, one.predicted.low <= measured_s and measured_s <= one.predicted.high, name)
  end
  test.equal(found.e2e_p99.inside, nil)
  test.check(found.e2e_mean.inside ~= nil, "the figure of the case is gone")
end)

test("the report says what the model's own error was taken to be, or what the runs show of it", function()
  write_cases { { id = "one", workload = loop } }
  local _, said = intervals()
  test.check(said:find("a factor on every step, from runs of other models", 1, true), "no term is printed")
  _, said = intervals { set = { "interval.discrepancy=false" } }
  test.check(said:find("Root mean squares of log(simulated / measured)", 1, true), "no residuals are printed")
  test.raises("unknown part of an interval 'discrepency'; did you mean 'discrepancy'",
    function() intervals { set = { "interval.discrepency=false" } } end)
  test.raises("expected true or false", function() intervals { set = { "interval.settings=3" } } end)
end)

test.finish()
