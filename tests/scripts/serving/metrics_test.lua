-- Metrics: what the engine declares is what help says; what a scenario adds is counted.
local core = require "rooflua.base.core"
local help = require "rooflua.help.topics"
local measure = require "rooflua.measure"
local metrics = require "rooflua.measure.metrics"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"
local sweep = require "rooflua.sweep"
local words = require "rooflua.base.words"
local chunks = require "rooflua.sandbox.chunks"
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

-- What is declared -----------------------------------------------------------------------------------------

test("help knows every metric and every vocabulary", function()
  for _, name in ipairs(metrics.names) do
    test.check(help.text(name):find(name, 1, true), "help %s", name)
  end
  test.check(help.text "metrics":find "goodput_per_s +requests/s +more", "the table of metrics")
  test.check(help.text "evidence":find "stand_in.*unsupported", "the vocabulary")
  test.check(help.text "metrics.ttft_above_frac":find "above_s = 1 s", "a policy of scripts/metrics")
end)

test("the words of Lua are the engine's, in their order", function()
  test.equal(table.concat(words.names "evidence", " "), "measured interpolated extrapolated stand_in modelled assumed")
  test.equal(words.by_code "bound"[0], "unknown")
  test.equal(words.codes "bound".link, 3)
  test.equal(words.codes "phase".decode, 4)
  test.check(not pcall(words.names, "colour"), "an unknown vocabulary")
end)

test("no Lua file restates the words of evidence or the names of metrics", function()
  local pipe = io.popen [[find scripts -name '*.lua' -not -path 'scripts/meta/*']]
  local count = 0
  for path in pipe:lines() do
    local text = read(path)
    count = count + 1
    test.check(not text:find '"measured",%s*"interpolated",%s*"extrapolated"', "%s lists evidence", path)
    test.check(not text:find '"compute",%s*"memory",%s*"link"', "%s lists bounds", path)
  end
  pipe:close()
  test.check(count > 100, "files were read")
end)

-- What a scenario adds ---------------------------------------------------------------------------------------

local function class_of(name) return chunks.require("metrics." .. name) end

local function scenario(added)
  return scene({
    rooflua = 1, hardware = "h200-sxm", steps = "roofline_v2", seed = 5,
    scheduler = chunks.require "schedulers.vllm_v1" { max_num_seqs = 4 },
    workload = chunks.require "workloads.poisson" { rate_per_s = 8, num_requests = 60, prompt_tokens = 700,
      output_tokens = 40 },
  }, added)
end

