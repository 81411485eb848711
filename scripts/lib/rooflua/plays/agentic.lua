-- Recorded requests with their dependencies, a request per line.
--
--     agentic_mooncake_v2  a header, then {request_id, play_id, session_id, input_length, output_length, hash_ids,
--                          not_before_ms, dependencies = {{request_id, trigger, delay_ms}}}; trigger: "dispatch" or
--                          "completion"
--     agentic_mooncake     {request_id, session_id, input_length, output_length, hash_ids, timestamp, delay, wait_for,
--                          tool_wait_ms}: sent when all of wait_for are done, and delay + tool_wait_ms later
--     mooncake_sessions    {session_id, input_length, output_length, hash_ids, timestamp or delay}: AIPerf's
--                          mooncake_trace with sessions. The first row of a session has a timestamp, the later ones
--                          come `delay` after the end of the one before. A row without session_id is a play
--     mooncake_trace       the same without any session: every row is a play, at its timestamp
-- Times are in milliseconds.
-- @source ai-dynamo/dynamo, lib/data-gen (AgenticMooncakeRow); ai-dynamo/aiperf, docs/benchmark-modes/trace-replay.md
local blocks = require "rooflua.plays.blocks"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local agentic = {}

--- Which of the formats a row is of; nil: none.
function agentic.tells(row)
  if type(row) ~= "table" then return nil end
  if row.play_id ~= nil and row.input_length ~= nil then return "agentic_mooncake_v2" end
  if row.input_length ~= nil and row.request_id ~= nil and (row.wait_for ~= nil or row.branches ~= nil) then
    return "agentic_mooncake"
  end
  local is_row = row.input_length ~= nil or row.text_input ~= nil or row.messages ~= nil
  if is_row and row.session_id ~= nil then return "mooncake_sessions" end
  if is_row and (row.timestamp ~= nil or row.hash_ids ~= nil) then return "mooncake_trace" end
  return nil
end

local function seconds(where, row, key) return (fields.number(where, row, key, fields.most_stamp_s) or 0) / 1000 end

--- The rows on which a row depends, by request id: {id, event, delay_s}.
local dependencies = {
  agentic_mooncake_v2 = function(where, row)
    local out = {}
    for i, each in ipairs(fields.list(where, row, "dependencies")) do
      local here = ("%s: dependencies[%d]"):format(where, i)
      local event = ({ dispatch = "sent", completion = "ended" })[each.trigger]
      if not event then
        core.fail('%s: trigger: expected "dispatch" or "completion", found %s', here, core.describe(each.trigger))
      end
      out[i] = { id = each.request_id, event = event, delay_s = seconds(here, each, "delay_ms") }
    end
    return out
  end,
  agentic_mooncake = function(where, row)
    local out, delay_s = {}, seconds(where, row, "delay") + seconds(where, row, "tool_wait_ms")
    for i, id in ipairs(fields.list(where, row, "wait_for")) do
      out[i] = { id = id, event = "ended", delay_s = delay_s }
    end
    return out
  end,
  mooncake_sessions = function(where, row, before)
    if not before then return {} end
    if row.delay == nil and row.timestamp ~= nil then return {} end
    return { { id = before, event = "ended", delay_s = seconds(where, row, "delay") } }
  end,
}
dependencies.mooncake_trace = function() return {} end

local begins = { agentic_mooncake_v2 = "not_before_ms", agentic_mooncake = "timestamp",
  mooncake_sessions = "timestamp", mooncake_trace = "timestamp" }

--- The play that a row belongs to. Rows of agentic_mooncake that depend on each other are of one play.
local function play_of(format, row, waits, by_id, id)
  if format == "agentic_mooncake_v2" then return tostring(row.play_id) end
  if format == "mooncake_trace" then return id end
  if format == "mooncake_sessions" then return row.session_id ~= nil and tostring(row.session_id) or id end
  local first = waits[1] and by_id[waits[1].id]
  return first and first.play.key or row.session_id and tostring(row.session_id) or tostring(row.request_id)
end

--- Fills in the parents of the rows of a play; they may stand after it in the file.
local function link(play)
  for _, row in ipairs(play.rows) do
    local parents = {}
    for i, each in ipairs(row.waits) do
      local parent = play.by_id[each.id]
      if not parent then
        core.fail("%s: waits for request %s, which its play does not have", row.where, core.describe(each.id))
      end
      parents[i] = { row = parent, event = each.event, delay_s = each.delay_s }
    end
    row.parents, row.waits, row.where = #parents > 0 and parents or nil, nil, nil
  end
