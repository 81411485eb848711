-- Plays from a file: which format it has is told by its first line.
local agentic = require "rooflua.plays.agentic"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"
local native = require "rooflua.native"
local recorded = require "rooflua.plays.recorded"
local weka = require "rooflua.plays.weka"

local file = {}

--- Formats of plays, for messages.
file.formats = { "weka", "agentic_mooncake_v2", "agentic_mooncake", "mooncake_sessions" }

--- Content ids of a file begin here: those below belong to what a workload adds.
local first_content = 4294967296

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
  local text = native.read_line(path, 0)
  if not text or text == "" then core.fail("workload.path: %s: its first line is empty; expected a play", path) end
  if text:sub(1, 2) == "\31\139" then
    core.fail("workload.path: %s: is packed with gzip; unpack it, as plays are read when they begin", path)
  end
  local reads, document = pcall(weka.decode, text, path .. ":1")
  if not reads then
    core.fail("workload.path: %s: is no file of plays (docs/AGENTS.md): its first line is no JSON", path)
  end
  if weka.tells(document) then
    opened.format = "weka"
    return opened
  end
  local documents = native.json_documents(native.read_user_text(path), path)
  for _, each in ipairs(documents) do
    opened.format = opened.format or agentic.tells(each.value)
  end
  if not opened.format then
    core.fail("workload.path: %s: is no file of plays; known formats: %s (docs/AGENTS.md)", path,
      table.concat(file.formats, ", "))
  end
  local rows, counts = agentic.plays(path, documents, opened.format, hash_block_tokens, first_content)
  opened.rows = rows
  for _, play in ipairs(rows) do
    opened.counts.plays, opened.counts.rows = opened.counts.plays + 1, opened.counts.rows + #play.rows
  end
  for _, key in ipairs { "total", "unique", "shared" } do opened.counts[key] = counts[key] end
  return opened
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
    local text, behind = native.read_line(opened.path, opened.offset)
    if not text then return nil end
    opened.offset, opened.line = behind, opened.line + 1
    if text ~= "" then
      local where = ("%s:%d"):format(opened.path, opened.line)
      local agents, counts = weka.read(where, weka.decode(text, where), opened.next_content)
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

--- Begins again with the first play. What is read again has other contents, so that nothing of it is cached.
function file.again(opened)
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
  return ("%s: %s, %d plays with %d requests were read; %.0f blocks of prompts, %.0f of them different; a cache "
    .. "without end has %.1f %% of them"):format(opened.path, opened.format, sums.plays, sums.rows, sums.total,
    sums.unique, 100 * share)
end

return file
