-- Ranges over time whose truth is known (dumps.lua), read back from each form: requests, rates and means are exact,
-- quantiles lie in their bucket; counters that fall, gaps, other steps, and what is not read with its reason.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local dumps = dofile "tests/scripts/ranges/dumps.lua"
local expressions = require "rooflua.ranges.expressions"
local measured_runs = require "rooflua.formats.measured_runs"
local range = require "rooflua.ranges.range"
local stamps = require "rooflua.ranges.stamps"

local seconds, step = 120, 10
local interval_count = seconds / step + 1 -- in the last one none comes, and some end
local requests = dumps.requests(400, seconds)
local function scrapes(about) return dumps.scrapes(requests, seconds + step, step, about) end

local function read(text, name)
  local path = test.file(name or "range.txt", text)
  test.check(range.form(text) ~= nil, "it is no range: %s", text:sub(1, 200))
  return range.of { { path = path, text = text } }
end

--- What is true of the requests that `take` says.
local function mean_of(take)
  local sum, count = 0, 0
  for _, each in ipairs(requests) do
    local value = take(each)
    if value then sum, count = sum + value, count + 1 end
  end
  return sum / count, count
end

local function is_in(at, i) return at > (i - 1) * step and at <= i * step end

--- All that a range says is true of the requests, interval by interval.
local function check(of, what, rounding)
  rounding = rounding or 1e-9
  test.equal(of.count, #requests, what)
  test.near(of.figures.ttft_s.mean, (mean_of(function(each) return each.first - each.arrival end)), rounding, what)
  test.near(of.figures.prompt_tokens, (mean_of(function(each) return each.prompt end)), rounding, what)
  test.near(of.figures.output_tokens, (mean_of(function(each) return each.output end)), rounding, what)
  test.equal(#of.intervals, interval_count, what)
  for i, each in ipairs(of.intervals) do
    local where = ("%s, interval %d"):format(what, i)
    local mean, ended = mean_of(function(one) return is_in(one.last, i) and one.last - one.arrival or nil end)
    local _, came = mean_of(function(one) return is_in(one.arrival, i) and 1 or nil end)
    test.equal(each.requests, ended, where)
    test.near(each.e2e_s.mean, mean, rounding, where)
    test.equal(each.arrivals, came, where)
    test.near(each.rate_per_s, came / step, 1e-9, where)
  end
end

local vllm = dumps.series(scrapes(), "vllm")

test("each form of a dump says what is true", function()
  for _, form in ipairs { "query_range", "promtool_json", "promtool", "grafana_long", "aiperf_jsonl" } do
    check(read(dumps[form](vllm)), form)
  end
  for _, stamp in ipairs { "iso", "milliseconds", "local" } do
    check(read(dumps.grafana(vllm, stamp)), "grafana, " .. stamp)
  end
  check(read("sep=,\r\n" .. dumps.grafana(vllm, "iso")), "grafana, for Excel")
end)

test("hits, tokens of a second and quantiles are those of the requests", function()
  local of = read(dumps.query_range(vllm))
  local _, hits = mean_of(function(each) return each.hits end)
  test.equal(hits, #requests)
  local all, cached = mean_of(function(each) return each.prompt end), mean_of(function(each) return each.hits end)
  test.near(of.figures.hit_frac, cached / all, 1e-9)
  for i, each in ipairs(of.intervals) do
    local list = {}
    for _, one in ipairs(requests) do
      if is_in(one.first, i) then list[#list + 1] = one.first - one.arrival end
    end
    table.sort(list)
    local truth = list[math.ceil(0.5 * #list)]
    local low, high = 0, math.huge
    for _, bound in ipairs { 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5 } do
      if bound < truth then low = bound elseif high == math.huge then high = bound end
    end
    test.check(each.ttft_s.p50 >= low and each.ttft_s.p50 <= high, "interval %d: median %g is not in %g..%g", i,
      each.ttft_s.p50, low, high)
  end
end)

test("slices of AIPerf's statistics are intervals, and statistics alone are one", function()
  local of = read(dumps.aiperf_json(vllm, 1))
  test.equal(#of.intervals, interval_count)
  test.equal(of.count, #requests)
  for i, each in ipairs(of.intervals) do
    local _, ended = mean_of(function(one) return is_in(one.last, i) and 1 or nil end)
    test.equal(each.requests, ended)
  end
  of = read(dumps.aiperf_json(vllm))
  test.equal(#of.intervals, 1)
  test.equal(of.count, #requests)
  local text = "# AIPerf Server Metrics Export (CSV)\n# schema_version: 1.0\n#\nEndpoint,Type,Metric,Unit,avg,engine,"
    .. "Description\nlocalhost:8000,gauge,vllm:num_requests_running,,3.5,0,x\n\nEndpoint,Type,Metric,Unit,total,rate,"
    .. "engine,finished_reason,Description\nlocalhost:8000,counter,vllm:request_success,,400,4,0,stop,x\n"
    .. "localhost:8000,counter,vllm:prompt_tokens,,200000,2000,0,,x\n"
    .. "localhost:8000,counter,vllm:generation_tokens,,40000,400,0,,x\n\n"
    .. "Endpoint,Type,Metric,Unit,count,count_rate,sum,avg,engine,Description,buckets\nlocalhost:8000,histogram,"
    .. "vllm:time_to_first_token_seconds,,400,4,80,0.2,0,x,0.1=100;1.0=400;+Inf=400\n"
  of = read(text)
  test.equal(of.count, 400)
  test.near(of.stop_s - of.start_s, 100, 1e-9)
  test.near(of.figures.ttft_s.mean, 0.2, 1e-9)
  test.near(of.figures.ttft_s.p50, 0.1 + 0.9 / 3, 1e-9)
  test.equal(of.intervals[1].running, 3.5)
end)

test("series of SGLang and TensorRT-LLM are read by their names", function()
  for _, engine in ipairs { "sglang", "trtllm" } do
    check(read(dumps.query_range(dumps.series(scrapes(), engine))), engine, 0.02)
  end
  local rank = dumps.series(scrapes(), "sglang", { tp_rank = "0" })
  for _, each in ipairs(dumps.series(scrapes(), "sglang", { tp_rank = "1" })) do rank[#rank + 1] = each end
  local of = read(dumps.query_range(rank))
  test.equal(of.count, #requests)
  test.has(table.concat(of.notes, "\n"), "of ranks above 0 are left out")
end)

test("counters that fall began again, with all counters of their process", function()
  local of = read(dumps.query_range(dumps.series(scrapes { restart = 50 }, "vllm")))
  test.equal(of.count, #requests)
  test.near(of.figures.prompt_tokens, (mean_of(function(each) return each.prompt end)), 1e-9)
  test.has(table.concat(of.notes, "\n"), "the server was started again")
end)

test("engines count together, and one that begins later counts from its first value", function()
  local both = dumps.series(scrapes(), "vllm")
  for _, each in ipairs(dumps.series(scrapes(), "vllm", { instance = "10.0.0.2:8000" })) do both[#both + 1] = each end
  local of = read(dumps.query_range(both))
  test.equal(of.count, 2 * #requests)
  test.equal(of.engines, 2)
  for _, each in ipairs(both) do
    if each.labels.instance == "10.0.0.2:8000" then
      for _ = 1, 4 do table.remove(each.points, 1) end
    end
  end
  local _, later = mean_of(function(each) return each.last > 40 and 1 or nil end)
  test.equal(read(dumps.query_range(both)).count, #requests + later)
end)

test("a gap makes one interval of several, and times that do not meet are named", function()
  local list = dumps.series(scrapes(), "vllm")
  for _, each in ipairs(list) do
    if each.name:find "e2e" then
      table.remove(each.points, 5)
      table.remove(each.points, 5)
    end
  end
  local of = read(dumps.query_range(list))
  test.equal(#of.intervals, interval_count - 2)
  test.equal(of.count, #requests)
  list = dumps.series(scrapes(), "vllm")
  for _, each in ipairs(list) do
    for _, point in ipairs(each.points) do
      if each.name:find "first_token" then point[1] = point[1] + 3 end
    end
  end
  of = read(dumps.query_range(list))
  test.equal(of.figures.ttft_s, nil)
  test.equal(of.count, #requests)
  test.has(of.unread[1].why, "lie between those of other series")
end)

test("several files are one range, and a value that two say differently is an error", function()
  local files = {}
  for i, each in ipairs(vllm) do
    local list = i % 2 == 0 and dumps.query_range { each } or dumps.promtool { each }
    files[i] = { path = ("part%d"):format(i), text = list }
  end
  check(range.of(files), "a file for each series")
  local list = { core.copy(vllm[1], { points = { { 1767225600, 12345 }, { 1767225610, 12346 } } }), vllm[1] }
  test.raises("two values at one time", function() read(dumps.query_range(list)) end)
  list = { vllm[1], core.copy(vllm[2], { labels = core.copy(vllm[2].labels, { model_name = "other" }) }) }
  test.raises("ask for one of them: {model_name=\"m\"}", function() read(dumps.query_range(list)) end)
end)

test("values that are no numbers are gaps, and Grafana's units are read", function()
  local text = dumps.query_range(vllm):gsub('%[1767225650,"[^"]*"%]', '[1767225650,"NaN"]', 3)
  test.equal(read(text).count, #requests)
  local list = {}
  for _, each in ipairs(vllm) do
    if not each.name:find "bucket" then list[#list + 1] = each end
  end
  local of = read(dumps.grafana(list, "local", function(each, value)
    if each.name:find "usage_perc" then return ("%.12g%%"):format(100 * value) end
    if each.name:find "seconds_sum" and value >= 1 and value < 60 then return ("%.17g s"):format(value) end
    if each.name:find "seconds_sum" then return value < 1 and ("%.15g ms"):format(1000 * value)
      or ("%.15g min"):format(value / 60) end
    if each.name:find "tokens_total" and value >= 1000 then return ('"%d,%03d"'):format(value / 1000, value % 1000) end
    return ("%.17g req"):format(value)
  end))
  check(of, "units", 1e-9)
  of = read(dumps.grafana(list, "local", function(each, value)
    return each.name:find "prompt_tokens_total" and value >= 1000 and ("%.3g K"):format(value / 1000)
      or ("%.17g"):format(value)
  end))
  test.has(of.unread[1].why, "rounded")
end)

test("expressions are read as far as they say what their values are", function()
  local function form(text) return (expressions.read(text) or {}).form end
  test.equal(form 'vllm:x{a="b\\"c"}', "raw")
  test.equal(expressions.read('vllm:x{a="b\\"c"}').labels.a, 'b"c')
  test.equal(form "sum by (instance) (vllm:x)", "raw")
  test.equal(form "sum(rate(vllm:x[5m])) by (le)", "rate")
  test.equal(expressions.read("increase(x[1h30m])").window_s, 5400)
  local own = expressions.read 'histogram_quantile(0.95, sum by (le) (rate(vllm:x_bucket{model_name="m"}[1m])))'
  test.equal(own.form, "quantile")
  test.equal(own.name, "vllm:x")
  for _, text in ipairs { "a / b", "max(x)", 'x{a=~"b"}', "histogram_quantile(2, rate(x_bucket[1m]))", "rate(x)",
    "x[5m]", "topk(3, x)", "" } do
    local found, why = expressions.read(text)
    test.check(found == nil and why ~= "", "'%s' is read", text)
  end
end)

test("rates of Grafana are what counters grow by", function()
  local lines = { '"Time","sum(rate(vllm:request_success_total[10s]))","rate(vllm:prompt_tokens_total[10s])",'
    .. '"rate(vllm:generation_tokens_total[10s])","histogram_quantile(0.9, sum(rate('
    .. 'vllm:time_to_first_token_seconds_bucket[10s])) by (le))","avg(vllm:num_requests_running)",my line' }
  for i = 0, 6 do lines[#lines + 1] = ("%d,%g,%g,%g,%g,%g,1"):format(1767225600000 + 10000 * i, 2 + i, 500 * (2 + i),
    50 * (2 + i), 0.25, i) end
  local of = read(table.concat(lines, "\n") .. "\n")
  test.equal(of.count, 10 * (3 + 4 + 5 + 6 + 7 + 8))
  test.near(of.figures.prompt_tokens, 500, 1e-9)
  test.near(of.intervals[2].requests_per_s, 4, 1e-9)
  test.equal(of.intervals[1].ttft_s.p90, 0.25)
  test.has(of.unread[1].why, "Verbose")
  local text = table.concat(lines, "\n"):gsub("%[10s%]", "[5m]")
  test.has(table.concat(read(text .. "\n").notes, "\n"), "an average over 300 s")
end)

test("how lengths are spread is told from buckets, apart from how their means change", function()
  local spread = require "rooflua.ranges.spread"
  local bounds, state = { 50, 100, 200, 400, 800, 1600, 3200 }, 3
  local function normal()
    local sum = -6
    for _ = 1, 12 do
      state = (state * 1103515245 + 12345) % 2147483648
      sum = sum + math.floor(state / 65536) / 32768
    end
    return sum
  end
  for _, sigma in ipairs { 0, 0.3, 0.8 } do
    local all, list = { sum = 0, count = 0, buckets = {} }, {}
    for i, mean in ipairs { 150, 600 } do
      list[i] = { sum = 0, count = 2000 }
      for _ = 1, 2000 do
        local value = mean * math.exp(sigma * normal() - sigma * sigma / 2)
        list[i].sum, all.sum, all.count = list[i].sum + value, all.sum + value, all.count + 1
        for _, bound in ipairs(bounds) do
          all.buckets[bound] = (all.buckets[bound] or 0) + (value <= bound and 1 or 0)
        end
      end
    end
    local found = spread.of(all, list)
    if sigma == 0 then test.equal(found.sigma, 0) else test.near(found.sigma, sigma, 0.05) end
  end
end)

test("stamps are read in their forms, and others are none", function()
  for text, second in pairs { ["2026-01-01T00:00:00Z"] = 1767225600, ["2026-01-01T01:00:00.500+01:00"] = 1767225600.5,
    ["2026-01-01 00:00:00"] = 1767225600, ["1767225600123"] = 1767225600.123, ["1767225600"] = 1767225600,
    ["2024-02-29 12:00:00 UTC"] = 1709208000, ["2026/01/01 00:00:00"] = 1767225600 } do
    test.near((stamps.read(text)), second, 1e-12, text)
  end
  test.near((stamps.read(1.7672256e18)), 1767225600, 1e-12)
  for _, text in ipairs { "2026-02-29 12:00:00", "01/02/2026 12:00", "2026-13-01 00:00:00", "yesterday", "12", "-5", "",
    "2026-01-01 25:00:00", "2026-01-01T00:00:00+25:00" } do
    test.equal(stamps.read(text), nil, text)
  end
end)

test("what cannot be read is an error that names the file, its line or its key", function()
  local json = dumps.query_range { vllm[1] }
  for text, problem in pairs {
    ['{"status":"error","errorType":"bad_data","error":"no such metric"}'] = "answered with an error: no such",
    [json:gsub('"0"%]', '"much"]', 1)] = "values[0][1]: expected a number",
    [json:gsub("1767225600,", '"x",', 1)] = "values[0][0]: expected seconds since 1970",
    ['{"status":"success","data":{"resultType":"matrix","result":[]}}'] = "no data: no counter of an engine",
    ['{"data":{"resultType":"matrix","result":[{"metric":{},"values":[[1767225600,"1"],[1767225610,"1"]]}]}}']
      = "it has no name: the answer to an expression",
    [dumps.grafana({ vllm[1] }, "iso"):gsub("2026%-01%-01T00:00:30", "soon")] = ":5: column 'Time': expected seconds",
    [dumps.grafana({ vllm[1] }, "iso"):gsub(",0\r", ",a lot\r", 1)] = ":2: column 'vllm:request_success_total",
    ["vllm:num_requests_running =>\n3 @[1767225600]\nand so on\n"] = ":3: expected 'name{labels} =>'",
    [dumps.aiperf_jsonl(vllm):gsub('"value":', '"valu":', 1)] = ":1: metrics.vllm:",
  } do
    test.raises(problem, function() read(text) end)
  end
  local of = { { metric = { __name__ = "vllm:request_success_total" }, values = { { 1767225600, "1" },
    { 1767225610, "9" } } } }
  local late = test.file("late.json", dumps.query_range(vllm):gsub("1767225730,", "1967225730,"))
  test.raises("days, and the clock shows at most 100", function() measured_runs.read_all(late) end)
  local path = test.file("few.json", require("rooflua.json").encode(of))
  test.raises("no series says how long prompts are", function() measured_runs.read_all(path) end)
end)

test("a range is a measured run whose workload has its rates and lengths", function()
  local path = test.file("run.json", dumps.query_range(vllm))
  local run = measured_runs.read(path)
  test.equal(#run.requests, #requests)
  test.has(run.how, "a load of 13 intervals", "2026-01-01 00:00:00 to 2026-01-01 00:02:10 UTC")
  test.near(run.metrics.e2e_s_mean, (mean_of(function(each) return each.last - each.arrival end)), 1e-9)
  local sent, prompt, counts = 0, 0, {}
  local state = run.workload:requests(require("rooflua.random").streams(1))
  while true do
    local at, tokens = state.next(state)
    if not at then break end
    local i = math.floor(at / step) + 1
    sent, prompt, counts[i] = sent + 1, prompt + tokens, (counts[i] or 0) + 1
  end
  test.equal(sent, #requests)
  test.near(prompt / sent, run.range.figures.prompt_tokens, 0.1)
  for i, each in ipairs(run.range.intervals) do test.near(counts[i] or 0, each.arrivals, 1e-9, "interval " .. i) end
end)

test.finish()
