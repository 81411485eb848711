-- Plays from a file: its format is recognised by its content.
local agentic = require "rooflua.plays.agentic"
local aiperf_turns = require "rooflua.plays.aiperf_turns"
local bailian = require "rooflua.plays.bailian"
local blis = require "rooflua.plays.blis"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"
local inference_lab = require "rooflua.plays.inference_lab"
local native = require "rooflua.native"
local otel = require "rooflua.plays.otel"
local recorded = require "rooflua.plays.recorded"
local servegen = require "rooflua.plays.servegen"
local weka = require "rooflua.plays.weka"

local file = {}

--- Formats of plays, for messages.
file.formats = { "weka", "agentic_mooncake_v2", "agentic_mooncake", "mooncake_sessions", "mooncake_trace", "otel_spans",
  "inference_lab", "qwen_bailian", "servegen_conversations", "blis" }

--- Readers of whole files of JSON. A row of qwen_bailian has keys of a mooncake_trace as well.
local readers = { bailian, otel, inference_lab, servegen, aiperf_turns, agentic }

--- Content ids of a file begin here: those below belong to what a workload adds.
local first_content = 4294967296

--- Whether the first line of a file is a play of a Weka file.
local function is_weka(path)
  local reads, _, document = pcall(native.packed_json_line, path, 0, path .. ":1", "hash_ids")
  return reads and weka.tells(document)
end

--- Which reader a file needs, what it reads (documents, or rows of a CSV), and the name of the format.
local function told(path, head)
  if head:find "^%s*[{%[]" then
    local documents = native.json_documents(native.read_user_text(path), path)
    for _, each in ipairs(documents) do
      for _, reader in ipairs(readers) do
        local format = reader.tells(each.value)
        if format then return reader, documents, format end
      end
    end
  elseif servegen.tells_line(head) then
    servegen.refuse("workload.path: " .. path)
  else
    local reads, names = pcall(native.csv_header, path)
    if reads and blis.tells_columns(names) then return blis, (native.csv_read(path)), "blis" end
  end
  core.fail("workload.path: %s: is no file of plays; known formats: %s (docs/AGENTS.md)", path,
    table.concat(file.formats, ", "))
end

--- Takes what a reader gave of the whole file.
local function take(opened, plays, counts)
  opened.rows = plays
  for _, play in ipairs(plays) do
    opened.counts.plays, opened.counts.rows = opened.counts.plays + 1, opened.counts.rows + #play.rows
  end
  for _, key in ipairs { "total", "unique", "shared" } do opened.counts[key] = counts[key] end
  opened.notes = counts.notes
  return opened
end

--- Opens a file of plays.
--- @param path string beside the scenario or in the working directory
--- @param hash_block_tokens integer tokens of an id, for formats that do not say
--- @param limit integer only the first so many plays; 0: all
function file.open(path, hash_block_tokens, limit)
  if path == nil or path == "" then core.fail "workload.path: is missing; expected a file of recorded plays" end
  path = files.find(path, "workload: path", "file")
  if not native.file_exists(path) then core.fail("workload.path: %s: there is no such file", path) end
  local opened = { path = path, limit = limit, offset = 0, line = 0, given = 0, sessions = 0,
    next_content = first_content, counts = { plays = 0, rows = 0, total = 0, unique = 0, shared = 0 } }
  local head = native.read_head(path, 4096)
  if head == "" then core.fail("workload.path: %s: its first line is empty; expected a play", path) end
  if head:sub(1, 2) == "\31\139" then
    core.fail("workload.path: %s: is packed with gzip; unpack it, as plays are read when they begin", path)
  end
  if head:find "^[{%[]" and is_weka(path) then
    opened.format = "weka"
    return opened
  end
  local reader, rows, format = told(path, head)
  opened.format = format
  return take(opened, reader.plays(path, rows, format, hash_block_tokens, first_content))
end

--- Adds a play of a Weka file, which is read when it begins, to what was read.
local function count(opened, play, counts)
  local sums = opened.counts
  sums.plays, sums.rows = sums.plays + 1, sums.rows + #play.rows
  for _, key in ipairs { "total", "unique", "shared" } do sums[key] = sums[key] + counts[key] end
end

--- The next play of a Weka file; nil at its end.
local function next_weka(opened)
  while true do
    local where = ("%s:%d"):format(opened.path, opened.line + 1)
    local behind, document = native.packed_json_line(opened.path, opened.offset, where, "hash_ids")
    if not behind then return nil end
    opened.offset, opened.line = behind, opened.line + 1
    if document ~= nil then
      if not weka.tells(document) then core.fail("%s: requests, block_size: is missing", where) end
      local agents, counts = weka.read(where, document, opened.next_content)
      if #agents == 0 then core.fail("%s: requests: is empty", where) end
      opened.next_content = counts.first_free
      local play = { name = counts.name and tostring(counts.name) or ("line %d"):format(opened.line),
        rows = recorded.rows(agents) }
      count(opened, play, counts)
      return play
    end
  end
end

--- The next play; nil when there are no more. Its rows have start_s and end_s, as recorded, where the format has them.
function file.next(opened)
  if opened.limit > 0 and opened.given >= opened.limit then return nil end
  local play
  if opened.format == "weka" then
    play = next_weka(opened)
  else
    play = opened.rows[opened.given + 1]
  end
  if not play then return nil end
  opened.given = opened.given + 1
  local last = 0
  for _, row in ipairs(play.rows) do
    last = math.max(last, row.session or 0)
    row.session = row.session and row.session + opened.sessions - 1
  end
  opened.sessions = opened.sessions + last
  return play
end

--- Begins again with the first play of a Weka file. What is read again has other contents, so that nothing of it is
--- cached. Files of other formats are read once, as a whole.
function file.again(opened)
  if opened.format ~= "weka" then
    core.fail("plays.again: %s is a file of %s; only Weka files begin again", opened.path, opened.format)
  end
  opened.offset, opened.line, opened.given = 0, 0, 0
end

--- What the engine takes of a play: its rows without the times of the recording.
function file.sent(play)
  for _, row in ipairs(play.rows) do row.start_s, row.end_s = nil, nil end
  return { name = play.name, rows = play.rows }
end

--- A sentence on what was read.
function file.note(opened)
  local sums = opened.counts
  local share = sums.total > 0 and sums.shared / sums.total or 0
  local text = ("%s: %s, %d plays with %d requests were read; %.0f blocks of prompts, %.0f of them different; a cache "
    .. "without end has %.1f %% of them"):format(opened.path, opened.format, sums.plays, sums.rows, sums.total,
    sums.unique, 100 * share)
  for _, each in ipairs(opened.notes or {}) do text = text .. "; " .. each end
  return text
end

return file
