-- ServeGen: the conversations of its data, a list of lists of {turn, timestamp, input_token_count, output_token_count,
-- input_tokens, output_tokens}.
--
-- Times are in seconds. What the hashes of input_tokens stand for is not documented, so a prompt is taken to repeat the
-- one before (collection.repeated). Its descriptions of clients are no requests: they are refused by name.
-- @source alibaba/ServeGen, README.md and data/offline/README.md
local collection = require "rooflua.plays.collection"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local servegen = {}

local function is_turn(value) return type(value) == "table" and value.input_token_count ~= nil end

--- Windows of a client: {["600"] = {input_tokens = .., output_tokens = ..}}.
local function is_client(document)
  local key, window = next(document)
  return type(key) == "string" and key:find "^%d+$" and type(window) == "table" and window.input_tokens ~= nil
end

--- Which of ServeGen's files a document is of; nil: none.
function servegen.tells(document)
  if type(document) ~= "table" then return nil end
  if is_turn(document[1]) or type(document[1]) == "table" and is_turn(document[1][1]) then
    return "servegen_conversations"
  end
  return is_client(document) and "servegen_client" or nil
end

--- Whether a line is one of a client's chunk-N-trace.csv: start, rate, cv, pattern, and two parameters.
function servegen.tells_line(line) return line:find "^[%d.]+,[%d.eE+-]*,[%d.eE+-]*,%a*,[^,]*,[^,]*%s*$" ~= nil end

function servegen.refuse(where)
  core.fail("%s: is ServeGen's description of a client in windows of 600 s, from which requests are drawn; write "
    .. "requests with its generate_workload as a CSV of arrival_s, prompt_tokens, output_tokens, and use "
    .. "workloads.replay", where)
end

local function read(own, where, turns)
  if not is_turn(turns[1]) then
    core.fail("%s: input_token_count: is missing; expected a list of turns", where)
  end
  own.number = own.number + 1
  local play, before, at_s = collection.play(own, ("conversation %d"):format(own.number)), nil, nil
  for i, turn in ipairs(turns) do
    local here = ("%s: turn %d"):format(where, i)
    local prompt, now_s = fields.whole(here, turn, "input_token_count", 1),
      fields.needed(here, turn, "timestamp", fields.most_stamp_s)
    if at_s and now_s < at_s then core.fail("%s: timestamp: lies before that of the turn before", here) end
    local row = { prompt_tokens = prompt, session = 1,
      output_tokens = math.max(1, fields.whole(here, turn, "output_token_count", 0)),
      content = collection.grown(own, prompt, before, collection.repeated(prompt, before, true)),
      output_content = collection.new_content(own),
      parents = before and collection.behind(i - 1, now_s - at_s) or nil }
    play.start_s = play.start_s or now_s
    play.rows[i], before, at_s = row, row, now_s
  end
end

--- @param documents table[] {line, value}
function servegen.plays(path, documents, format, _, first_content)
  if format == "servegen_client" then servegen.refuse(path) end
  local own = collection.new(first_content, collection.usual_block_tokens)
  own.number = 0
  for _, each in ipairs(documents) do
    local where, list = ("%s:%d"):format(path, each.line), each.value
    if type(list) ~= "table" then core.fail("%s: expected a list, found %s", where, core.describe(list)) end
    if is_turn(list[1]) then
      read(own, where, list)
    else
      for i, turns in ipairs(list) do
        local here = ("%s: conversation %d"):format(where, i)
        if type(turns) ~= "table" then
          core.fail("%s: expected a list of turns, found %s", here, core.describe(turns))
        end
        read(own, here, turns)
      end
    end
  end
  local first_s = math.huge
  for _, play in ipairs(own.plays) do first_s = math.min(first_s, play.start_s) end
  for _, play in ipairs(own.plays) do play.start_s = play.start_s - first_s end
  collection.say(own, "prompts are taken to repeat the turn before: what the file's hashes stand for is not documented")
  return collection.done(own)
end

return servegen
