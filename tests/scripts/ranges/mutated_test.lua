-- Dumps that are changed at random: each is read or refused with a sentence, fast, and what is read can be simulated.
-- ROOFLUA_MUTATIONS=all: 5,000 of each form; else a few.
local test = dofile "tests/scripts/harness.lua"
local dumps = dofile "tests/scripts/ranges/dumps.lua"
local files = require "rooflua.program.files"
local measured_runs = require "rooflua.formats.measured_runs"
local mutation = dofile "tests/scripts/startup/mutation.lua"
local range = require "rooflua.ranges.range"

local count = os.getenv "ROOFLUA_MUTATIONS" == "all" and 5000 or 40
local longest_s = 2

local pieces = { "[", "{", "\"", "\\", "}", "=", ",", "\0", "\n", "\r\n", "\255\254", "null", "1e999", "-1", "NaN",
  "+Inf", "99999999999999999999", ("["):rep(200), "\"values\":[", "le=\"\"", " =>\n", " @[1767225600]\n", "sep=;\n",
  "vllm:prompt_tokens_total", "K", "%", "2026-01-01 00:00:00", "\"metric\":{}", "\"timeslices\":[{}]",
  ",,,,", "=HYPERLINK(1)" }

local list = dumps.series(dumps.scrapes(dumps.requests(60, 60), 70, 10), "vllm")

local function is_finite(value) return value == nil or value > -math.huge and value < math.huge end

local function holds(path, text, what)
  local before = os.clock()
  local handle = assert(io.open(path, "wb"))
  handle:write(text)
  handle:close()
  local ok, found = pcall(measured_runs.read_all, path)
  test.check(ok or mutation.is_clean(found), "%s: %s", what, tostring(found))
  local listed, answer = pcall(files.run, { path }, true, true)
  test.check(listed, "%s: files: %s", what, tostring(answer))
  if ok and found[1].range then
    for _, each in ipairs(found[1].load.intervals) do
      for name, value in pairs(each) do
        test.check(is_finite(value) and value >= 0, "%s: %s is %s", what, name, tostring(value))
      end
    end
    found[1].workload:list()
  end
  test.check(os.clock() - before < longest_s, "%s: took %.1f s", what, os.clock() - before)
end

for _, form in ipairs { "query_range", "promtool", "grafana", "grafana_long", "aiperf_jsonl", "aiperf_json" } do
  test(("%s: %d mutations are read, or refused with a sentence"):format(form, count), function()
    local path, text = test.file(form .. ".txt", ""), dumps[form](list, form == "grafana" and "local" or 1)
    test.check(range.form(text) ~= nil, "%s is no range", form)
    holds(path, text, form .. " as it is")
    for i = 1, count do holds(path, mutation.mutated(text, pieces), ("%s, mutation %d"):format(form, i)) end
    for part = 1, 9 do holds(path, text:sub(1, math.floor(#text * part / 10)), ("%s, %d tenths"):format(form, part)) end
  end)
end

test.finish()
