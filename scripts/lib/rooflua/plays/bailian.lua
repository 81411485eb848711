-- Requests of chats, as Alibaba Cloud publishes them, one per line: {chat_id, parent_chat_id, timestamp, input_length,
-- output_length, type, turn, hash_ids}.
--
-- Times are in seconds; hash_ids has one id per 16 tokens, which means the same in the whole file. The last id may be
-- that of a part of a block. When an answer ended is not recorded. A follow-up comes so long after the request before
-- it as recorded, and not before that one has ended.
-- @source alibaba-edu/qwen-bailian-usagetraces-anon, README.md and docs/qa-context-growth-pattern.md
local blocks = require "rooflua.plays.blocks"
local collection = require "rooflua.plays.collection"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local bailian = {}

local block_tokens = 16

function bailian.tells(row)
  return type(row) == "table" and row.chat_id ~= nil and row.input_length ~= nil and "qwen_bailian" or nil
end

local function id_of(where, row, key)
  local id = row[key]
  if type(id) ~= "number" or id % 1 ~= 0 or math.abs(id) > 2 ^ 53 then
    core.fail("%s: %s: expected a whole number, found %s", where, key, core.describe(id))
  end
  return id
end

--- What a request of another kind than text has besides its tokens is not in the file.
local function note_kind(own, row)
  if type(row.type) == "string" and row.type ~= "text" then
    collection.say(own, "%d requests of a type other than text count by their tokens only")
  end
end

--- The content of a prompt, from the ids of its full blocks.
local function content_of(own, where, row, prompt)
  local ids, from_0 = fields.list(where, row, "hash_ids"), {}
  if #ids > math.ceil(prompt / block_tokens) then
    core.fail("%s: hash_ids: %d ids of %d tokens are more than the %d tokens of the prompt", where, #ids, block_tokens,
      prompt)
  end
  local count = math.min(#ids, math.floor(prompt / block_tokens))
  for i = 1, count do
    if type(ids[i]) ~= "number" then
      core.fail("%s: hash_ids: expected whole numbers, found %s", where, core.describe(ids[i]))
    end
    from_0[i - 1] = ids[i]
  end
  local content, shared = blocks.content(own.contents, from_0, count, prompt)
  collection.count(own, prompt, shared * block_tokens)
  return content
end

local function read(own, where, row)
  local id = id_of(where, row, "chat_id")
  if own.chats[id] then core.fail("%s: chat_id: %d stands in the file twice", where, id) end
  local prompt = fields.whole(where, row, "input_length", 1)
  note_kind(own, row)
  local chat = { where = where, id = id,
    parent = row.parent_chat_id ~= nil and id_of(where, row, "parent_chat_id") or -1,
    at_s = fields.needed(where, row, "timestamp"), row = { prompt_tokens = prompt, session = 1,
      output_tokens = math.max(1, fields.whole(where, row, "output_length", 0)),
      content = content_of(own, where, row, prompt) } }
  own.chats[id], own.order[#own.order + 1] = chat, chat
end

--- The first request of the chat that this one is of.
local function root_of(own, chat)
  local root, steps = chat, 0
  while root.parent ~= -1 and own.chats[root.parent] do
    root, steps = own.chats[root.parent], steps + 1
    if steps > #own.order then core.fail("%s: parent_chat_id: the request waits for itself", chat.where) end
  end
  return root
end

--- Puts the requests into plays, in the order of their times.
local function link(own)
  local position = {}
  for i, chat in ipairs(own.order) do position[chat] = i end
  table.sort(own.order, function(a, b)
    if a.at_s ~= b.at_s then return a.at_s < b.at_s end
    return position[a] < position[b]
  end)
  for _, chat in ipairs(own.order) do
    local root = root_of(own, chat)
    local play, parent = collection.play(own, tostring(root.id)), own.chats[chat.parent]
    play.start_s = play.start_s or chat.at_s
    play.rows[#play.rows + 1], chat.number = chat.row, #play.rows + 1
    if parent and not parent.number then
      core.fail("%s: timestamp: lies before that of its parent, chat %d", chat.where, parent.id)
    end
    if parent then
      chat.row.parents = collection.behind(parent.number, chat.at_s - parent.at_s)
    elseif chat.parent ~= -1 then
      collection.say(own, "%d requests begin a chat, as their parent is not in the file")
    end
  end
end

--- @param documents table[] {line, value}
function bailian.plays(path, documents, _, _, first_content)
  local own = collection.new(first_content, block_tokens)
  own.chats, own.order, own.contents = {}, {}, blocks.new(block_tokens, first_content)
  for _, each in ipairs(documents) do read(own, ("%s:%d"):format(path, each.line), each.value) end
  link(own)
  return collection.done(own)
end

return bailian
