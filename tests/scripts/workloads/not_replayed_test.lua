-- What a file of results states is replayed, or every output says that it is not.
local test = dofile "tests/scripts/harness.lua"
local trace = require "rooflua.trace"

--- Columns of a file of --requests: what is replayed, what is told of, and what that run found.
local replayed = { "class", "session", "outcome", "arrival_s", "prompt_tokens", "output_tokens", "priority", "tenant" }
local told = { cached_tokens = "had cached tokens", attempt = "were sent again by their clients" }
local found = { "id", "replica", "prefill_replica", "preemptions", "queue_s", "ttft_s", "tpot_s", "e2e_s", "rounds",
  "drafted_tokens", "accepted_tokens", "tier_tokens", "load_s", "origin", "held_s" }

local common = [[rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm", steps = "roofline_v1", replicas = 2,
  router = "round_robin", admission = require "admission.concurrency" { max_concurrency = 6, full = "hold" },
  links = { pcie = { bytes_per_s = 2e10, per = "replica" } },
  tiers = { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 1e9 } } },]]
local part = [[workload = require "workloads.poisson" { num_requests = 30, rate_per_s = 20, prompt_tokens = 600,
  output_tokens = 20, prefix_groups = 2, prefix_tokens = 640 }]]

local function write(name, text)
  local path = test.folder() .. "/" .. name
  local handle = assert(io.open(path, "w"))
  handle:write(text)
  handle:close()
  return path
end

