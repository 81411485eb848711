-- Formats of plays that are read as a whole: what prompts share and which row waits for which, counted by hand, and
-- files with one fault, which are refused by line and key.
local test = dofile "tests/scripts/harness.lua"
local file = require "rooflua.plays.file"
local json = require "rooflua.json"
local random = require "rooflua.random"

local function temporary(text, name)
  local path = name or os.tmpname()
  local out = assert(io.open(path, "w"))
  out:write(text)
  out:close()
  return path
end

local function lines_of(documents)
  local out = {}
  for i, each in ipairs(documents) do out[i] = json.encode(each) end
  return table.concat(out, "\n") .. "\n"
end

local function open(text)
  local path = temporary(text)
  local ok, opened = pcall(file.open, path, 512, 0)
  os.remove(path)
  if not ok then error(opened, 0) end
  return opened
end

local function said(row)
  local out = {}
  for i, each in ipairs(row.parents or {}) do out[i] = ("%d %s +%g"):format(each.row, each.event, each.delay_s) end
  return table.concat(out, ", ")
end

--- Tokens that a prompt has in common with another prompt and its answer.
local function shared(row, other)
  local all, sum = {}, 0
  for i, each in ipairs(other.content) do all[i] = each end
  all[#all + 1] = { other.output_content or 0, other.output_tokens }
  for i, each in ipairs(row.content) do
    local from = all[i]
    if not from or from[1] ~= each[1] or each[1] == 0 then return sum end
    sum = sum + math.min(from[2], each[2])
    if from[2] ~= each[2] then return sum end
  end
  return sum
end

local function counts(opened, plays, rows, total, common)
  test.equal(opened.counts.plays, plays)
  test.equal(opened.counts.rows, rows)
  test.equal(opened.counts.total, total)
  test.equal(opened.counts.shared, common)
  test.equal(opened.counts.unique, total - common)
  for _, play in ipairs(opened.rows) do
    for i, row in ipairs(play.rows) do
      local sum = 0
      for _, each in ipairs(row.content) do sum = sum + each[2] end
      test.equal(sum, row.prompt_tokens, ("%s, row %d"):format(play.name, i))
    end
  end
end

local function notes(opened, part)
  test.check(file.note(opened):find(part, 1, true), "%s", file.note(opened))
end

-- The files --------------------------------------------------------------------------------------------------

local function attribute(key, value)
  return { key = key, value = type(value) == "number" and { intValue = ("%d"):format(value) }
    or { stringValue = value } }
end

--- A span from and to these seconds.
local function span(id, parent, from, to, operation, input, output)
  local attributes = {}
  if operation then attributes[1] = attribute("gen_ai.operation.name", operation) end
  if input then attributes[#attributes + 1] = attribute("gen_ai.usage.input_tokens", input) end
  if output then attributes[#attributes + 1] = attribute("gen_ai.usage.output_tokens", output) end
  return { traceId = "t", spanId = id, parentSpanId = parent or "", name = id,
    startTimeUnixNano = ("%.0f"):format(from * 1e9),
    endTimeUnixNano = ("%.0f"):format(to * 1e9), attributes = json.array(attributes) }
end

local function batch(...)
  return { resourceSpans = json.array { { scopeSpans = json.array { { spans = json.array { ... } } } } } }
end

local function spans()
  return { batch(span("main", nil, 0, 60, "invoke_agent", 9999, 9999), span("a", "main", 1, 3, "chat", 320, 32)),
    batch(span("tool", "main", 4, 20, "execute_tool"), span("sub", "tool", 4, 19, "invoke_agent"),
      span("s1", "sub", 5, 7, "chat", 160, 16), span("s2", "sub", 9, 10, "chat", 200, 16)),
    batch(span("b", "main", 21, 24, "chat", 400, 40), span("engine", "b", 21.5, 23.5, nil, 400, 40),
      span("below", "b", 22, 25, "chat", 100, 4)) }
end

local function sessions()
  return { { id = "x", steps = json.array { { input = 100, new = 100, output = 20, gap = 0, kind = "user" },
    { input = 130, new = 10, output = 5, gap = 2.5, kind = "tool" }, { input = 90, new = 58, output = 5, gap = 1 } } },
    { id = "y", steps = json.array { { input = 40, new = 40, output = 8 } } } }
end

local function chats()
  return { { chat_id = 1, parent_chat_id = -1, timestamp = 10.5, input_length = 40, output_length = 9, type = "text",
    turn = 1, hash_ids = json.array { 5, 6, 7 } },
    { chat_id = 2, parent_chat_id = 99, timestamp = 11, input_length = 35, output_length = 9, type = "image", turn = 2,
      hash_ids = json.array { 5, 8, 9 } },
    { chat_id = 3, parent_chat_id = 1, timestamp = 14, input_length = 64, output_length = 9, type = "text", turn = 2,
      hash_ids = json.array { 5, 6, 10, 11 } } }
end

local function turn(number, at_s, input, output)
  return { turn = number, timestamp = at_s, input_token_count = input, output_token_count = output,
    input_tokens = json.array { 1 }, output_tokens = json.array { 2 } }
end

local function conversations()
  return { json.array { turn(0, 1000, 64, 16), turn(1, 1030, 100, 10) }, json.array { turn(0, 1010, 32, 4) } }
end

local function trace_rows()
  return { { timestamp = 100, input_length = 1100, output_length = 5, hash_ids = json.array { 1, 2, 3 } },
    { timestamp = 50, input_length = 1024, output_length = 5, hash_ids = json.array { 1, 4 } } }
end

local blis_head = "request_id,client_id,session_id,round_index,prefix_group,prefix_length,input_tokens,output_tokens,"
  .. "server_input_tokens,arrival_time_us,last_chunk_time_us,think_time_us,input_tokens_reset\n"
local blis = blis_head .. "0,c,s,0,g,32,64,16,0,1000000,1500000,,\n1,c,s,1,g,32,48,8,0,2500000,2600000,,\n"
  .. "2,c,s,2,,,10,8,80,3000000,,250000,\n3,c,,0,g,32,16,4,0,500000,,,\n"

-- Counted by hand ----------------------------------------------------------------------------------------------

test("spans: requests of an agent follow each other, an agent begins after what started it", function()
  local opened = open(lines_of(spans()))
  test.equal(opened.format, "otel_spans")
  -- Blocks of 16: 20, 10, 12, 25, 6; s2 repeats s1 and its answer (11), b repeats a and its answer (22).
  counts(opened, 1, 5, 73, 33)
  local rows = opened.rows[1].rows
  local order = {}
  for i, row in ipairs(rows) do order[i] = row.prompt_tokens end
  test.equal(table.concat(order, " "), "320 160 200 400 100")
  test.equal(said(rows[1]), "")
  test.equal(said(rows[2]), "1 ended +2")
  test.equal(said(rows[3]), "2 ended +2")
  test.equal(said(rows[4]), "1 ended +0, 3 ended +11")
  test.equal(said(rows[5]), "4 sent +1")
  test.equal(shared(rows[4], rows[1]), 352)
  test.equal(shared(rows[3], rows[2]), 176)
  test.equal(shared(rows[5], rows[4]), 0)
  notes(opened, "1 spans within a request of the same length")
  notes(opened, "spans say nothing of contents")
end)

test("spans of one conversation are one play, and the earlier names of tokens are read", function()
  local first, second = batch(span("a", nil, 1, 2, "chat")), batch(span("b", nil, 5, 6, "chat"))
  for i, each in ipairs { first, second } do
    local one = each.resourceSpans[1].scopeSpans[1].spans[1]
    one.traceId = "t" .. i
    one.attributes = json.array { attribute("gen_ai.conversation.id", "talk"),
      attribute("gen_ai.usage.prompt_tokens", 100 * i), attribute("gen_ai.usage.completion_tokens", 10) }
  end
  local opened = open(lines_of { first, second })
  test.equal(#opened.rows, 1)
  test.equal(said(opened.rows[1].rows[2]), "1 ended +3")
  test.equal(shared(opened.rows[1].rows[2], opened.rows[1].rows[1]), 110)
end)

test("inference-lab: what is not new is the context of the step before", function()
  local opened = open(lines_of(sessions()))
  test.equal(opened.format, "inference_lab")
  -- Blocks: 6 + 8 + 5 + 2; step 2 repeats 120 tokens (7), step 3 32 (2).
  counts(opened, 2, 4, 21, 9)
  local rows = opened.rows[1].rows
  test.equal(said(rows[2]), "1 ended +2.5")
  test.equal(shared(rows[2], rows[1]), 120)
  test.equal(shared(rows[3], rows[2]), 32)
end)

test("qwen-bailian: blocks of 16 tokens, follow-ups neither early nor before the end", function()
  local opened = open(lines_of(chats()))
  test.equal(opened.format, "qwen_bailian")
  -- Full blocks: 2 + 2 + 4; chat 2 has the first one of chat 1, chat 3 the first two.
  counts(opened, 2, 3, 8, 3)
  test.equal(opened.rows[1].start_s, 10.5)
  test.equal(said(opened.rows[1].rows[2]), "1 ended +0, 1 sent +3.5")
  notes(opened, "1 requests begin a chat, as their parent is not in the file")
  notes(opened, "1 requests of a type other than text")
end)

test("ServeGen: a turn repeats the one before; clients are refused by name", function()
  for _, text in ipairs { json.encode(json.array(conversations())), lines_of(conversations()) } do
    local opened = open(text)
    test.equal(opened.format, "servegen_conversations")
    counts(opened, 2, 3, 12, 5)
    test.equal(opened.rows[2].start_s, 10)
    test.equal(said(opened.rows[1].rows[2]), "1 ended +0, 1 sent +30")
    test.equal(shared(opened.rows[1].rows[2], opened.rows[1].rows[1]), 80)
  end
  test.raises("ServeGen's description of a client", function()
    open(json.encode { ["0"] = { input_tokens = "{}", output_tokens = "{}" } })
  end)
  test.raises("ServeGen's description of a client", function() open "0,1.5,0.9,Gamma,1.2,0.5\n" end)
end)

test("a Mooncake trace without sessions is a play per row; texts are refused by key", function()
  local opened = open(lines_of(trace_rows()))
  test.equal(opened.format, "mooncake_trace")
  counts(opened, 2, 2, 4, 1)
  test.equal(opened.rows[1].start_s, 0.05)
  test.raises(":1: text_input: is a text", function()
    open(lines_of { { session_id = "s", text_input = "hello", output_length = 4 } })
  end)
  test.raises(":1: turns: AIPerf's multi_turn", function()
    open(lines_of { { session_id = "s", turns = json.array { { text = "hello", delay = 5 } } } })
  end)
end)

test("BLIS: whole prompts without a header, added tokens where its header says so", function()
  local opened = open(blis)
  test.equal(opened.format, "blis")
  -- Prompts 96, 80, 80, 48: blocks 6 + 5 + 5 + 3; the prefix of 32 is had twice after its first time.
  counts(opened, 2, 4, 19, 4)
  notes(opened, "there is no header beside the file")
  local rows = opened.rows[2].rows
  test.equal(said(rows[2]), "1 ended +1")
  test.equal(said(rows[3]), "2 ended +0.25")
  test.equal(shared(rows[2], rows[1]), 32)
  local path = os.tmpname()
  temporary("trace_version: 3\nsession_context_growth: accumulate\n", path .. ".yaml")
  temporary(blis .. "4,c,s,3,,,0,8,0,4000000,,,50\n", path)
  local ok, grown = pcall(file.open, path, 512, 0)
  os.remove(path)
  os.remove(path .. ".yaml")
  if not ok then error(grown, 0) end
  local session = grown.rows[2].rows
  test.equal(session[2].prompt_tokens, 96 + 16 + 48)
  test.equal(session[3].prompt_tokens, 160 + 8 + 10)
  test.equal(session[4].prompt_tokens, 50)
  test.equal(shared(session[2], session[1]), 112)
  test.equal(shared(session[4], session[3]), 0)
  test.equal(said(session[4]), "3 ended +0, 3 sent +1")
end)

-- One fault --------------------------------------------------------------------------------------------------

local wrong = { json.null, -3, 1.5, "text", true, 1e300 }

--- Numbers that a row must have, by what makes them: `path` leads to the row that gets the fault.
local faults = {
  { make = sessions, path = { "steps", 1 }, keys = { "input", "new", "output" } },
  { make = chats, path = {}, keys = { "input_length", "output_length", "timestamp", "chat_id" } },
  { make = conversations, path = { 1 }, keys = { "input_token_count", "output_token_count", "timestamp" } },
  { make = trace_rows, path = {}, keys = { "input_length", "output_length" } },
}

test("a row with one fault is refused by its line and its key", function()
  local draws, refused = random.streams(4):stream "faults", 0
  for _ = 1, 300 do
    local each = faults[draws:integer(1, #faults)]
    local documents = each.make()
    local line = draws:integer(1, #documents)
    local row = documents[line]
    for _, key in ipairs(each.path) do row = row[key] end
    local key, value = each.keys[draws:integer(1, #each.keys)], wrong[draws:integer(1, #wrong)]
    local is_time = key == "timestamp"
    if not (is_time and value == 1.5) and not (key == "chat_id" and value == -3) then
      row[key] = value
      local ok, problem = pcall(open, lines_of(documents))
      test.check(not ok, "%s = %s is read", key, tostring(value))
      test.check(tostring(problem):find((":%d:"):format(line), 1, true) and tostring(problem):find(key, 1, true),
        "%s = %s: %s", key, tostring(value), tostring(problem))
      refused = refused + 1
    end
  end
  test.check(refused > 200, "%d faults", refused)
end)

test("faults of spans, sessions and traces name what is wrong", function()
  local function spoiled(change)
    local documents = spans()
    change(documents[3].resourceSpans[1].scopeSpans[1].spans[1])
    return function() open(lines_of(documents)) end
  end
  test.raises(":3: span b: startTimeUnixNano: expected", spoiled(function(s) s.startTimeUnixNano = "soon" end))
  test.raises(":3: span b: endTimeUnixNano: lies before", spoiled(function(s) s.endTimeUnixNano = "1" end))
  test.raises(":3: spanId: is missing", spoiled(function(s) s.spanId = nil end))
  test.raises(":3: span a: spanId: stands in the file twice", spoiled(function(s) s.spanId = "a" end))
  test.raises(":3: span b: gen_ai.usage.output_tokens: is missing", spoiled(function(s) s.attributes[3] = nil end))
  test.raises("gen_ai.usage.input_tokens: expected a whole number >= 1", spoiled(function(s)
    s.attributes[2] = attribute("gen_ai.usage.input_tokens", -4)
  end))
  local lab = sessions()
  lab[1].steps[2].nwe = 4
  test.raises(":1: step 2: nwe: unknown key", function() open(lines_of(lab)) end)
  local rows = chats()
  rows[1].parent_chat_id = 3
  test.raises(":1: parent_chat_id: the request waits for itself", function() open(lines_of(rows)) end)
  test.raises(":4: round_index: expected 1 in session s, found 2", function()
    open((blis:gsub("1,c,s,1", "1,c,s,4")))
  end)
  test.raises(":2: output_tokens: expected a whole number", function() open((blis:gsub("64,16", "64,-1"))) end)
end)

test.finish()
