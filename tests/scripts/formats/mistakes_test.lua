-- A file of another tool in which any one value is replaced is read or refused in words that name the file: no reader
-- breaks on it. As a trace too, where the format is one. ROOFLUA_MUTATIONS=all: every wrong value in every place.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local json = rooflua.json
local native = require "rooflua.native"
local measured = require "rooflua.formats.measured_runs"
local trace = require "rooflua.trace"

local names = { "aiperf_profile_export.jsonl", "guidellm.json", "inference_perf_per_request.json",
  "inference_perf_stage_0.json", "inferencex_agg.json", "inferencex_rows.json", "llm_d_report.json",
  "otlp_spans.jsonl", "otlp_two_engines.jsonl" }
local values = { -1, 1e300, "x", json.null, json.array {}, { a = 1 }, true, 0, json.array { 1, 2 }, 2.5 }

--- Every place of a document: {table, key}.
local function places(document, out)
  for key, value in pairs(document) do
    out[#out + 1] = { document, key }
    if type(value) == "table" and value ~= json.null then places(value, out) end
  end
  return out
end

local path = test.file(".json")
local is_whole = os.getenv "ROOFLUA_MUTATIONS" == "all"

--- Whether the file is read; a refusal must be in words.
local function read(read_file, what)
  local ok, problem = pcall(read_file, path)
  problem = tostring(problem)
  test.check(ok or problem:find(path, 1, true) and not problem:find "attempt to" and not problem:find "bad argument",
    "%s: %s", what, problem)
  return ok
end

test("any value of any format may be wrong", function()
  local tried, was_read = 0, 0
  for _, name in ipairs(names) do
    local lines = {}
    local text = native.read_file("tests/fixtures/formats/" .. name)
    if name:find "jsonl$" then
      for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
    else
      lines[1] = text
    end
    for number, line in ipairs(lines) do
      local document = json.decode(line)
      local list = places(document, {})
      for i = 1, #list * (is_whole and #values or 1) do
        local place = list[(i - 1) % #list + 1]
        local before = place[1][place[2]]
        place[1][place[2]] = values[(i + number + math.floor((i - 1) / #list)) % #values + 1]
        lines[number] = json.encode(document)
        place[1][place[2]] = before
        local file = assert(io.open(path, "w"))
        file:write(table.concat(lines, "\n"), "\n")
        file:close()
        tried = tried + 1
        if read(measured.read_all, name) then was_read = was_read + 1 end
        if #lines > 1 then read(trace.open, name) end
      end
      lines[number] = line
    end
  end
  test.at_least(tried, 700)
  test.at_least(was_read, 100)
  test.at_least(tried - was_read, 100)
end)

test.finish()
