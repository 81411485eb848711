-- A day of a plan's load: the fleet for the peak against autoscalers.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local json = require "rooflua.json"

local function flat(text) return (text:gsub("%s+", " ")) end

--- A plan of one small replica, whose day has 43,200 requests.
local function asked(day, more)
  local plan = { load = { rate_per_s = 0.5, peak = 2 }, slo = { ttft_s_p99 = 20 }, ranks = 1, replicates = 0,
    gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } }, day = day,
    candidates = require "candidates.listed" { list = { { tp = 1, max_num_seqs = 1,
      max_num_batched_tokens = 1024 } } } }
  for key, value in pairs(more or {}) do plan[key] = value end
  local done = setup.report(plan, { workload = require "workloads.poisson" { prompt_tokens = 200,
    output_tokens = 300 } })
  return json.decode(json.encode(done.document)), flat(done.text), flat(setup.page_text(done))
end

local quick = { provision_s = 10, init_s = 20 }

test("an autoscaler pays fewer GPU-hours than the fleet for the peak, and the answer says whether it meets the SLO",
  function()
    local document, text, shown = asked { autoscalers = { "target",
      require "autoscalers.hpa" { metric = "running", target = 0.6 } }, start = quick }
    local fixed, one, scaled = document.day.fleets[1], document.day.fleets[2], document.day.fleets[3]
    local replicas = document.ranks[1].gpus.replicas
    test.check(replicas > 1, "the peak needs one replica")
    test.near(fixed.gpu_hours, 24 * replicas, 0.05)
    test.near(fixed.cost, 3 * fixed.gpu_hours, 1e-9)
    test.equal(fixed.autoscaler, nil)
    test.equal(one.autoscaler, "target")
    test.near(one.gpu_hours, 24, 0.3)
    test.equal(one.meets, false)
    test.check(scaled.gpu_hours < 0.95 * fixed.gpu_hours, "%g GPU-hours for %g", scaled.gpu_hours, fixed.gpu_hours)
    test.check(scaled.most > scaled.fewest and scaled.most <= replicas, "%d to %d", scaled.fewest, scaled.most)
    for _, form in ipairs { text, shown } do
      test.check(form:find("hpa", 1, true) and form:find("GPU-hours", 1, true), "%s", form)
    end
    test.near(#document.day.hours, 24, 0)
  end)

test("the hours of a day have the peak that the GPUs are counted for", function()
  for _, peak in ipairs { 1.2, 2, 5 } do
    local day = require "rooflua.plan.day"
    local reader = { at = function(_, _, call, ...) return call(...) end,
      whole = function(_, _, value) return value end,
      fail = function(_, key, format, ...) error(key .. ": " .. format:format(...), 0) end }
    local read = day.read(reader, { autoscalers = { "target" } }, { load = { kind = "rate", value = 1, peak = peak },
      workload = require "workloads.poisson" { rate_per_s = 1 } })
    local sum, most = 0, 0
    for _, rate in ipairs(read.hours) do sum, most = sum + rate, math.max(most, rate) end
    test.near(most * 24 / sum, peak, 1e-6)
  end
end)

for _, case in ipairs {
  { { autoscalers = {} }, {}, "plan.day.autoscalers" },
  { { autoscalers = { "hpaa" } }, {}, "did you mean 'hpa'" },
  { { autoscalers = { "hpa" }, hours = { 1 } }, {}, "plan.day.hours" },
  { { autoscalers = { "hpa" }, min = -1 }, {}, "plan.day.min" },
  { { autoscaler = "hpa" }, {}, "did you mean 'autoscalers'" },
  { { autoscalers = { "hpa" } }, { load = { rate_per_s = 1 } }, "peak" },
  { { autoscalers = { "hpa" } }, { load = "recorded" }, "rate" },
} do
  test("a day that says too little is refused: " .. case[3], function()
    local ok, problem = pcall(asked, case[1], case[2])
    test.check(not ok and tostring(problem):find(case[3], 1, true), "%s", tostring(problem))
  end)
end

test("another autoscaler or smallest fleet of a kept plan runs what is new, and no search again", function()
  local opening, run = require "rooflua.runs.opening", require "rooflua.plan.run"
  local path = test.file("day.sqlite", "")
  local function book_of(day, results)
    local opened = opening.table(setup.scenario({ load = { rate_per_s = 0.05, peak = 2 }, slo = { ttft_s_p99 = 20 },
      ranks = 1, gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } }, day = day, candidates =
      require "candidates.listed" { list = { { tp = 1, max_num_seqs = 1, max_num_batched_tokens = 1024 } } } },
      { workload = require "workloads.poisson" { prompt_tokens = 200, output_tokens = 300 } }), {})
    local done = run.report(run.all(opened.reader, opened.given, { jobs = 1, results = results }))
    return done.question.book, done.text
  end
  local first = book_of({ autoscalers = { "target" }, start = quick }, path)
  test.equal(first.reused, 0)
  local more = book_of({ autoscalers = { "target", "scheduled" }, start = quick }, path)
  test.equal(more.reused, first.asked)
  test.equal(more.asked, first.asked + 1)
  local least, text = book_of({ autoscalers = { "target", "scheduled" }, start = quick, min = 0 }, path)
  test.equal(least.reused, first.asked - 2) -- the days are others
  test.equal(text, (select(2, book_of({ autoscalers = { "target", "scheduled" }, start = quick, min = 0 }))))
end)

test.finish()
