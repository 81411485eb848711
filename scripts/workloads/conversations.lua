--- A fixed set of conversations that a fixed number of clients play: each client has one at a time, turn after turn.
---
--- A prompt is a system prompt that all share, a document of the conversation, and its turns so far. A client that is
--- done with a conversation takes the next one; after the last one the first again, whose content is the same.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.Conversations: rooflua.Workload
---@field conversations integer
---@field clients integer
---@field num_requests integer
local Conversations = policy.define {
  name = "conversations",
  doc = "Clients that play conversations of a fixed set, turn after turn, each with one request at a time.",
  source = "kubernetes-sigs/inference-perf: multi-turn conversations under a fixed concurrency",
  params = {
    conversations = { default = 100, unit = "sessions", min = 1, integer = true, doc = "Different conversations." },
    clients = { default = 16, unit = "clients", min = 1, integer = true,
      doc = "Conversations that are played at once." },
    num_requests = { default = 600, unit = "requests", min = 1, integer = true,
      doc = "Requests of all clients together." },
    turns = { default = 6, type = "any", unit = "turns",
      doc = "Turns of a conversation: a number or { distribution = ... }." },
    shared_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "System prompt of all conversations." },
    private_tokens = { default = 0, type = "any", unit = "tokens",
      doc = "Document in front of a conversation: a number or { distribution = ... }; 0 = none." },
    prompt_tokens = { default = 256, type = "any", unit = "tokens", doc = "New prompt tokens of a turn." },
    output_tokens = { default = 256, type = "any", unit = "tokens", doc = "Answer length of a turn." },
    pause_s = { default = 0, type = "any", unit = "s",
      doc = "Pause between an answer and the next turn: a number or { distribution = ... }, in whole seconds." },
    max_output_tokens = arrivals.limit_parameter "exact",
    max_context_tokens = { default = 1048576, unit = "tokens", min = 1, integer = true,
      doc = "A conversation ends before a turn whose history, prompt and answer would exceed this." },
  },
}

--- Content: 1 is what all share; each conversation has a range of ids for its document, prompts and answers.
local IDS_PER_CONVERSATION = 65536
local MOST_TURNS = IDS_PER_CONVERSATION / 2 - 2

--- The lengths of a conversation, drawn when it is first played and kept.
local function conversation(state, number)
  local own = state.known[number]
  if own then return own end
  local turns = state.turns(state.turn_counts, number)
  if turns > MOST_TURNS then error(("workload.turns: expected at most %d, drew %.0f"):format(MOST_TURNS, turns), 0) end
  own = { turns = turns, document = state.document and state.document(state.documents, number) or 0, prompts = {},
    outputs = {} }
  state.known[number] = own
  return own
end

--- Prompt and answer of a turn.
local function turn_of(state, own, turn)
  if not own.prompts[turn] then
    own.prompts[turn] = state.prompt(state.prompts, turn)
    own.outputs[turn] = state.output(state.outputs, turn)
  end
  return own.prompts[turn], own.outputs[turn]
end

--- The segments in front of a turn, and their tokens.
local function history(state, number, own, turn)
  local base, content, tokens = number * IDS_PER_CONVERSATION, {}, 0
  local function add(id, count)
    if count == 0 then return end
    content[#content + 1], tokens = { id, count }, tokens + count
  end
  add(1, state.shared_tokens)
  add(base, own.document)
  for i = 1, turn - 1 do
    add(base + 2 * i, own.prompts[i])
    add(base + 2 * i + 1, own.outputs[i])
  end
  return content, tokens
end

--- A client takes the next conversation.
local function take(state, client)
  client.number = state.next_conversation
  client.turn = 0
  state.next_conversation = state.next_conversation % state.conversations + 1
end

--- The next turn of a client, of the next conversation where this one is over; nil where all requests were sent.
local function advance(state, client, at_s)
  if state.sent >= state.count then return nil end
  local own = conversation(state, client.number)
  local turn, base = client.turn + 1, client.number * IDS_PER_CONVERSATION
  local prompt, output, content, tokens
  if turn <= own.turns then
    prompt, output = turn_of(state, own, turn)
    content, tokens = history(state, client.number, own, turn)
  end
  local is_over = not prompt or turn > 1 and tokens + prompt + output > state.max_context_tokens
  if is_over then
    take(state, client)
    return advance(state, client, at_s)
  end
  client.turn, state.sent = turn, state.sent + 1
  content[#content + 1] = { base + 2 * turn, prompt }
  local fields = { session = client.index, content = content, output_content = base + 2 * turn + 1 }
  return arrivals.in_time(at_s, state.sent, state.count, "workload.pause_s"), tokens + prompt,
    arrivals.declare(state.limit, output, fields)
end

local function next_request(state)
  if state.started >= state.clients then return nil end
  local client = { index = state.started }
  state.started = state.started + 1
  state.open[client.index] = client
  take(state, client)
  return advance(state, client, 0)
end

local function answered(state, now_s, index)
  local client = state.open[index]
  local is_last = client.turn >= conversation(state, client.number).turns
  local pause = not is_last and state.pause and state.pause(state.pauses, 1) or 0
  return advance(state, client, now_s + pause)
end

--- A sampler, nil where the length is 0.
local function sampler(given, where) return given ~= 0 and lengths.sampler(given, where) or nil end

---@param rng rooflua.Random
function Conversations:requests(rng)
  return {
    next = next_request,
    done = answered,
    turn_counts = rng:stream "turns",
    documents = rng:stream "private_tokens",
    prompts = rng:stream "prompt_tokens",
    outputs = rng:stream "output_tokens",
    pauses = rng:stream "pauses",
    turns = lengths.sampler(self.turns, "workload.turns"),
    document = sampler(self.private_tokens, "workload.private_tokens"),
    prompt = lengths.sampler(self.prompt_tokens, "workload.prompt_tokens"),
    output = lengths.sampler(self.output_tokens, "workload.output_tokens"),
    pause = sampler(self.pause_s, "workload.pause_s"),
    limit = arrivals.limit(self),
    shared_tokens = self.shared_tokens,
    max_context_tokens = self.max_context_tokens,
    conversations = self.conversations,
    clients = self.clients,
    count = self.num_requests,
    next_conversation = 1,
    shares_content = true,
    known = {},
    open = {},
    started = 0,
    sent = 0,
  }
end

return Conversations
