-- Why one play took as long as it did: on the command line, at the prompt, in scripts, in pages.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local measure = require "rooflua.measure"
local serve = require "rooflua.serve"

local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir -p " .. folder) == 0)

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end

local function told(line) return test.printed(line, folder) end

local has = test.has

local text = [[return { rooflua = 1, seed = 5, model = "llama-3.1-8b", hardware = "h100-sxm", steps = "roofline_v1",
  engine = "vllm 0.24", deployment = { kv_blocks = 8000, max_model_len = 100000 }%s
  workload = require "workloads.agent" { plays = 14, lanes = 7, max_context_tokens = 60000, pause_probability = 0,
    turns = { distribution = "lognormal", mean = 6, sigma = 0.7, max = 20 } } }]]
write("agents.lua", text:format ",")
write("plain.lua", [[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm", steps = "roofline_v1",
  workload = require "workloads.poisson" { rate_per_s = 5, num_requests = 9 } }]])
local function scenario(more) return assert(loadstring(text:format(", " .. (more or ""))))() end

local kinds = { "tool_s", "queue_s", "load_s", "prefill_s", "decode_s" }

local function sum_of(parts, keys)
  local sum_s = 0
  for key, value in pairs(parts) do
    if not keys or keys[key] then sum_s = sum_s + value end
  end
  return sum_s
end

--- Every sum of an account.
local function check_account(why)
  local is_kind = {}
  for _, key in ipairs(kinds) do is_kind[key] = true end
  local function kinds_of(row)
    local out = {}
    for key in pairs(is_kind) do out[key] = row[key] end
    return sum_of(out)
  end
  test.near(kinds_of(why), why.play_s, 1e-9)
  test.near(sum_of(why.where_s), why.play_s, 1e-9)
  local from_s, headings = why.start_s, {}
  for i, row in ipairs(why.path) do
    test.near(kinds_of(row), row.until_s - from_s, 1e-9)
    test.near(sum_of(row.where_s), row.until_s - from_s, 1e-9)
    for key, value in pairs(row.where_s) do headings[key] = (headings[key] or 0) + value end
    test.equal(row.after and row.after.row, why.path[i - 1] and why.path[i - 1].row)
    from_s = row.until_s
  end
  test.near(from_s, why.end_s, 1e-12)
  for key, value in pairs(why.where_s) do test.near(headings[key], value, 1e-9, key) end
end

local tiers = 'tiers = { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 40e9 } } },'
local split = 'replicas = { { role = "prefill", count = 2, node = 1 }, { role = "decode", count = 2, node = 2 } }, '
  .. 'router = "least_outstanding", network = { path = { "nic" } }, links = { nic = { bytes_per_s = 8e9 } },'
