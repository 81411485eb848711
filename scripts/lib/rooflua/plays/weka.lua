-- Weka captures of coding agents, as AgentX replays them: a play per line.
--
-- {id, block_size, hash_id_scope = "local", requests = {{type = "n" or "s", t, in, out, hash_ids, api_time}, ...,
-- {type = "subagent", t, requests = {...}}}}. `t` is in seconds from the start of the play, hash_ids has one id per
-- full block of the prompt, and ids mean the same within a play only.
-- @source kubernetes-sigs/inference-perf, inference_perf/datagen/replay/weka_trace_replay_datagen.py;
--         ai-dynamo/aiperf, docs/benchmark-modes/semianalysis-agentx-faq.md
local blocks = require "rooflua.plays.blocks"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"
local json = require "rooflua.json"

local ffi = require("rooflua.border.abi").ffi

local weka = {}

--- Lists of ids come as texts of four bytes each: a play has millions of them.
local id_list = ffi.typeof "const int32_t *"

--- A document is a play of this format.
function weka.tells(document)
  return type(document) == "table" and type(document.requests) == "table" and document.block_size ~= nil
end

--- @param before table? {ids, count, content, packed} of the request before it of its agent
local function request_of(where, request, own, before)
  local prompt, output = fields.whole(where, request, "in", 1), fields.whole(where, request, "out", 0)
  local packed = request.hash_ids or ""
  if type(packed) ~= "string" then
    core.fail("%s: hash_ids: expected a list of whole numbers, found %s", where, core.describe(packed))
  end
  local ids, count = ffi.cast(id_list, packed), #packed / 4
  local full = math.floor(prompt / own.block_tokens)
  if count > full then
    core.fail("%s: hash_ids: %d ids of %d tokens are more than the %d tokens of the prompt", where, count,
      own.block_tokens, prompt)
  end
  local start_s = fields.needed(where, request, "t")
  local content, shared = blocks.content(own, ids, count, prompt, before)
  own.total, own.shared = own.total + full, own.shared + shared
  return { start_s = start_s, end_s = start_s + (fields.number(where, request, "api_time") or 0),
    prompt_tokens = prompt, output_tokens = math.max(1, output), content = content, kind = request.type },
    { ids = ids, count = count, content = content, packed = packed } -- the ids lie in `packed`
end

local function by_start(a, b) return a.start_s < b.start_s end