--- The rows of a CSV without quotes, by its columns.
local function rows_of(path)
  local names, rows = {}, {}
  for line in io.lines(path) do
    local cells = {}
    for cell in (line .. ","):gmatch "([^,]*)," do cells[#cells + 1] = cell end
    if #names == 0 then
      names = cells
    else
      local row = {}
      for i, name in ipairs(names) do row[name] = cells[i] end
      rows[#rows + 1] = row
    end
  end
  return rows, names
end

write("from.lua", ("return { %s client = require 'clients.impatient' { first_token_s = 0.05, retries = 1 },"
  .. " workload = require 'workloads.mix' { parts = { { name = 'a', tenant = 3, %s }, "
  .. "{ name = 'b', tenant = 5, priority = 2, %s } } } }"):format(common, part, part))
write("to.lua", ("return { %s workload = require 'workloads.trace' { path = 'a.csv' } }"):format(common))
local said_first = test.printed("run from.lua --quiet --requests a.csv", test.folder())
local said = test.printed("run to.lua --requests b.csv", test.folder())
local first, names = rows_of(test.folder() .. "/a.csv")

test("every column of a file of results is replayed, told of, or what its run found", function()
  local known = { adapter = true } -- where a scenario has adapters: lua_adapters_test replays it
  for _, list in ipairs { replayed, found } do
    for _, name in ipairs(list) do known[name] = true end
  end
  for name in pairs(told) do known[name] = true end
  test.at_least(#names, 20, said_first)
  for _, name in ipairs(names) do test.check(known[name], "%s is neither", name) end
end)

--- Columns that the rows of a replay have lost, "" where there are none; and the number of rows that were compared.
local function lost_columns(again)
  local by_arrival, lost, count = {}, {}, 0
  for _, row in ipairs(again) do by_arrival[row.arrival_s] = row end
  for _, row in ipairs(first) do
    local other = by_arrival[row.arrival_s]
    if row.outcome == "completed" then
      count = count + 1
      for _, name in ipairs(replayed) do
        local compares = name ~= "session" or row.session ~= ""
        if compares and (other and other[name]) ~= row[name] and not lost[name] then
          lost[name], lost[#lost + 1] = true, name
        end
      end
    end
  end
  return table.concat(lost, " "), count
end

test("what is replayed is the same in the file of the replay", function()
  local lost, count = lost_columns((rows_of(test.folder() .. "/b.csv")))
  test.equal(lost, "")
  test.at_least(count, 30, "rows")
end)

test("a replay that changes a column of one request is noticed, and one that loses the request", function()
  for _, name in ipairs { "class", "outcome", "prompt_tokens", "output_tokens", "priority", "tenant" } do
    local again = rows_of(test.folder() .. "/b.csv")
    local last = #again
    while again[last].outcome ~= "completed" do last = last - 1 end
    again[last][name] = again[last][name] .. "1"
    test.equal(lost_columns(again), name)
    table.remove(again, last)
    test.has(lost_columns(again), "arrival_s")
  end
end)

--- Columns above 0 in completed rows of which a text does not tell, in order.
local function untold_columns(text)
  local out = {}
  for column, words in pairs(told) do
    local any = 0
    for _, row in ipairs(first) do any = any + (tonumber(row[column]) > 0 and row.outcome == "completed" and 1 or 0) end
    test.at_least(any, 1, column .. " above 0")
    if not text:find(words, 1, true) then out[#out + 1] = column end
  end
  table.sort(out)
  return table.concat(out, " ")
end

test("a replay that does not know a column any more is noticed", function()
  for column in pairs(told) do
    local text = assert(io.open(test.folder() .. "/a.csv")):read "*a"
    local renamed, count = text:gsub("^([^\n]*),(" .. column .. "),", "%1,note,")
    test.equal(count, 1, column)
    write("renamed.csv", renamed)
    write("renamed.lua", ("return { %s workload = require 'workloads.trace' { path = 'renamed.csv' } }"):format(common))
    test.equal(untold_columns(test.printed("run renamed.lua", test.folder())), column)
  end
end)

test("what is not replayed is told in every output", function()
  test.equal(untold_columns(said), "")
  test.has(test.printed("check to.lua", test.folder()), "had cached tokens")
  test.has(test.printed("run to.lua --quiet --json -", test.folder()), "had cached tokens")
end)

--- The notes of a trace.
local function notes_of(name, text)
  return table.concat(trace.describe(trace.open(write(name, text))).notes, "\n")
end

test("hits are told in other formats, and not where the file says what prompts consist of", function()
  local cached = "had cached tokens, 80 of all 300 prompt tokens"
  local header = "arrival_s,prompt_tokens,output_tokens"
  test.has(notes_of("1.csv", header .. ",num_cached_tokens\n0,100,5,\n1,100,5,80\n2,100,5,0\n"), "1 row " .. cached)
  test.has(notes_of("2.csv", header .. ",Cache Read Input Tokens\n0,100,5,0\n1,200,5,80\n"), cached)
  test.has(notes_of("3.jsonl", '{"timestamp": 0, "input_tokens": 100, "output_tokens": 5, "cached_tokens": 0}\n'
    .. '{"timestamp": 1, "input_tokens": 200, "output_tokens": 5, "cached_tokens": 80}\n'), cached)
  local row = '{"metadata": {"request_start_ns": %d}, "metrics": {"input_sequence_length": {"value": %d}, '
    .. '"output_sequence_length": {"value": 5}, "usage_prompt_cache_read_tokens": {"value": %d}}}\n'
  test.has(notes_of("4.jsonl", row:format(0, 100, 0) .. row:format(1e9, 200, 80)), cached)
  test.equal(notes_of("5.csv", header .. ",cached_tokens,prompt_id\n0,100,5,0,a\n1,100,5,80,a\n"), "")
  test.equal(notes_of("6.csv", header .. ",cached_tokens\n0,100,5,0\n1,100,5,0\n"), "")
  test.equal(notes_of("7.csv", header .. ",uncached_tokens\n0,100,5,10\n1,100,5,20\n"), "")
end)

test("a later turn of a session is told, because its history is not in the file", function()
  local header = "arrival_s,prompt_tokens,output_tokens,session"
  test.has(notes_of("8.csv", header .. "\n0,100,5,a\n1,200,5,a\n2,90,5,b\n3,90,5,\n4,90,5,\n"),
    "1 row continue a session")
  test.equal(notes_of("9.csv", header .. ",prompt_id\n0,100,5,a,x\n1,200,5,a,y\n"), "")
  test.equal(notes_of("10.csv", header .. "\n0,100,5,a\n1,200,5,b\n"), "")
end)

test("tenants of a plain trace have the numbers or the names that it gives", function()
  local path = write("tenants.csv", "arrival_s,prompt_tokens,output_tokens,tenant\n0,100,5,x\n1,100,5,y\n2,100,5,x\n")
  write("tenants.lua", ("return { %s workload = require 'workloads.trace' { path = 'tenants.csv' } }"):format(common))
  test.check(not test.printed("run tenants.lua --quiet --requests t.csv", test.folder()):find "error")
  local seen = {}
  for _, row in ipairs(rows_of(test.folder() .. "/t.csv")) do seen[#seen + 1] = row.tenant end
  test.equal(table.concat(seen, " "), "0 1 0", path)
end)

test.finish()
