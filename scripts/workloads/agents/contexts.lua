-- Plays of a coding agent, drawn from distributions: turns whose prompts repeat the context, agents that turns start.
--
-- A context is one content that grows: the system prompt in front of it, then what users, tools and answers add. An
-- answer that the next prompt repeats word for word is a content of its own, because the engine has its KV. Where
-- tokens of reasoning are dropped, the next prompt repeats the visible answer only, at another place: it is computed
-- again.
local arrivals = require "rooflua.arrivals"

local contexts = {}

--- Content ids of a play: 2^32 per play, so that no two plays share one.
local ids_per_play = 4294967296
--- The system prompts that all plays share: of the main agent, of agents that turns start.
contexts.main_system, contexts.sub_system = 1, 2

--- A new content id of a play.
local function new_id(play)
  play.ids = play.ids + 1
  return play.number * ids_per_play + play.ids
end

--- The main agent of a play and each agent that it starts is a session of its own.
local function new_session(own)
  own.sessions = own.sessions + 1
  return own.sessions
end

--- A context that has only its system prompt.
local function new_context(play, system, system_tokens, session)
  local context = { system = system, system_tokens = system_tokens, parts = {}, tokens = system_tokens,
    session = session }
  if system_tokens > 0 then context.parts[1] = { system, system_tokens } end
  return context
end

--- Adds tokens to a context: to its last part where that can grow, else as a new content.
local function add(play, context, tokens, id)
  if tokens <= 0 then return end
  local last = context.parts[#context.parts]
  if not id and last and context.growing then
    context.parts[#context.parts] = { last[1], last[2] + tokens }
  else
    context.parts[#context.parts + 1] = { id or new_id(play), tokens }
  end
  context.growing = id == nil
  context.tokens = context.tokens + tokens
end

--- The context of a main agent begins again, as harnesses do that summarise a long one.
local function compact(play, context, summary_tokens)
  context.parts = context.system_tokens > 0 and { { context.system, context.system_tokens } } or {}
  context.tokens, context.growing = context.system_tokens, false
  add(play, context, summary_tokens)
end

--- A row that asks with the whole context; what of the answer the next prompt repeats is added to it.
local function ask(own, play, context, parents)
  local output, declared = arrivals.limited(own.limit, own.output(own.outputs))
  local content = {}
  for i = 1, #context.parts do content[i] = context.parts[i] end
  local row = { prompt_tokens = context.tokens, output_tokens = output, content = content, parents = parents,
    session = context.session, class = context.class, max_output_tokens = declared }
  play.rows[#play.rows + 1] = row
  local reasoning = math.floor(output * own.reasoning_share + 0.5)
  if reasoning > 0 and not own.keep_reasoning then
    add(play, context, output - reasoning)
  else
    row.output_content = new_id(play)
    add(play, context, output, row.output_content)
  end
  return #play.rows
end

--- The harness changes something in the front part of a context, as it does when it drops the results of old tools:
--- all after that place is computed again.
local function may_edit(own, play, context)
  if own.edit_probability == 0 or own.edits:uniform() >= own.edit_probability then return end
  local kept = math.floor(context.tokens * own.edit_within * own.edits:uniform())
  local parts, taken = {}, 0
  for _, each in ipairs(context.parts) do
    local part = math.min(each[2], kept - taken)
    if part > 0 then parts[#parts + 1] = { each[1], part } end
    taken = taken + math.max(0, part)
  end
  local rest = context.tokens - taken
  context.parts, context.tokens, context.growing = parts, taken, false
  add(play, context, rest)
end

local function fits(own, context, tokens) return context.tokens + tokens <= own.max_context_tokens end

--- The requests of an agent that a turn starts. Returns the row that ends it.
local function sub_agent(own, play, from, event)
  local context = new_context(play, contexts.sub_system, own.sub_system_tokens, new_session(own))
  context.class = own.sub_class
  add(play, context, own.task(own.sub_growths))
  local last
  for _ = 1, own.sub_turn(own.sub_turns) do
    local parents = { last and { row = last, event = "ended", delay_s = own.tool_s(own.sub_tools) }
      or { row = from, event = event, delay_s = 0 } }
    if not fits(own, context, 1) then break end
    may_edit(own, play, context)
    last = ask(own, play, context, parents)
    add(play, context, own.growth(own.sub_growths))
  end
  return last
end

--- Agents that a turn starts; the next turn waits for them.
local function start_agents(own, play, turn, parents)
  if own.sub_agent_probability == 0 or own.subs:uniform() >= own.sub_agent_probability then return end
  for _ = 1, own.fan_out(own.subs) do
    local last = sub_agent(own, play, turn, own.sub_agent_event)
    if last then parents[#parents + 1] = { row = last, event = "ended", delay_s = 0 } end
  end
end

--- A turn that the user stops: the client goes away some time after the first token.
local function may_cancel(own, row, number)
  if own.cancel_probability == 0 or own.cancels:uniform() >= own.cancel_probability then return end
  row.cancel = { row = number, event = "first_token", delay_s = own.cancels:exponential(1 / own.cancel_after_s) }
end

--- A request that has nothing of the context, such as one for a title.
local function side_request(own, play, after)
  local context = new_context(play, contexts.sub_system, 0, new_session(own))
  context.class = own.sub_class
  add(play, context, own.growth(own.sides))
  ask(own, play, context, { { row = after, event = "ended", delay_s = 0 } })
end

--- The next play.
--- @param own table what is drawn, from which stream (workloads/agent.lua)
--- @param number integer from 1
function contexts.play(own, number)
  local play = { number = number, ids = 0, rows = {}, name = ("agent-%d"):format(number) }
  local context = new_context(play, own.shared_system and contexts.main_system or new_id(play), own.system_tokens,
    new_session(own))
  add(play, context, own.first(own.firsts))
  local parents
  for turn = 1, own.turn(own.turns) do
    if turn > 1 then may_edit(own, play, context) end
    local row = ask(own, play, context, parents)
    may_cancel(own, play.rows[row], row)
    parents = { { row = row, event = "ended", delay_s = own.tool_s(own.tools) } }
    start_agents(own, play, row, parents)
    if own.side_probability > 0 and own.sides:uniform() < own.side_probability then side_request(own, play, row) end
    add(play, context, own.growth(own.growths))
    if not fits(own, context, own.room) then compact(play, context, own.summary_tokens) end
  end
  return play
end

return contexts
