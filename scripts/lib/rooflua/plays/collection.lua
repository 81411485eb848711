-- Plays that are collected from the rows of a file: their contents, which request waits for which, and what the file
-- says.
local collection = {}

--- Tokens of a block, where a file has no ids of blocks: that of most engines.
collection.usual_block_tokens = 16

--- @param first_content integer content ids begin here
--- @param block_tokens integer tokens of a block, for counts
function collection.new(first_content, block_tokens)
  return { plays = {}, by_key = {}, next_content = first_content, block_tokens = block_tokens, total = 0, shared = 0,
    said = {}, notes = {} }
end

--- The play with that key; a new one where there is none.
function collection.play(own, key)
  local play = own.by_key[key]
  if not play then
    play = { name = key, rows = {} }
    own.by_key[key], own.plays[#own.plays + 1] = play, play
  end
  return play
end

--- Says something about the file in every output.
--- @param what string with a %d for how often it was said
function collection.say(own, what)
  if not own.said[what] then own.notes[#own.notes + 1] = what end
  own.said[what] = (own.said[what] or 0) + 1
end

function collection.new_content(own)
  own.next_content = own.next_content + 1
  return own.next_content - 1
end

--- Counts the full blocks of a prompt of which an earlier one had so many tokens in front.
function collection.count(own, prompt_tokens, shared_tokens)
  own.total = own.total + math.floor(prompt_tokens / own.block_tokens)
  own.shared = own.shared + math.floor(shared_tokens / own.block_tokens)
end

--- The content of a prompt that begins with so many tokens of an earlier prompt and its answer, and goes on with what
--- no other has.
--- @param before table? the earlier row
--- @param kept integer at most its prompt_tokens + output_tokens and this prompt's
function collection.grown(own, prompt_tokens, before, kept)
  local content, taken = {}, 0
  local function take(id, tokens)
    local part = math.min(tokens, kept - taken)
    if part > 0 then content[#content + 1] = { id, part } end
    taken = taken + part
  end
  if before then
    for _, each in ipairs(before.content) do take(each[1], each[2]) end
    take(before.output_content, before.output_tokens)
  end
  if prompt_tokens > taken then content[#content + 1] = { collection.new_content(own), prompt_tokens - taken } end
  collection.count(own, prompt_tokens, taken)
  return content
end

--- How much of an earlier request a prompt repeats, where a file does not say it: its prompt and its answer; only its
--- prompt, where this one is too short for both (reasoning is left out) or the answer was not there yet; nothing of a
--- longer prompt (the context began again).
function collection.repeated(prompt_tokens, before, answered)
  if not before or prompt_tokens < before.prompt_tokens then return 0 end
  local both = before.prompt_tokens + before.output_tokens
  return answered and prompt_tokens >= both and both or before.prompt_tokens
end

--- The parents of a row that came `gap_s` after row number `before` was sent, where its end is not recorded: it is sent
--- neither earlier than that nor before the other one has ended.
function collection.behind(before, gap_s)
  return { { row = before, event = "ended", delay_s = 0 }, { row = before, event = "sent", delay_s = gap_s } }
end

--- The plays in the order in which they begin, and the counts of the file.
function collection.done(own)
  local position = {}
  for i, play in ipairs(own.plays) do
    position[play], play.start_s = i, play.start_s or 0
  end
  table.sort(own.plays, function(a, b)
    if a.start_s ~= b.start_s then return a.start_s < b.start_s end
    return position[a] < position[b]
  end)
  local notes = {}
  for i, what in ipairs(own.notes) do notes[i] = what:format(own.said[what]) end
  return own.plays, { total = own.total, shared = own.shared, unique = own.total - own.shared, notes = notes }
end

return collection
