-- `--as`: the result of a run in the tables of benchmark tools.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local printed = require "rooflua.bench.printed"
local poisson = require "workloads.poisson"

local function latency(mean, p50, p99) return { mean = mean, p50 = p50, p90 = p99, p95 = p99, p99 = p99, max = p99 } end

local summary = { completed = 9, failed = { aborted = 2, timeout = 1 }, duration_s = 4, prompt_tokens = 4000,
  output_tokens = 1000, requests_per_s = 2.25, output_tokens_per_s = 250, peak_output_tokens_per_s = 400,
  peak_concurrency = 3, ttft_s = latency(0.0215, 0.02, 0.03), tpot_s = latency(0.00673, 0.0067, 0.007),
  itl_s = latency(0.007, 0.0066, 0.0129), e2e_s = latency(2, 1.9, 2.5) }

test("vllm bench serve's table, with its widths", function()
  local text = printed.text("vllm", summary, poisson { rate_per_s = 2.5 })
  test.equal(text:match "^[^\n]*", "============ Serving Benchmark Result ============")
  for line in text:gmatch "[^\n]+" do test.check(#line >= 50, "%s", line) end
  for _, line in ipairs { "Successful requests:                     9         ",
    "Failed requests:                         3         ", "Request rate configured (RPS):           2.50      ",
    "Total token throughput (tok/s):          1250.00   ", "---------------Time to First Token----------------",
    "-----Time per Output Token (excl. 1st token)------", "Mean TTFT (ms):                          21.50     ",
    "P99 ITL (ms):                            12.90     " } do
    test.check(text:find(line .. "\n", 1, true), "%s is not in %s", line, text)
  end
  test.check(not text:find "concurrency:", "no limit was stated")
  test.check(not text:find "goodput", "there is no SLO")
end)

test("sglang.bench_serving's table says clients, and how many requests ran on average", function()
  local text = printed.text("sglang", summary, require "workloads.closed_loop" { clients = 8 })
  for _, line in ipairs { "Traffic request rate:                    inf       ",
    "Max request concurrency:                 8         ", "Concurrency:                             4.50      ",
    "Input token throughput (tok/s):          1000.00   ", "Max ITL (ms):                            12.90     " } do
    test.check(text:find(line .. "\n", 1, true), "%s is not in %s", line, text)
  end
end)

local requests = { input_lens = { 100, 300, 50 }, output_lens = { 11, 1, 0 }, ttfts = { 0.02, 0.04, 0 },
  e2els = { 0.12, 0.04, 0 }, errors = { "", "", "aborted" } }

test("AIPerf's table has a column per statistic, of the requests that were completed", function()
  local text = printed.text("aiperf", core.copy(summary, { requests_per_s = 1234.5 }), nil, requests)
  local width
  for line in text:gsub("^[^\n]*\n", ""):gmatch "[^\n]+" do
    local _, cells = line:gsub("[^\128-\191]", "")
    width = width or cells
    test.equal(cells, width, line)
  end
  test.has(text, "NVIDIA AIPerf | LLM Metrics\n")
  for _, line in ipairs { "┃ Metric ┃ avg ┃ min ┃ max ┃ p99 ┃ p90 ┃ p50 ┃ std ┃",
    "│ Time to First Token (ms) │ 30.00 │ 20.00 │ 40.00 │ 39.80 │ 38.00 │ 30.00 │ 10.00 │",
    "│ Request Latency (ms) │ 80.00 │ 40.00 │ 120.00 │ 119.20 │ 112.00 │ 80.00 │ 40.00 │",
    "│ Inter Token Latency (ms) │ 10.00 │ 10.00 │ 10.00 │ 10.00 │ 10.00 │ 10.00 │ 0.00 │",
    "│ Output Token Throughput Per User │ 100.00 │", "│ (tokens/sec/user) │ │",
    "│ Input Sequence Length (tokens) │ 200.00 │",
    "│ Request Throughput (requests/sec) │ 1,234.50 │ N/A │", "│ Request Count (requests) │ 9.00 │ N/A │" } do
    test.has(text:gsub(" +", " "), line)
  end
  local none = { completed = 0, failed = {}, duration_s = 0, prompt_tokens = 0, output_tokens = 0 }
  text = printed.text("aiperf", none, nil, { errors = { "aborted" } })
  test.check(not text:find "Token" and not text:find "Count", "%s", text)
end)

test("a figure that a run lacks has no row, and another tool is refused", function()
  local none = { completed = 0, failed = {}, duration_s = 0, prompt_tokens = 0, output_tokens = 0 }
  local text = printed.text("vllm", none, nil)
  test.check(not text:find "TTFT" and not text:find "throughput", "%s", text)
  test.raises("did you mean 'vllm'", function() printed.check "vlm" end)
end)

test("the program prints the table of one run", function()
  local path = test.file("one.lua", [[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm",
    workload = require "workloads.poisson" { rate_per_s = 4, num_requests = 5 } }]])
  local text = test.printed(("run %s --quiet --as vllm"):format(path), ".")
  test.has(text, "Successful requests:                     5")
  test.has(text, "interval  TPOT")
  text = test.printed(("run %s --quiet --as aiperf"):format(path), ".")
  test.has(text:gsub(" +", " "), "Request Count (requests) │ 5.00 │")
end)

test.finish()