for name, more in pairs { alone = "", ["with a store"] = tiers, ["prefill and decode split"] = split } do
  test("every play of a run adds up, and so do the metrics of the run: " .. name, function()
    local live = serve.open(scenario(more))
    live:run()
    local plays, sums, counted, seen = live:plays(), {}, 0, {}
    test.equal(#plays, 14)
    for _, each in ipairs(plays) do
      local _, why = live:why_play(each.play)
      check_account(why)
      test.equal(why.play_s, each.play_s)
      for key in pairs(why.where_s) do seen[key] = true end
      if not each.cut and each.failed == 0 then
        counted = counted + 1
        for _, key in ipairs(kinds) do sums[key] = (sums[key] or 0) + why[key] end
      end
    end
    local summary = live:result().summary.plays
    test.equal(counted, summary.completed)
    for _, key in ipairs(kinds) do test.near(sums[key] / counted, summary[key].mean, 1e-9, key) end
    test.equal(seen.transfer_s, name == "prefill and decode split" or nil)
    test.equal(seen.load_s, name == "with a store" or nil)
  end)
end

test("a request on the path has the headings that why gives of it alone", function()
  local _, why = measure.why_play(scenario(), "slowest")
  local last = why.path[#why.path]
  local _, alone = measure.why(scenario(), last.request)
  for key, value in pairs(last.where_s) do
    if key ~= "tool_s" then test.near(value, alone[key], 1e-12, key) end
  end
  test.near(sum_of(last.where_s) - (last.where_s.tool_s or 0), alone.e2e_s, 1e-9)
end)

test("a play is named by number, by quantile or by its name, of a scenario, a simulation and a result", function()
  local live = serve.open(scenario())
  live:run()
  local slowest, middle, times = nil, nil, {}
  for _, each in ipairs(live:plays()) do times[#times + 1] = each.play_s end
  table.sort(times)
  for _, each in ipairs(live:plays()) do
    if each.play_s == times[#times] then slowest = each end
    if each.play_s == times[7] then middle = each end
  end
  local expected = measure.why_play(live, slowest.play)
  for _, run in ipairs { scenario(), live, live:result(), serve.run(scenario()) } do
    for _, which in ipairs { "slowest", "p100", slowest.play, slowest.name } do
      test.equal(measure.why_play(run, which), expected)
    end
    test.equal(select(2, measure.why_play(run, "p50")).play, middle.play)
  end
  for message, which in pairs { ["unknown play 'agent'"] = "agent",
    ["did not come to an end in this run; 14 plays"] = 15, ["plays count from 1"] = 0,
    ["expected text, found a table"] = {} } do
    test.raises(message, function() measure.why_play(scenario(), which) end)
  end
  test.raises("play 15 does not come to an end", function() measure.why_play(live, 15) end)
  test.raises("no play came to an end", function() measure.why_play(dofile(folder .. "/plain.lua"), "slowest") end)
end)

test("why of a play that is not over goes on in a fork", function()
  local live = serve.open(scenario())
  live:run_until(1)
  test.equal(live:why_play(3), nil)
  local report, why = measure.why_play(live, 3)
  has(report, "if nothing changes:", "play 3 ")
  test.equal(why.ended, false)
  test.equal(live.now_s <= 1, true)
  test.equal(select(2, measure.why_play(scenario(), 3)).play_s, why.play_s)
end)

test("--why play:N is in the report and in the document", function()
  local out = told "run agents.lua --quiet --why play:slowest --json d.json"
  has(out, "waited for", "critical path", "tool delay", "longest on the path: request ")
  local document = json.decode(assert(io.open(folder .. "/d.json")):read "*a").variants[1]
  check_account(document.why_play)
  test.equal(document.why_play.play_s, document.summary.plays.play_s.max)
  local number = document.why_play.play
  has(out, ("play %d "):format(number))
  test.equal(told("run agents.lua --quiet --why play:" .. number), told "run agents.lua --quiet --why play:slowest")
  write("lines.txt", ":run\n:why play:slowest\n:why play:no\n")
  has(told "repl agents.lua < lines.txt", ("play %d "):format(number), "unknown play 'no'")
end)

test("what there is not is an error that says what there is", function()
  has(told "run agents.lua --quiet --why play:99", "--why play:99: no such play; 14 began (play:1 to play:14)")
  has(told "run agents.lua --quiet --why play:agent-99", "unknown play 'agent-99'", "up to play:14")
  has(told "run agents.lua --quiet --why play:0", "plays count from 1")
  has(told "run agents.lua --why play", "play:N", "found 'play'")
  for _, word in ipairs { "1", "slowest", "x" } do
    has(told("run plain.lua --quiet --why play:" .. word), "there are no plays in this run")
  end
end)

test("a page draws the median and the slowest play, and the one that was asked for; others draw none", function()
  told "run agents.lua --quiet --html a.html --why play:3 --json d.json"
  local page = assert(io.open(folder .. "/a.html")):read "*a"
  has(page, "Single plays</h2>", "Play 3 ", "asked for", "the median: ", "the slowest: ", "critical path")
  local plays = {}
  for number in page:gmatch "<figcaption>Play (%d+)" do plays[#plays + 1] = number end
  test.equal(#plays, 3)
  told "run plain.lua --quiet --html p.html"
  local plain = assert(io.open(folder .. "/p.html")):read "*a"
  test.equal(plain:find("Single plays", 1, true), nil)
end)

test("a trace names play and row of a request", function()
  told "run agents.lua --quiet --trace t.json"
  told "run plain.lua --quiet --trace p.json"
  local function rows(name)
    local out = {}
    for _, event in ipairs(json.decode(assert(io.open(folder .. "/" .. name)):read "*a").traceEvents) do
      if event.ph == "b" and event.name == "request" then out[#out + 1] = event.args end
    end
    return out
  end
  local _, why = measure.why_play(scenario(), 2)
  local of = {}
  for _, args in ipairs(rows "t.json") do of[args.request] = args end
  for _, row in ipairs(why.path) do
    test.equal(of[row.request].play, 2)
    test.equal(of[row.request].row, row.row)
  end
  for _, args in ipairs(rows "p.json") do test.equal(args.play, nil) end
end)

os.execute("rm -r " .. folder)
test.finish()
