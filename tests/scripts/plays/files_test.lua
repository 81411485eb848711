-- Files of plays: what prompts share, which row waits for which, and that a play survives being written and read.
local test = dofile "tests/scripts/harness.lua"
local agentic = require "rooflua.plays.agentic"
local blocks = require "rooflua.plays.blocks"
local fields = require "rooflua.formats.fields"
local file = require "rooflua.plays.file"
local json = require "rooflua.json"
local random = require "rooflua.random"
local recorded = require "rooflua.plays.recorded"
local snapshot = require "workloads.agents.snapshot"
local weka = require "rooflua.plays.weka"

--- Tokens that two prompts have in common at the left, by their segments.
local function shared_tokens(a, b)
  local sum = 0
  for k = 1, math.min(#a, #b) do
    if a[k][1] ~= b[k][1] or a[k][1] == 0 then return sum end
    sum = sum + math.min(a[k][2], b[k][2])
    if a[k][2] ~= b[k][2] then return sum end
  end
  return sum
end

--- What rooflua.plays.blocks gives for a list from 1.
local function content_of(own, ids, prompt_tokens)
  local from_0 = {}
  for i = 1, #ids do from_0[i - 1] = ids[i] end
  return blocks.content(own, from_0, #ids, prompt_tokens)
end

local function common(a, b)
  local n = 0
  while n < #a and n < #b and a[n + 1] == b[n + 1] do n = n + 1 end
  return n
end

test("two prompts share as many tokens as their lists of block ids agree, on random lists", function()
  local draws = random.streams(11):stream "ids"
  local compared, hits = 0, 0
  for _ = 1, 200 do
    local own, prompts, contents = blocks.new(16, 100), {}, {}
    for i = 1, 12 do
      local ids = {}
      local from = prompts[draws:integer(1, 12)]
      for k = 1, from and draws:integer(0, #from) or 0 do ids[k] = from[k] end
      for _ = 1, draws:integer(0, 6) do ids[#ids + 1] = draws:integer(1, 5) end
      local best = 0
      for _, other in ipairs(prompts) do best = math.max(best, common(ids, other)) end
      local content, shared = content_of(own, ids, #ids * 16 + draws:integer(0, 15))
      test.equal(shared, best)
      prompts[i], contents[i] = ids, content
      for j = 1, i - 1 do
        test.equal(shared_tokens(content, contents[j]), 16 * common(ids, prompts[j]))
        compared, hits = compared + 1, hits + (common(ids, prompts[j]) > 0 and 1 or 0)
      end
    end
    local different, seen = 0, {}
    for _, ids in ipairs(prompts) do
      local chain = ""
      for _, id in ipairs(ids) do
        chain = chain .. "," .. id
        different, seen[chain] = different + (seen[chain] and 0 or 1), true
      end
    end
    test.equal(own.unique, different)
  end
  test.check(compared > 10000 and hits > 2000, "%d pairs, %d with something in common", compared, hits)
end)

test("a prompt that only adds blocks to the one before has one segment", function()
  local own, ids = blocks.new(64, 1), {}
  for turn = 1, 50 do
    for _ = 1, 3 do ids[#ids + 1] = #ids + 1 end
    test.equal(#content_of(own, ids, #ids * 64), 1)
    test.equal(own.unique, 3 * turn)
  end
end)

-- Which row waits for which ---------------------------------------------------------------------------------

local function request(start_s, end_s, prompt, output)
  return { start_s = start_s, end_s = end_s, prompt_tokens = prompt or 10, output_tokens = output or 1 }
end

local function said(row)
  local out = {}
  for i, each in ipairs(row.parents or {}) do out[i] = ("%d %s +%g"):format(each.row, each.event, each.delay_s) end
  return table.concat(out, ", ")
end

test("a turn waits for the agents that had ended, and the last one to end keeps its pause", function()
  local main = { requests = { request(0, 2), request(20, 21) } }
  local rows = recorded.rows { main, { parent = main, requests = { request(3, 5), request(6, 8) } },
    { parent = main, requests = { request(3, 15) } }, { parent = main, requests = { request(4, 30) } } }
  test.equal(#rows, 6)
  test.equal(said(rows[1]), "")
  test.equal(said(rows[2]), "1 ended +1")
  test.equal(said(rows[3]), "1 ended +1")
  test.equal(said(rows[4]), "1 ended +2")
  test.equal(said(rows[5]), "2 ended +1")
  test.equal(said(rows[6]), "1 ended +0, 5 ended +0, 3 ended +5")
end)

test("what began while another request ran is sent so long after that one was", function()
  local main = { requests = { request(0, 10), request(4, 12) } }
  test.equal(said(recorded.rows({ main })[2]), "1 sent +4")
end)

-- Weka ------------------------------------------------------------------------------------------------------

local function temporary(lines)
  local path = os.tmpname()
  local out = assert(io.open(path, "w"))
  for _, each in ipairs(lines) do out:write(type(each) == "string" and each or json.encode(each), "\n") end
  out:close()
  return path
end

local function agent(settings, seed)
  local own = require "workloads.agent" (settings)
  return own:requests(random.streams(seed or 3))
end

--- The plays of a file.
local function plays_of(path)
  local opened, out = file.open(path, 512, 0), {}
  while true do
    local play = file.next(opened)
    if not play then return out, opened end
    out[#out + 1] = play
  end
end

--- Full blocks of all prompts, and how many of them an earlier prompt had in front: every pair is compared.
local function brute_force(rows, size)
  local total, shared = 0, 0
  for i, row in ipairs(rows) do
    local best = 0
    for j = 1, i - 1 do best = math.max(best, math.floor(shared_tokens(row.content, rows[j].content) / size)) end
    total, shared = total + math.floor(row.prompt_tokens / size), shared + best
  end
  return total, shared
end

test("plays of workloads.agent written as a Weka file have the reuse of a count over all pairs of prompts", function()
  local state, lines, total, shared, requests = agent { plays = 4, turns = 30, sub_agent_probability = 0.2,
    sub_agents = 2, first_tokens = 900, growth_tokens = 400, system_tokens = 640, sub_agent_system_tokens = 320,
    edit_probability = 0.1, cancel_probability = 0 }, {}, 0, 0, 0
  for i = 1, 4 do
    local play = state.plays(state)
    lines[i] = weka.document(play, 64)
    requests = requests + #play.rows
  end
  local path = temporary(lines)
  local read, opened = plays_of(path)
  for _, play in ipairs(read) do
    local all, hits = brute_force(play.rows, 64)
    total, shared = total + all, shared + hits
  end
  os.remove(path)
  test.equal(opened.counts.rows, requests)
  test.equal(opened.counts.total, total)
  test.equal(opened.counts.shared, shared)
  test.check(shared > total / 2 and shared < total, "%d of %d blocks", shared, total)
end)

test("a play that was written and read waits for the same, as far as a recording says it", function()
  local state = agent { plays = 1, turns = 12, sub_agent_probability = 0.3, side_probability = 0 }
  local play = state.plays(state)
  local path = temporary { weka.document(play, 64) }
  local read = plays_of(path)[1]
  os.remove(path)
  test.equal(#read.rows, #play.rows)
  local joins = 0
  for _, row in ipairs(read.rows) do
    if row.parents and #row.parents > 1 then joins = joins + 1 end
  end
  test.check(joins > 0, "no turn waits for an agent that it started")
end)

-- Ten plays made by hand: two lanes of thought, a reset, an agent with its own, and a request beside another.
local function by_hand(number)
  local function n(t, tokens, out, ids, api)
    return { t = t, type = "n", ["in"] = tokens, out = out, hash_ids = json.array(ids), api_time = api or 1 }
  end
  return { id = "hand-" .. number, models = { "m" }, block_size = 64, hash_id_scope = "local", requests = {
    n(0, 200, 20, { 1, 2, 3 }), n(3, 330, 30, { 1, 2, 3, 4, 5 }),
    { t = 5, type = "subagent", agent_id = "a", requests = { n(5, 130, 5, { 9, 10 }),
      n(8, 260, 5, { 9, 10, 11, 12 }) } },
    n(12, 128 + number, 9, { 1, 2 }), n(14, 390, 9, { 1, 2, 3, 4, 5, 6 }), n(14.5, 64, 3, { 9 }) } }
end

test("ten plays made by hand have the reuse that was counted by hand", function()
  local lines = {}
  for i = 1, 10 do lines[i] = by_hand(i) end
  local path = temporary(lines)
  local plays, opened = plays_of(path)
  os.remove(path)
  test.equal(#plays, 10)
  test.equal(opened.counts.rows, 70)
  -- Blocks: 3 + 5 + 2 + 4 + 2 + 6 + 1; had: 0 + 3 + 0 + 2 + 2 + 5 + 1.
  test.equal(opened.counts.total, 230)
  test.equal(opened.counts.shared, 130)
  test.equal(opened.counts.unique, 100)
  test.equal(said(plays[1].rows[5]), "2 ended +0, 4 ended +3")
  test.check(file.note(opened):find("10 plays with 70 requests", 1, true), "%s", file.note(opened))
end)

-- Snapshots -------------------------------------------------------------------------------------------------

test("a play that is under way sends its contexts first, then so many requests for one token", function()
  local state = agent { plays = 1, turns = 40, sub_agent_probability = 0.2 }
  local path = temporary { weka.document(state.plays(state), 64) }
  local play = plays_of(path)[1]
  os.remove(path)
  local cut = snapshot.cut(play, 0.5, 10)
  local warm, primers = 0, 0
  for i, row in ipairs(cut.rows) do
    if row.warm then
      warm, primers = warm + 1, primers + (row.parents and 0 or 1)
      test.equal(row.output_tokens, 1)
    end
    for _, each in ipairs(row.parents or {}) do
      test.check(cut.rows[each.row] ~= nil and each.row ~= i, "row %d waits for row %d", i, each.row)
      test.equal(cut.rows[each.row].warm == true, row.warm == true)
    end
  end
  test.check(primers >= 1 and warm >= 11, "%d warm-up requests, %d of them without parents", warm, primers)
  test.check(#cut.rows < #play.rows, "nothing lies before the moment")
end)

-- Rows with dependencies ------------------------------------------------------------------------------------

test("agentic Mooncake rows wait for dispatch or completion", function()
  local path = temporary {
    { schema = "agentic_mooncake", version = 2 },
    { request_id = "a", play_id = "p", session_id = "s", input_length = 1024, output_length = 5,
      hash_ids = json.array { 1, 2 }, not_before_ms = 500 },
    { request_id = "b", play_id = "p", session_id = "t", input_length = 600, output_length = 5,
      hash_ids = json.array { 1, 7 }, not_before_ms = 700,
      dependencies = json.array { { request_id = "a", trigger = "dispatch", relation = "spawn", delay_ms = 100 } } },
    { request_id = "c", play_id = "p", session_id = "s", input_length = 1600, output_length = 5,
      hash_ids = json.array { 1, 2, 3, 4 }, dependencies = json.array {
        { request_id = "a", trigger = "completion", delay_ms = 2000 }, { request_id = "b", trigger = "completion" } } },
  }
  local plays, opened = plays_of(path)
  os.remove(path)
  test.equal(opened.format, "agentic_mooncake_v2")
  test.equal(#plays, 1)
  test.equal(said(plays[1].rows[2]), "1 sent +0.1")
  test.equal(said(plays[1].rows[3]), "1 ended +2, 2 ended +0")
  test.equal(opened.counts.total, 6)
  test.equal(opened.counts.shared, 3)
end)

test("rows of a session come so long after the one before", function()
  local path = temporary {
    { session_id = "x", input_length = 600, output_length = 5, hash_ids = json.array { 1, 2 }, timestamp = 1000 },
    { session_id = "y", input_length = 600, output_length = 5, hash_ids = json.array { 8, 9 }, timestamp = 400 },
    { session_id = "x", input_length = 1100, output_length = 5, hash_ids = json.array { 1, 2, 3 }, delay = 250 },
  }
  local plays, opened = plays_of(path)
  os.remove(path)
  test.equal(opened.format, "mooncake_sessions")
  test.equal(#plays, 2)
  test.equal(plays[1].name, "y")
  test.equal(plays[1].start_s, 0.4)
  test.equal(said(plays[2].rows[2]), "1 ended +0.25")
end)

--- The next play, its contents and sessions counted from the first ones, and these.
local function counted(opened)
  local play, content, session, last = file.next(opened), math.huge, math.huge, 0
  for _, row in ipairs(play.rows) do
    session = math.min(session, row.session)
    for _, each in ipairs(row.content) do
      if each[1] > 0 then content, last = math.min(content, each[1]), math.max(last, each[1]) end
    end
  end
  for _, row in ipairs(play.rows) do
    row.session = row.session - session
    for _, each in ipairs(row.content) do
      if each[1] > 0 then each[1] = each[1] - content end
    end
  end
  return json.encode(play), content, last, session
end

test("a file of another format does not begin again", function()
  local path = test.file("once.jsonl", '{"session_id": "a", "input_length": 20, "output_length": 3, "hash_ids": [1]}\n')
  local opened = file.open(path, 512, 0)
  file.next(opened)
  test.raises("only Weka files begin again", function() file.again(opened) end)
end)

test("a Weka file that begins again gives the same plays, with other contents and sessions", function()
  local path = temporary { by_hand(1), by_hand(2) }
  local opened, texts, most, last_session = file.open(path, 512, 0), {}, 0, -1
  for pass = 1, 3 do
    for number = 1, 2 do
      local text, content, last, session = counted(opened)
      texts[number] = texts[number] or text
      test.equal(text, texts[number])
      test.check(content > most and session > last_session, ("pass %d: something is used again"):format(pass))
      most, last_session = last, session
    end
    test.equal(file.next(opened), nil)
    file.again(opened)
  end
  os.remove(path)
end)

test("a key of a field is split once, not for each document", function()
  local gmatch, calls = string.gmatch, 0
  rawset(string, "gmatch", function(...)
    calls = calls + 1
    return gmatch(...)
  end)
  collectgarbage "stop" -- what is split may be collected
  for i = 1, 100 do
    test.equal(fields.number("a", { times = { start_at = i } }, "times.start_at"), i)
    test.equal(fields.at({ times = json.null }, "times.start_at"), nil)
  end
  collectgarbage "restart"
  rawset(string, "gmatch", gmatch)
  test.equal(calls, 1)
end)

-- Mistakes --------------------------------------------------------------------------------------------------

local function fails(lines, message)
  local path = temporary(lines)
  test.raises(message, function() plays_of(path) end)
  os.remove(path)
end

test("mistakes name the file, the line, the request and the key", function()
  local function play(change)
    local out = by_hand(1)
    change(out)
    return { by_hand(2), out }
  end
  fails(play(function(p) p.requests[2]["in"] = -4 end),
    ":2: request 2: in: expected a whole number >= 1, found number -4")
  fails(play(function(p) p.requests[2].hash_ids = json.array { 1, 2, 3, 4, 5, 6, 7 } end),
    "hash_ids: 7 ids of 64 tokens")
  fails(play(function(p) p.requests[1].type = "q" end), 'request 1: type: expected "n", "s" or "subagent"')
  fails(play(function(p) p.requests[3].requests[1].t = json.null end), "request 3: request 1: t: is missing")
  fails(play(function(p) p.hash_id_scope = "global" end), 'hash_id_scope: expected "local"')
  fails({ "{}" }, "is no file of plays; known formats: weka")
  fails({ { request_id = "a", session_id = "s", input_length = 4, output_length = 1, wait_for = json.array { "z" } } },
    "waits for request text \"z\", which its play does not have")
  test.equal(agentic.tells { input_length = 4 }, nil)
end)

test("a mistake in a line is told when its play begins, and not before", function()
  local path = temporary { by_hand(1), by_hand(2), '{"id": "hand-3", "requests": [', by_hand(4) }
  local opened = file.open(path, 512, 0)
  test.equal(file.next(opened).name, "hand-1")
  test.equal(file.next(opened).name, "hand-2")
  test.raises(":3:1:30: syntax error", function() file.next(opened) end)
  os.remove(path)
end)

test("two readers of a file, one of which goes on from a copy of the other's state, give the same plays", function()
  local lines = {}
  for i = 1, 6 do lines[i] = by_hand(i) end
  local path = temporary(lines)
  local first = file.open(path, 512, 0)
  for _ = 1, 3 do file.next(first) end
  local second = json.decode(json.encode(first))
  local texts = {}
  for i = 4, 6 do texts[i] = json.encode(file.next(first)) end
  for i = 4, 6 do test.equal(json.encode(file.next(second)), texts[i]) end
  test.equal(file.next(second), nil)
  os.remove(path)
end)

test.finish()
