-- A scrape of a vLLM server as a measured run: sums and counts give means, two scrapes their difference; what a scrape
-- cannot say is said, and a wrong or partial one is refused by its line or name.
local test = dofile "tests/scripts/harness.lua"
require "rooflua"
local measured = require "rooflua.formats.measured_runs"
local native = require "rooflua.native"
local tools = require "rooflua.formats.tools"

local function fixture(name) return native.read_file("tests/fixtures/formats/vllm_metrics_" .. name .. ".txt") end
local before, after = fixture "before", fixture "after"

local function read(text) return measured.read(test.file(".txt", text)) end
local function refused(part, text)
  test.raises(part, function() measured.read_all(test.file(".txt", text)) end)
end
local function notes_of(run) return table.concat(run.notes, "; ") end

test("a scrape is told by its text and counts from the server's start", function()
  test.equal(tools.name("metrics", after), "prometheus")
  test.equal(tools.name("a.csv", "arrival_s,prompt_tokens,output_tokens\n1,2,3\n"), nil)
  local run = read(after .. "# rooflua rate_per_s 4\n")
  test.equal(#run.requests, 42, "stop and length; the aborted one is a failure")
  test.equal(run.failed, 1)
  test.near(run.metrics.ttft_s_mean, 10 / 42, 1e-12)
  test.near(run.metrics.e2e_s_mean, 19.25 / 43, 1e-12)
  test.equal(run.metrics.ttft_s_p50, nil, "buckets give no median")
  test.equal(run.how, "at 4 requests/s, burstiness 1")
  for _, part in ipairs { "counts from the start of the server", "medians are not known", "1 requests had not ended",
    "mean gap between tokens" } do
    test.check(notes_of(run):find(part, 1, true), "'%s' is not in: %s", part, notes_of(run))
  end
end)

test("two scrapes in one file are what happened between them", function()
  local run = read(before .. after .. "# rooflua duration_s 10\n")
  test.equal(#run.requests, 40)
  test.near(run.metrics.ttft_s_mean, 2 / 40, 1e-12)
  test.near(run.metrics.tpot_s_mean, 7.6 / 760, 1e-12)
  test.near(run.metrics.e2e_s_mean, 10.25 / 41, 1e-12)
  test.equal(run.requests[1].prompt_tokens, 200)
  test.equal(run.requests[1].output_tokens, 20)
  test.equal(run.how, "at 4 requests/s, burstiness 1")
  test.near(run.output_tokens_per_s, 80, 1e-9)
  test.check(notes_of(run):find("what happened between two scrapes", 1, true), notes_of(run))
end)

test("the load is the user's line, and without one the run is not replayed", function()
  test.equal(read(after .. "# rooflua clients 16\n").how, "from 16 clients")
  refused("says how many requests there were, and not when; add a line", after)
  refused(":31: unknown word 'rate'; did you mean 'rate_per_s'? (known: clients, duration_s, rate_per_s)",
    after .. "# rooflua rate 3\n")
  refused(":31: rate_per_s: expected a number above 0", after .. "# rooflua rate_per_s fast\n")
  refused(":31: rate_per_s: expected a number above 0", after .. "# rooflua rate_per_s -2\n")
  refused(":31: expected '# rooflua rate_per_s 8'", after .. "# rooflua hello, world\n")
end)

test("TPOT is that of requests where the server has it", function()
  local run = read(after .. "# rooflua rate_per_s 4\nvllm:request_time_per_output_token_seconds_sum 0.8\n"
    .. "vllm:request_time_per_output_token_seconds_count 40\n")
  test.near(run.metrics.tpot_s_mean, 0.02, 1e-12)
  test.check(not notes_of(run):find("gap between tokens", 1, true), notes_of(run))
end)

test("engines are summed, a prefix of the names is fine, and a warm prefix cache is told of", function()
  local second = after:gsub('engine="0"', 'engine="1"')
  local run = read(after .. second .. "# rooflua rate_per_s 4\nvllm:prefix_cache_hits_total 30\n"
    .. "vllm:prefix_cache_queries_total 100\n")
  test.equal(#run.requests, 84)
  test.near(run.metrics.ttft_s_mean, 10 / 42, 1e-12)
  test.check(notes_of(run):find("30 % of the prompt tokens were in the prefix cache", 1, true), notes_of(run))
  test.equal(#read((after:gsub("vllm:", "kserve_vllm:")) .. "# rooflua rate_per_s 4\n").requests, 42)
  test.equal(#read((after:gsub("\n", "\r\n")) .. "# rooflua rate_per_s 4\r\n").requests, 42)
end)

test("a wrong or partial scrape is refused by its line or name", function()
  local function without(name) return (after:gsub(name .. "[^\n]*\n", "")) end
  refused("vllm:time_to_first_token_seconds_count is missing; the scrape is incomplete",
    without "vllm:time_to_first_token_seconds_count")
  refused("vllm:e2e_request_latency_seconds_sum is missing", without "vllm:e2e_request_latency_seconds_sum")
  refused("vllm:request_success_total is missing; the scrape is incomplete",
    (without "vllm:request_success_total":gsub("vllm:e2e[^\n]*\n", "")))
  refused("without vLLM's metrics (vllm:...); only those are known", "# TYPE sglang:x counter\nsglang:x 3\n")
  refused(":1: vllm:prompt_tokens_total: expected a number, found 'many'", "vllm:prompt_tokens_total many\n" .. after)
  refused("the labels of vllm:prompt_tokens_total have no end", 'vllm:prompt_tokens_total{engine="0" 3\n')
  refused(":1: expected labels as name=\"value\", found 'engine=0'", "vllm:prompt_tokens_total{engine=0} 3\n")
  refused("the value of the label 'engine' has no end", 'vllm:prompt_tokens_total{engine="0} 3\n')
  refused("no data: no request ended", (after:gsub("(request_success_total{[^\n]*}) [^\n]*", "%1 0.0")))
  refused("vllm:e2e_request_latency_seconds_count falls from 43 to 2: the server was started again between the "
    .. "scrapes, or they are in the wrong order",
    after .. before)
  refused("is in the first scrape and not in the second; the second is incomplete",
    before .. without "vllm:inter_token_latency_seconds_sum" .. "# rooflua rate_per_s 4\n")
  refused("holds 3 scrapes; expected one, or two", before .. before .. after)
  refused("no data: no request ended between the scrapes", after .. after)
  refused("holds metrics of 2 models (m, org/a", after .. 'vllm:num_requests_waiting{model_name="m"} 0\n')
end)

test("any line may be missing or wrong: the file is read or refused in words", function()
  local lines, tried, was_read = {}, 0, 0
  for line in (before .. after .. "# rooflua rate_per_s 4\n"):gmatch "[^\n]+" do lines[#lines + 1] = line end
  local path = test.file(".txt", "")
  for i, line in ipairs(lines) do
    for _, wrong in ipairs { "", (line:gsub("[^ ]+$", "NaN")), (line:gsub("[^ ]+$", "-1")),
      (line:gsub("[^ ]+$", "1e300")), (line:gsub("[^ ]+$", "+Inf")), line .. "x", line:sub(1, #line / 2), "{" } do
      lines[i] = wrong
      local file = assert(io.open(path, "w"))
      file:write(table.concat(lines, "\n"), "\n")
      file:close()
      lines[i] = line
      local ok, problem = pcall(measured.read_all, path)
      tried, was_read, problem = tried + 1, was_read + (ok and 1 or 0), tostring(problem)
      test.check(ok or problem:find(path, 1, true) and not problem:find "attempt to"
        and not problem:find "bad argument", "line %d '%s': %s", i, wrong, problem)
    end
  end
  test.at_least(tried, 400)
  test.at_least(was_read, 100)
  test.at_least(tried - was_read, 60)
end)

test.finish()