local function median_of_ttft()
  local values = serve.run(scenario(), { requests = true }).requests.ttfts
  local sorted = { unpack(values) }
  table.sort(sorted)
  return sorted[#sorted / 2], values
end

test("the share of late first tokens is that of the requests' own times", function()
  local limit_s, values = median_of_ttft()
  local late = 0
  for _, ttft_s in ipairs(values) do
    if ttft_s > limit_s then late = late + 1 end
  end
  local run = serve.run(scenario { metrics = { late_frac = class_of "ttft_above_frac" { above_s = limit_s } } })
  test.equal(run.summary.own.late_frac, late / #values)
  test.check(late > 0 and late < #values, "the limit lies inside")
end)

test("the decode batch is the median over the time of steps that decode", function()
  local live = serve.open(scenario { metrics = { batch = "decode_batch_p50",
    largest = class_of "decode_batch_p50" { share = 1 } } })
  live:run()
  local by_size, sum_s = {}, 0
  for _, step in ipairs(live:steps()) do
    if step.decodes > 0 then
      by_size[step.decodes] = (by_size[step.decodes] or 0) + step.end_s - step.start_s
      sum_s = sum_s + step.end_s - step.start_s
    end
  end
  local seen_s, median = 0, nil
  for size, time_s in core.sorted_pairs(by_size) do
    seen_s = seen_s + time_s
    if not median and seen_s >= sum_s / 2 then median = size end
  end
  test.equal(live:result().summary.own.batch, median)
  test.equal(live:result().summary.own.largest, #by_size)
end)

test("a run with metrics is otherwise the run without them", function()
  local plain = serve.run(scenario()).summary
  local counted = serve.run(scenario { metrics = { batch = "decode_batch_p50", late = "ttft_above_frac" } }).summary
  test.equal(plain.own, nil)
  counted.own = nil
  local json = require "rooflua.json"
  local function text(summary)
    return json.encode { summary.ttft_s, summary.e2e_s, summary.steps, summary.duration_s }
  end
  test.equal(text(counted), text(plain))
end)

local Seen = policy.define {
  name = "seen", doc = "Everything that a metric is told.", unit = "1", better = "more",
  params = { add = { default = 0, unit = "1", doc = "Added to the value." } },
}
function Seen:on_step(step)
  self.steps = (self.steps or 0) + 1
  self.time_s = (self.time_s or 0) + step.time_s
  for _, share_s in pairs(step.evidence_s) do self.evidence_s = (self.evidence_s or 0) + share_s end
  assert(step.replica == 1 and step.end_s >= step.start_s and step.total_blocks > 0)
end
function Seen:on_done(request)
  self.ended = (self.ended or 0) + 1
  assert(request.outcome == "completed" and request.prompt_tokens == 700 and request.session == nil)
  assert(math.abs(request.ttft_s - (request.first_token_s - request.arrival_s)) < 1e-9)
  assert(math.abs(request.tpot_s * 39 - (request.e2e_s - request.ttft_s)) < 1e-9)
  assert(request.arrival_s <= request.queued_s and request.queued_s <= request.scheduled_s)
end
function Seen:value()
  assert(math.abs(self.evidence_s - self.time_s) < 1e-9)
  return self.steps * 1000 + self.ended + self.add
end

test("metrics are told of every step and of every request", function()
  local run = serve.run(scenario { metrics = { seen = Seen {} } })
  test.equal(run.summary.own.seen, run.summary.steps * 1000 + 60)
end)

test("a fork has a copy of what its metrics counted", function()
  local live = serve.open(scenario { metrics = { seen = Seen {}, batch = "decode_batch_p50" } })
  live:run_until(3)
  local fork = live:fork()
  local before = live:result().summary.own
  fork:run()
  test.equal(live:result().summary.own.seen, before.seen)
  live:run()
  test.equal(live:result().summary.own.seen, fork:result().summary.own.seen)
  test.equal(live:result().summary.own.batch, fork:result().summary.own.batch)
  test.check(fork:result().summary.own.seen > before.seen, "the fork went on")
end)

test("sweeps over worker processes give the same values as one process", function()
  local given = scenario { metrics = { late = class_of "ttft_above_frac" { above_s = 0.05 } } }
  local function swept(jobs)
    local out = {}
    for i, run in ipairs(sweep.grid { given, vary = { ["workload.rate_per_s"] = { 4, 8, 16 } }, jobs = jobs }) do
      out[i] = run.summary.own.late
    end
    return out
  end
  local one, two = swept(1), swept(2)
  test.equal(#one, 3)
  for i = 1, 3 do test.equal(two[i], one[i]) end
  test.check(one[3] > one[1], "more load, more late requests")
end)

test("a search may bound a scenario's own metric, from the side that is better", function()
  local given = scenario { metrics = { late = class_of "ttft_above_frac" { above_s = 0.2 } } }
  local result = sweep.search { given, goal = "rate", slo = { late = 0.1 }, min = 1, max = 64, tolerance = 0.2 }
  test.check(result.value and result.value > 1 and result.value < 64, "a load was found")
  for _, entry in ipairs(result.tried) do
    test.equal(entry.meets, entry.metrics.late <= 0.1, "rate " .. entry.value)
  end
  given.metrics = { many = Seen {} }
  local more = sweep.search { given, goal = "rate", slo = { many = 1 }, min = 1, max = 4, tolerance = 1 }
  test.check(more.tried[1].meets, "at least 1 of what should be large")
  test.raises("did you mean 'late'", function()
    given.metrics = { late = "ttft_above_frac" }
    sweep.search { given, goal = "rate", slo = { lat = 0.1 }, min = 1, max = 4 }
  end)
end)

test("comparisons and --set reach a scenario's own metrics", function()
  local given = scenario { metrics = { late = class_of "ttft_above_frac" { above_s = 0.05 } } }
  local runs = sweep.grid { given, vary = { ["metrics.late.above_s"] = { 0.01, 10 } } }
  test.check(runs[1].summary.own.late > runs[2].summary.own.late, "the limit matters")
  local rows = measure.compare(runs, { metrics = { "late", "requests_per_s" } })
  test.equal(rows[2][1], "late")
  test.equal(rows[2][2], runs[1].summary.own.late)
end)

test("mistakes are found before anything runs, with their place", function()
  local function refused(words_, said)
    test.raises(words_, function() serve.open(scenario { metrics = said }) end)
  end
  refused("metrics.ttft_s: a metric of this name exists already", { ttft_s = Seen {} })
  refused("metrics.preemptions: a metric of this name exists", { preemptions = Seen {} })
  refused("did you mean 'exact_requests'", { exact_request = 100 })
  refused("has no value method", { it = chunks.require "schedulers.vllm_v1" {} })
  refused("unknown policy of metrics 'nothing'", { it = "nothing" })
  refused("expected a name for every metric", { Seen {} })
  refused("expected a table", Seen {})
  refused("letters, digits and _", { ["a b"] = Seen {} })
  local Odd = policy.define { name = "odd", doc = "x", better = "larger" }
  function Odd:value() return 1 end
  refused("unknown value 'larger'", { it = Odd {} })
end)

local function failing(methods)
  local Failing = policy.define { name = "failing", doc = "x" }
  function Failing.value() return 1 end
  for name, method in pairs(methods) do Failing[name] = method end
  return scenario { metrics = { it = Failing {} } }
end

test("errors of a metric end the run, and say where and when", function()
  local function raises(words_, methods) test.raises(words_, function() serve.run(failing(methods)) end) end
  raises("unknown field 'time'; did you mean 'time_s'", { on_step = function(_, step) return step.time end })
  raises("(metric, at 0.", { on_step = function(_, step) return step.time end })
  raises("a request: unknown field 'ttft'", { on_done = function(_, request) return request.ttft end })
  raises("a step is read-only", { on_step = function(_, step) step.time_s = 0 end })
  local function text() return "x" end
  raises(("metrics_test.lua:%d: metric failing: value() must return a number or nil, found text"):format(
    debug.getinfo(text, "S").linedefined), { value = text })
  raises("nothing calls 'on_Done'; did you mean 'on_done'?", { on_Done = function() end })
end)

test("a metric without a value has none", function()
  local run = serve.run(failing { value = function() return nil end })
  test.check(run.summary.own.it ~= run.summary.own.it, "nan in a live summary")
  test.equal(metrics.value({ summary = { own = { it = require("rooflua.json").null } } }, "it"), nil)
end)

test.finish()
