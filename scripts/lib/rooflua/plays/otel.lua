-- Agents as OpenTelemetry sees them: spans of requests with the conventions for generative AI, as OTLP in JSON.
--
-- A span with gen_ai.usage.input_tokens and output_tokens (earlier: prompt_tokens, completion_tokens) is a request,
-- unless its operation is another one, such as invoke_agent, whose usage is a sum. A play is a conversation
-- (gen_ai.conversation.id), else a trace. Requests below the same agent or request follow each other by their recorded
-- times (rooflua.plays.recorded); what stands below a request waits for that one. Spans have no contents: a prompt is
-- taken to repeat the request before it of its agent.
-- @source open-telemetry/semantic-conventions, docs/gen-ai/gen-ai-spans.md and gen-ai-agent-spans.md; OTLP 1.0, JSON
local collection = require "rooflua.plays.collection"
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"
local otlp = require "rooflua.formats.otlp"
local recorded = require "rooflua.plays.recorded"

local otel = {}

local input_names = { "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens" }
local output_names = { "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens" }
local asking = { chat = true, text_completion = true, generate_content = true }

function otel.tells(document)
  return type(document) == "table" and type(document.resourceSpans) == "table" and "otel_spans" or nil
end

local function nanoseconds(where, span, key)
  local value = tonumber(fields.at(span, key))
  if not value or not (value >= 0) then
    core.fail("%s: %s: expected nanoseconds since 1970, found %s", where, key, core.describe(span[key]))
  end
  return value
end

--- Tokens under the first of the names that a span has; nil: none.
local function tokens_of(where, attributes, names, least)
  for _, name in ipairs(names) do
    local value = attributes[name]
    if value ~= nil then
      if type(value) ~= "number" or value % 1 ~= 0 or value < least or value > fields.most_tokens then
        core.fail("%s: %s: expected a whole number >= %d, found %s", where, name, least, core.describe(value))
      end
      return value
    end
  end
end

--- Makes a request of a span that is one.
local function make_request(own, where, span, attributes)
  local prompt = tokens_of(where, attributes, input_names, 1)
  local output = tokens_of(where, attributes, output_names, 0)
  if not prompt and not output then return end
  local operation = attributes["gen_ai.operation.name"]
  if operation ~= nil and not asking[operation] then
    if operation ~= "invoke_agent" and operation ~= "create_agent" then
      collection.say(own, ("%%d spans of operation %s are left out"):format((tostring(operation):gsub("%%", "%%%%"))))
    end
    return
  end
  if not prompt or not output then
    core.fail("%s: %s: is missing", where, prompt and output_names[1] or input_names[1])
  end
  span.request = { prompt_tokens = prompt, output_tokens = math.max(1, output) }
end

