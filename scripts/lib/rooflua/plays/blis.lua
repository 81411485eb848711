-- TraceV2 of BLIS, a CSV with a row per request, and a header in YAML beside it (NAME.yaml or header.yaml).
--
-- Rows of a session follow each other by round_index. With session_context_growth = accumulate in the header,
-- input_tokens are those that a round adds to the prompt and the answer of the round before; input_tokens_reset is the
-- whole of a prompt whose context began again. Without it input_tokens are the whole prompt, after the prefix of the
-- row's prefix_group. A round comes think_time_us after the end of the one before. Where that is not recorded, the
-- pause is from last_chunk_time_us to arrival_time_us. Without both it comes so long after the one before as recorded,
-- and not before that one has ended.
-- @source inference-sim/inference-sim, sim/workload/{tracev2,replay,trace_encode,fixed_accumulate}.go
local collection = require "rooflua.plays.collection"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"
local files = require "rooflua.sandbox.files"
local native = require "rooflua.native"

local blis = {}

--- Columns whose values would change what is simulated, and are not read.
local unread = { "adapter", "deadline_us", "vllm_priority", "slo_class", "image_tokens", "audio_tokens",
  "video_tokens" }

--- Whether these are names of columns of a TraceV2.
function blis.tells_columns(names)
  local has = {}
  for _, name in ipairs(names) do has[name] = true end
  return has.arrival_time_us and has.input_tokens and has.round_index and has.session_id or false
end

--- The header beside a trace; nil: none.
local function header_of(path)
  for _, name in ipairs { (path:gsub("%.csv$", "") .. ".yaml"), (path:match "^(.*/)" or "") .. "header.yaml" } do
    if native.file_exists(name) then
      files.find(name, "workload: path", "file")
      return native.yaml_decode(native.read_user_text(name), name), name
    end
  end
end

local function accumulates(own, path)
  local header, name = header_of(path)
  if not header then
    collection.say(own, "there is no header beside the file, so input_tokens are taken for whole prompts")
    return false
  end
  local growth = type(header) == "table" and header.session_context_growth or nil
  if growth ~= nil and growth ~= "" and growth ~= "accumulate" then
    core.fail("%s: session_context_growth: expected accumulate or nothing, found %s", name, core.describe(growth))
  end
  return growth == "accumulate"
end

local function note_unread(own, row)
  for _, key in ipairs(unread) do
    local value = row[key]
    if value ~= nil and value ~= 0 and value ~= "" then
      collection.say(own, "%d rows have " .. key .. ", which is not read")
    end
  end
end

--- A first prompt: after the prefix of its group, which all of the group share.
local function first_prompt(own, where, row)
  local group, tokens = row.prefix_group, fields.whole(where, row, "input_tokens", 0)
  local prefix = group ~= nil and row.prefix_length ~= nil and fields.whole(where, row, "prefix_length", 0) or 0
  local server = row.server_input_tokens ~= nil and fields.whole(where, row, "server_input_tokens", 0) or 0
  if group == nil and server > 0 then tokens = server end
  local prompt = prefix + tokens
  if prompt < 1 then core.fail("%s: input_tokens: expected a prompt of at least 1 token", where) end
  local shared = own.groups[group or false]
  if group ~= nil and not shared then
    shared = { content = { { collection.new_content(own), prefix } }, tokens = 0 }
    own.groups[group] = shared
  end
  local content = collection.grown(own, tokens, nil, 0)
  if prefix > 0 then table.insert(content, 1, { shared.content[1][1], prefix }) end
  own.total = own.total + math.floor(prompt / own.block_tokens) - math.floor(tokens / own.block_tokens)
  if prefix > 0 then
    own.shared = own.shared + math.floor(math.min(prefix, shared.tokens) / own.block_tokens)
    shared.tokens = math.max(shared.tokens, prefix)
  end
  return prompt, content
end

--- The prompt of a round: its length and its content.
local function prompt_of(own, where, row, before)
  if not (own.accumulates and before) then return first_prompt(own, where, row) end
  if row.input_tokens_reset ~= nil then
    local prompt = fields.whole(where, row, "input_tokens_reset", 1)
    return prompt, collection.grown(own, prompt, nil, 0)
  end
  local kept = before.prompt_tokens + before.output_tokens
  local prompt = kept + fields.whole(where, row, "input_tokens", 0)
  return prompt, collection.grown(own, prompt, before, kept)
end

--- What a round waits for.
local function parents_of(where, row, before, number)
  if row.think_time_us ~= nil then
    return { { row = number, event = "ended", delay_s = fields.number(where, row, "think_time_us", 1e18) / 1e6 } }
  end
  local ended_us = before.last_chunk_time_us
  if ended_us ~= nil and ended_us ~= 0 then
    local pause_s = (row.arrival_time_us - fields.number(before.where, before, "last_chunk_time_us", 1e18)) / 1e6
    return { { row = number, event = "ended", delay_s = math.max(0, pause_s) } }
  end
  return collection.behind(number, math.max(0, (row.arrival_time_us - before.arrival_time_us) / 1e6))
end

local function read_play(own, play)
  table.sort(play.given, function(a, b)
    if a.round_index ~= b.round_index then return a.round_index < b.round_index end
    return a.line < b.line
  end)
  local before
  for i, row in ipairs(play.given) do
    if row.round_index ~= i - 1 and play.is_session then
      core.fail("%s: round_index: expected %d in session %s, found %d", row.where, i - 1, play.name, row.round_index)
    end
    local prompt, content = prompt_of(own, row.where, row, before)
    before = { prompt_tokens = prompt, content = content, session = 1, output_content = collection.new_content(own),
      output_tokens = math.max(1, fields.whole(row.where, row, "output_tokens", 0)),
      parents = before and parents_of(row.where, row, play.given[i - 1], i - 1) or nil }
    play.rows[i] = before
  end
  play.start_s = play.given[1].arrival_time_us / 1e6
  play.given, play.is_session = nil, nil
end

--- @param rows table[] of a CSV
function blis.plays(path, rows, _, _, first_content)
  local own = collection.new(first_content, collection.usual_block_tokens)
  own.groups, own.accumulates = {}, accumulates(own, path)
  for _, row in ipairs(rows) do
    row.where = ("%s:%d"):format(path, row.line)
    fields.needed(row.where, row, "arrival_time_us", 1e18)
    fields.whole(row.where, row, "round_index", 0)
    note_unread(own, row)
    local is_session = row.session_id ~= nil
    local play = collection.play(own, is_session and tostring(row.session_id) or ("line %d"):format(row.line))
    play.is_session, play.given = is_session, play.given or {}
    play.given[#play.given + 1] = row
  end
  for _, play in ipairs(own.plays) do read_play(own, play) end
  return collection.done(own)
end

return blis
