-- Paired comparisons: Student's t, and intervals that contain the truth as often as they claim.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local paired = require "rooflua.explore.paired"
local metrics = require "rooflua.measure.metrics"
local measure, sweep = rooflua.measure, rooflua.sweep

test("quantiles of Student's t are those of the tables", function()
  local known = { -- two-sided level, degrees of freedom, t: NIST/SEMATECH e-Handbook, 1.3.6.7.2
    { 0.95, 1, 12.706 }, { 0.95, 2, 4.303 }, { 0.95, 4, 2.776 }, { 0.95, 9, 2.262 }, { 0.95, 30, 2.042 },
    { 0.99, 5, 4.032 }, { 0.90, 10, 1.812 }, { 0.998, 3, 10.215 }, { 0.95, 100, 1.984 } }
  for _, each in ipairs(known) do test.near(paired.quantile(each[1], each[2]), each[3], 3e-4) end
end)

--- Share of intervals of n differences around 0 that contain 0.
local function coverage(method, n, trials)
  local stream, held = rooflua.random.streams(11):stream "coverage", 0
  for _ = 1, trials do
    local differences = {}
    for i = 1, n do differences[i] = stream:normal(0, 1) end
    local _, low, high = paired.interval(differences, 0.95, method)
    if low <= 0 and high >= 0 then held = held + 1 end
  end
  return held / trials
end

test("a 95 % interval holds the truth in 95 of 100 cases", function()
  local share = coverage("t", 5, 4000) -- standard error 0.0034
  test.check(share > 0.938 and share < 0.962, "%g", share)
  test.at_least(coverage("bootstrap", 30, 120), 0.85, "bootstrap")
end)

local function run(seed, variant, value)
  return { name = variant, parameters = { seed = seed, ["steps.x"] = variant }, seed = seed,
    summary = { requests_per_s = value } }
end

test("pairs are by seed, in whatever order runs come", function()
  local runs = { run(1, "a", 10), run(2, "a", 20), run(3, "a", 30), run(3, "b", 33), run(1, "b", 11), run(2, "b", 22) }
  local rows = measure.compare(runs, { metrics = { "requests_per_s" } })
  test.equal(#rows, 1)
  test.equal(rows[1].variant, "x=b")
  test.near(rows[1].difference, 2, 1e-12)
  test.equal(rows[1].seeds, 3)
  -- differences 1, 2, 3: mean 2, standard error 1 / sqrt(3), t = 4.3027
  test.near(rows[1].high, 2 + 4.302652730 / math.sqrt(3), 1e-6)
  test.equal(rows[1].clear, false)
  local narrow = measure.compare(runs, { metrics = { "requests_per_s" }, level = 0.5 })
  test.equal(narrow[1].clear, true)
  local again = measure.compare(runs, { metrics = { "requests_per_s" }, method = "bootstrap" })
  test.check(again[1].low >= 1 and again[1].high <= 3, "a mean of resampled differences lies among them")
end)

test("values that differ in the seventh digit are two variants", function()
  local runs = {}
  for _, value in ipairs { 0.1234567, 0.1234568, 1e15, 1e15 + 1, 0.1 + 0.2, 0.3 } do
    for seed = 1, 2 do
      runs[#runs + 1] = run(seed, value, seed)
    end
  end
  local groups = paired.groups(runs)
  test.equal(#groups, 6)
  test.equal(groups[1].name, "x=0.1234567")
  test.equal(groups[6].name, "x=0.3")
end)

test("common random numbers make intervals narrower than independent seeds would", function()
  local given = { model = "llama-3.1-8b", hardware = "h200", steps = require "steps.roofline_v1" {},
    workload = require "workloads.poisson" { rate_per_s = 15, num_requests = 80,
      prompt_tokens = { distribution = "uniform", min = 100, max = 2000 }, output_tokens = 50 } }
  local runs = sweep.grid { given,
    vary = { ["scheduler.max_num_batched_tokens"] = { 2048, 4096 } }, seeds = 6, jobs = 2 }
  local options = { metrics = { "e2e_s_mean" } }
  local row = measure.compare(runs, options)[1]
  -- the same runs, each paired with another seed
  local shuffled = {}
  for i, each in ipairs(runs) do
    local seed = each.parameters.seed
    if i > 6 then seed = seed % 6 + 1 end
    shuffled[i] = { name = each.name, summary = each.summary, parameters = { seed = seed,
      ["scheduler.max_num_batched_tokens"] = each.parameters["scheduler.max_num_batched_tokens"] } }
  end
  local other = measure.compare(shuffled, options)[1]
  test.near(row.difference, other.difference, 1e-9, "the means are the same")
  test.at_least(other.high - other.low, 3 * (row.high - row.low), "width")
end)

test("without seeds, runs stand side by side", function()
  local rows = measure.compare({ { summary = { requests_per_s = 2 } }, { summary = { requests_per_s = 3 } } },
    { metrics = { "requests_per_s" } })
  test.equal(rows[1][2], "run 1")
  test.equal(rows[2][4], 1.5)
end)

test("every figure of a summary is a metric, and every metric a figure", function()
  local given = { model = "llama-3.1-8b", hardware = "h200", steps = require "steps.roofline_v1" {},
    slo = { ttft_s = 1, tpot_s = 1 }, metrics = { utilisation = true },
    workload = require "workloads.poisson" { num_requests = 20, rate_per_s = 50, prompt_tokens = 64,
      output_tokens = 8 } }
  local one = sweep.grid { given, seeds = 1 }[1]
  for _, name in ipairs(metrics.names) do
    -- Nothing is wasted where no request was aborted.
    if name ~= "time_s" and not name:find "^wasted_" then test.check(metrics.value(one, name), "%s is nil", name) end
  end
  for name, value in pairs(one.summary) do
    if type(value) == "number" then
      test.equal(metrics.value(one, metrics.check(name, "test")), value, name)
    elseif type(value) == "table" and value.p99 then
      for statistic, number in pairs(value) do
        if statistic ~= "count" then
          test.equal(metrics.value(one, metrics.check(name .. "." .. statistic, "test")), number, name)
        end
      end
    end
  end
  test.near(metrics.value(one, "slo_attainment_frac"), 1, 1e-9)
end)

test("mistakes", function()
  local runs = { run(1, "a", 1), run(1, "b", 2) }
  test.raises("did you mean 'requests_per_s'", function() measure.compare(runs, { metrics = { "request_per_s" } }) end)
  test.raises("between 0 and 1", function() measure.compare(runs, { level = 95 }) end)
  test.raises("did you mean 'bootstrap'", function() measure.compare(runs, { method = "bootstrp" }) end)
  test.raises("at least two", function() measure.compare { runs[1] } end)
  test.raises("two runs of", function() measure.compare({ run(1, "a", 1), run(1, "a", 1), run(2, "a", 3) }) end)
end)

test.finish()