local function read_span(own, where, given)
  local id, trace = fields.at(given, "spanId"), fields.at(given, "traceId")
  if type(id) ~= "string" or id == "" then core.fail("%s: spanId: is missing", where) end
  if type(trace) ~= "string" or trace == "" then core.fail("%s: traceId: is missing", where) end
  where = ("%s: span %s"):format(where, id)
  if own.spans[id] then core.fail("%s: spanId: stands in the file twice", where) end
  local attributes, parent = otlp.attributes(where, given), fields.at(given, "parentSpanId")
  local span = { where = where, trace = trace, parent = parent ~= "" and parent or nil,
    start_ns = nanoseconds(where, given, "startTimeUnixNano"), end_ns = nanoseconds(where, given, "endTimeUnixNano"),
    is_agent = attributes["gen_ai.operation.name"] == "invoke_agent" }
  if span.end_ns < span.start_ns then core.fail("%s: endTimeUnixNano: lies before startTimeUnixNano", where) end
  local conversation = attributes["gen_ai.conversation.id"]
  if conversation ~= nil then own.conversations[trace] = tostring(conversation) end
  make_request(own, where, span, attributes)
  own.spans[id], own.order[#own.order + 1] = span, span
end

local function read(own, where, document)
  for _, resource in ipairs(fields.list(where, document, "resourceSpans")) do
    for _, scope in ipairs(fields.list(where, resource, "scopeSpans")) do
      for i, span in ipairs(fields.list(where, scope, "spans")) do
        if type(span) ~= "table" then core.fail("%s: span %d: expected an object", where, i) end
        read_span(own, where, span)
      end
    end
  end
end

--- The nearest span above this one that is a request or an agent; nil: none.
local function owner_of(own, span)
  local above, steps = own.spans[span.parent], 0
  while above and not above.request and not above.is_agent do
    above, steps = own.spans[above.parent], steps + 1
    if steps > #own.order then core.fail("%s: parentSpanId: the span is its own parent", span.where) end
  end
  return above
end

--- Whether a request within another one is the same one, as the server saw it.
local function is_same(span, owner)
  return owner and owner.request and span.start_ns >= owner.start_ns and span.end_ns <= owner.end_ns
    and span.request.prompt_tokens == owner.request.prompt_tokens
end

--- The requests that follow each other below one owner; `play` holds those below none.
local function agent_of(own, play, owner)
  local key = owner or play
  local agent = play.agent_of[key]
  if not agent then
    agent = { requests = {} }
    play.agent_of[key], play.agents[#play.agents + 1] = agent, agent
    if owner and owner.request then
      agent.parent = { requests = { owner.request } }
    elseif owner then
      agent.parent = agent_of(own, play, owner_of(own, owner))
    end
  end
  return agent
end

local function place(own, span)
  local owner = owner_of(own, span)
  if is_same(span, owner) then
    span.request = nil
    return collection.say(own, "%d spans within a request of the same length are taken for the server's view of it")
  end
  if span.parent and not own.spans[span.parent] then
    collection.say(own, "%d requests have a parent that is not in the file")
  end
  local play = collection.play(own, own.conversations[span.trace] or span.trace)
  play.agents, play.agent_of = play.agents or {}, play.agent_of or {}
  play.first_ns = play.first_ns or span.start_ns
  local request, agent = span.request, agent_of(own, play, owner)
  request.start_s, request.end_s = (span.start_ns - play.first_ns) / 1e9, (span.end_ns - play.first_ns) / 1e9
  local before = agent.requests[#agent.requests] or owner and owner.request
  local kept = collection.repeated(request.prompt_tokens, before, before and before.end_s <= request.start_s)
  request.content = collection.grown(own, request.prompt_tokens, before, kept)
  request.output_content = collection.new_content(own)
  agent.requests[#agent.requests + 1] = request
end

--- An agent without requests of its own passes on what it stands below.
local function settled(play)
  local kept = {}
  for _, agent in ipairs(play.agents) do
    while agent.parent and #agent.parent.requests == 0 do agent.parent = agent.parent.parent end
    if #agent.requests > 0 then kept[#kept + 1] = agent end
  end
  return kept
end

--- @param documents table[] {line, value}
function otel.plays(path, documents, _, _, first_content)
  local own = collection.new(first_content, collection.usual_block_tokens)
  own.spans, own.order, own.conversations = {}, {}, {}
  for _, each in ipairs(documents) do
    local where = ("%s:%d"):format(path, each.line)
    if not otel.tells(each.value) then core.fail("%s: resourceSpans: is missing", where) end
    read(own, where, each.value)
  end
  for i, span in ipairs(own.order) do span.number = i end
  table.sort(own.order, function(a, b)
    if a.start_ns ~= b.start_ns then return a.start_ns < b.start_ns end
    return a.number < b.number
  end)
  for _, span in ipairs(own.order) do
    if span.request then place(own, span) end
  end
  if #own.plays == 0 then
    core.fail("%s: no span has %s and %s", path, input_names[1], output_names[1])
  end
  local first_ns = own.plays[1].first_ns
  for _, play in ipairs(own.plays) do
    play.rows, play.start_s = recorded.rows(settled(play)), (play.first_ns - first_ns) / 1e9
    play.agents, play.agent_of, play.first_ns = nil, nil, nil
  end
  collection.say(own, "spans say nothing of contents: a prompt is taken to repeat the request before it of its agent")
  return collection.done(own)
end

return otel
