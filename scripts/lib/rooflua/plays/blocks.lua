-- What prompts of one play consist of, from the ids of their blocks.
--
-- Two prompts share a prefix as far as their lists of ids agree. A *run* is a content whose blocks follow each other in
-- every prompt that has the later one. A prompt is a path: a part of a run, then a part of another one that begins
-- there. A prompt that only adds blocks to the one before lengthens the run, so that it has one segment, however
-- long it is.
local blocks = {}

--- The contents of one play. Its runs have the content ids first_content, first_content + 1, ...
--- @param block_tokens integer tokens of a block
--- @param first_content integer
function blocks.new(block_tokens, first_content)
  return {
    block_tokens = block_tokens,
    first_content = first_content,
    runs = { {} }, -- the ids of each; run 1 begins at the front of a prompt
    behind = {},   -- by place and id, the run that begins there
    sizes = {},    -- by place, how many runs begin there
    unique = 0,    -- blocks in all runs
  }
end

--- A place is a run and a number of its blocks, as one number.
local function place_of(run, taken) return run * 16777216 + taken end

--- The run that begins at a place with this id; a new one where there is none.
local function branch(own, run, taken, id)
  local place = place_of(run, taken)
  local list = own.behind[place]
  if not list then
    list = {}
    own.behind[place] = list
  end
  local found = list[id]
  if not found then
    found = #own.runs + 1
    own.runs[found], list[id] = {}, found
    own.sizes[place] = (own.sizes[place] or 0) + 1
  end
  return found
end

--- Whether the next block at this place can lengthen the run: it is at its end, and nothing else begins there.
local function may_grow(own, run, taken)
  return taken == #own.runs[run] and not own.sizes[place_of(run, taken)]
end

local function segment(own, content, run, taken)
  if taken > 0 then content[#content + 1] = { own.first_content + run - 1, taken * own.block_tokens } end
end

--- How many ids two prompts have in common at the front.
local function common(ids, count, before)
  local most, other, n = math.min(count, before.count), before.ids, 0
  while n < most and ids[n] == other[n] do n = n + 1 end
  return n
end

--- The path of an earlier prompt as far as its first `taken` blocks: what lies in front of the last run is added to
--- `content`. Such a path never changes: a run at whose end another one begins is not lengthened any more.
--- @return integer run
--- @return integer taken blocks of that run
local function path_of(own, content, before, taken)
  for _, each in ipairs(before.content) do
    local blocks_of = each[2] / own.block_tokens
    if taken <= blocks_of then return each[1] - own.first_content + 1, taken end
    content[#content + 1], taken = each, taken - blocks_of
  end
end

--- The segments of a prompt, and how many of its blocks an earlier prompt of the play had in front.
--- @param ids any the ids of its full blocks, from ids[0] on
--- @param count integer how many
--- @param prompt_tokens integer what is left after the last block is shared with no prompt
--- @param before table? {ids, count, content} of an earlier prompt, which saves time where this one begins like it
--- @return table content {id, tokens} each
--- @return integer shared blocks
function blocks.content(own, ids, count, prompt_tokens, before)
  local content, run, taken, shared, fresh = {}, 1, 0, 0, false
  if before then shared = common(ids, count, before) end
  if shared > 0 then run, taken = path_of(own, content, before, shared) end
  for i = shared + 1, count do
    local id, list = ids[i - 1], own.runs[run]
    if list[taken + 1] ~= id then
      if may_grow(own, run, taken) then
        list[taken + 1], fresh = id, true
      else
        segment(own, content, run, taken)
        run, taken = branch(own, run, taken, id), 0
        list = own.runs[run]
        if #list == 0 then list[1], fresh = id, true end
      end
      if fresh then own.unique = own.unique + 1 end
    end
    if not fresh then shared = i end
    taken = taken + 1
  end
  segment(own, content, run, taken)
  local rest = prompt_tokens - count * own.block_tokens
  if rest > 0 then content[#content + 1] = { 0, rest } end
  return content, shared
end

return blocks