--- The requests of an agent, and after them those of the agents that it started.
local function agent_of(where, list, parent, own, agents)
  local agent = { parent = parent, requests = {} }
  agents[#agents + 1] = agent
  local before
  for i, each in ipairs(list) do
    local here = ("%s: request %d"):format(where, i)
    if type(each) ~= "table" then core.fail("%s: expected an object, found %s", here, core.describe(each)) end
    if each.type == "subagent" then
      agent_of(here, fields.list(here, each, "requests"), agent, own, agents)
    elseif each.type == "n" or each.type == "s" then
      agent.requests[#agent.requests + 1], before = request_of(here, each, own, before)
    else
      core.fail("%s: type: expected \"n\", \"s\" or \"subagent\", found %s", here, core.describe(each.type))
    end
  end
  table.sort(agent.requests, by_start)
  return agents
end

--- The agents of a play, as rooflua.plays.recorded takes them, and what its blocks are.
--- @param first_content integer the content ids of the play begin here
--- @return table agents
--- @return table counts {name, total, unique, shared, first_free}: blocks, and the first content id that is not used
function weka.read(where, document, first_content)
  local size = fields.whole(where, document, "block_size", 1)
  if document.hash_id_scope ~= nil and document.hash_id_scope ~= "local" and document.hash_id_scope ~= json.null then
    core.fail('%s: hash_id_scope: expected "local", found %s', where, core.describe(document.hash_id_scope))
  end
  local own = blocks.new(size, first_content)
  own.total, own.shared = 0, 0
  local agents = agent_of(where, document.requests, nil, own, {})
  local kept = {}
  for _, each in ipairs(agents) do
    if #each.requests > 0 then kept[#kept + 1] = each end
  end
  return kept, { name = document.id, block_tokens = size, total = own.total, unique = own.unique, shared = own.shared,
    first_free = first_content + #own.runs }
end

-- Writing -------------------------------------------------------------------------------------------------------

--- The id of the block that has these parts, after the block with the id `before`.
local function number_of(own, before, parts)
  local name = ("%d|%s"):format(before, parts)
  local found = own.numbers[name]
  if not found then
    own.count = own.count + 1
    found = own.count
    own.numbers[name] = found
  end
  return found
end

--- Ids of the blocks that end within a content, which begins after block `before` with `begun` in front of it in the
--- same block: a list that grows as prompts have more of the content.
local function ids_within(own, before, begun, filled, id, blocks_wanted)
  local name = ("%d|%s|%.0f"):format(before, begun, id)
  local list = own.within[name]
  if not list then
    list = {}
    own.within[name] = list
  end
  local size = own.block_tokens
  for k = #list + 1, blocks_wanted do
    local parts = k == 1 and ("%s,%.0f:0+%d"):format(begun, id, size - filled)
      or ("%.0f:%.0f+%d"):format(id, (k - 1) * size - filled, size)
    list[k] = number_of(own, list[k - 1] or before, parts)
  end
  return list
end

--- Ids of the full blocks of a prompt: two prompts have the same ids exactly as far as their contents agree.
local function ids_of(own, row)
  local size, ids, count, begun, filled = own.block_tokens, {}, 0, "", 0
  for _, each in ipairs(row.content or {}) do
    local id, tokens = each[1], each[2]
    if id == 0 then
      own.private = own.private + 1
      id = -own.private
    end
    local full = math.floor((filled + tokens) / size)
    local list = ids_within(own, ids[count] or 0, begun, filled, id, full)
    for k = 1, full do ids[count + k] = list[k] end
    count = count + full
    local rest = filled + tokens - full * size
    if full == 0 then
      begun = ("%s,%.0f:0+%d"):format(begun, id, tokens)
    else
      begun = rest > 0 and ("%.0f:%.0f+%d"):format(id, tokens - rest, rest) or ""
    end
    filled = rest
  end
  return ids
end

--- How long a request is taken to last in a file that is written before any run: 1 s, and 20 ms per token.
local function nominal_s(row) return 1 + 0.02 * row.output_tokens end

--- When each row of a play begins and ends, with nominal durations.
local function times_of(rows)
  local starts, ends = {}, {}
  local function start_of(i)
    if starts[i] then return starts[i] end
    local row, at_s = rows[i], rows[i].not_before_s or 0
    for _, each in ipairs(row.parents or {}) do
      local from = start_of(each.row)
      if each.event == "first_token" then
        from = from + 1
      elseif each.event ~= "sent" then
        from = ends[each.row]
      end
      at_s = math.max(at_s, from + (each.delay_s or 0))
    end
    starts[i], ends[i] = at_s, at_s + nominal_s(row)
    return at_s
  end
  for i = 1, #rows do start_of(i) end
  return starts, ends
end

--- A play as a document of this format. Sessions of a play are its agents; the first row's is the main one.
function weka.document(play, block_tokens)
  local own = { block_tokens = block_tokens, numbers = {}, within = {}, count = 0, private = 0 }
  local starts, ends = times_of(play.rows)
  local order = {}
  for i = 1, #play.rows do order[i] = i end
  table.sort(order, function(a, b)
    if starts[a] ~= starts[b] then return starts[a] < starts[b] end
    return a < b
  end)
  local main, by_session, out = play.rows[1].session, {}, {}
  for _, i in ipairs(order) do
    local row = play.rows[i]
    local request = { t = starts[i], type = "n", ["in"] = row.prompt_tokens, out = row.output_tokens,
      hash_ids = json.array(ids_of(own, row)), api_time = ends[i] - starts[i] }
    if row.session == main then
      out[#out + 1] = request
    else
      local entry = by_session[row.session]
      if not entry then
        entry = { t = starts[i], type = "subagent", agent_id = ("agent_%d"):format(#out), requests = {} }
        by_session[row.session], out[#out + 1] = entry, entry
      end
      entry.requests[#entry.requests + 1] = request
    end
  end
  return { id = play.name, models = { "" }, block_size = block_tokens, hash_id_scope = "local", requests = out }
end

return weka