end

--- The prompt of a row: its length and what it consists of. The last id may stand for a part of a block.
local function prompt_of(own, where, row)
  local prompt, ids = fields.whole(where, row, "input_length", 1), fields.list(where, row, "hash_ids")
  local count = math.min(#ids, math.floor(prompt / own.contents.block_tokens))
  local from_0 = {}
  for i = 1, count do from_0[i - 1] = ids[i] end
  local content, shared = blocks.content(own.contents, from_0, count, prompt)
  own.counts.total, own.counts.shared = own.counts.total + count, own.counts.shared + shared
  return prompt, content
end

--- The play with that key; a new one where there is none.
local function play_with(own, key)
  local play = own.by_key[key]
  if not play then
    play = { key = key, name = key, rows = {}, by_id = {}, sessions = {}, session_count = 0 }
    own.by_key[key], own.plays[#own.plays + 1] = play, play
  end
  return play
end

--- The number of a session in its play.
local function session_of(play, name)
  if name == nil then return nil end
  if not play.sessions[name] then
    play.session_count = play.session_count + 1
    play.sessions[name] = play.session_count
  end
  return play.sessions[name]
end

local function add(own, where, line, row)
  local format = own.format
  local session = row.session_id ~= nil and tostring(row.session_id) or nil
  local id = row.request_id ~= nil and tostring(row.request_id) or ("line %d"):format(line)
  local waits = dependencies[format](where, row, session and own.last[session])
  for _, wait in ipairs(waits) do wait.id = tostring(wait.id) end
  local play = play_with(own, play_of(format, row, waits, own.by_id, id))
  if play.by_id[id] then core.fail("%s: request_id: %s stands in the file twice", where, id) end
  local prompt, content = prompt_of(own, where, row)
  local begin = begins[format]
  play.rows[#play.rows + 1] = { prompt_tokens = prompt, content = content, waits = waits, where = where,
    output_tokens = math.max(1, fields.whole(where, row, "output_length", 0)), session = session_of(play, session),
    start_s = row[begin] ~= nil and seconds(where, row, begin) or nil }
  play.by_id[id], own.by_id[id] = #play.rows, { play = play }
  if session then own.last[session] = id end
end

--- Times become times from the start of the play.
local function finish(play, format)
  link(play)
  play.start_s = math.huge
  for _, row in ipairs(play.rows) do play.start_s = math.min(play.start_s, row.start_s or math.huge) end
  if play.start_s == math.huge then play.start_s = 0 end
  for _, row in ipairs(play.rows) do
    local dated = row.start_s and (format == "agentic_mooncake_v2" or not row.parents)
    row.not_before_s, row.start_s = dated and row.start_s - play.start_s or nil, nil
  end
  play.by_id, play.sessions, play.session_count, play.key = nil, nil, nil, nil
end

--- Keys of AIPerf that state a prompt by its text.
local texts = { "text_input", "messages", "payload" }

--- The plays of a file, in the order in which they begin.
--- @param documents table[] {line, value} of each row
--- @param hash_block_tokens integer tokens that one id stands for
function agentic.plays(path, documents, format, hash_block_tokens, first_content)
  local own = { format = format, plays = {}, by_key = {}, by_id = {}, last = {},
    contents = blocks.new(hash_block_tokens, first_content),
    counts = { block_tokens = hash_block_tokens, total = 0, shared = 0 } }
  for _, each in ipairs(documents) do
    local row, where = each.value, ("%s:%d"):format(path, each.line)
    if type(row) ~= "table" then core.fail("%s: expected an object, found %s", where, core.describe(row)) end
    for _, key in ipairs(texts) do
      if row[key] ~= nil then
        core.fail("%s: %s: is a text, whose tokens are not known here; state input_length and hash_ids", where, key)
      end
    end
    if row.input_length ~= nil then
      add(own, where, each.line, row)
    elseif format:find "^mooncake" or row.request_id ~= nil or row.session_id ~= nil then
      core.fail("%s: input_length: is missing", where)
    end
  end
  for _, play in ipairs(own.plays) do finish(play, format) end
  table.sort(own.plays, function(a, b)
    if a.start_s ~= b.start_s then return a.start_s < b.start_s end
    return a.name < b.name
  end)
  own.counts.unique, own.counts.first_free = own.contents.unique, first_content + #own.contents.runs
  return own.plays, own.counts
end

return agentic
