-- What the clients of a measured closed loop send, as its row describes them.
--
--     client     "requests=10 a client; warmup=2 a client; lengths=[0.8 L, L]; chat_template=no; rate=inf"
--                L is the nominal length; a range is drawn from uniformly, in whole numbers
--     columns    requests (of all clients), range_ratio, isl_command and osl_command (lengths from ratio x L to L),
--                request_rate, lengths_file: a CSV of input and output tokens, request by request, and
--                client_command: whether its back end sends chats
--
-- A rate without a limit below the number of requests is an open loop: requests come at equal gaps.
--
-- A warm-up is not simulated: it leaves an engine without prefix caching as it was.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"

local client = {}

--- Requests of each client where a row describes none.
client.default_requests = 10

--- What a description may state. A warm-up and front ends are not simulated.
local stated = { requests = true, warmup = true, lengths = true, chat_template = true, rate = true, frontend = true }

--- The parts of a description: {requests = "10 a client", ...}.
local function parts_of(text, where)
  local out = {}
  for part in text:gmatch "[^;]+" do
    local name, value = part:match "^%s*([%w_]+)=%s*(.-)%s*$"
    if not name then core.fail("%s: client: expected name=value, found '%s'", where, part) end
    if not stated[name] then
      core.fail("%s: client: %s", where, core.unknown_name("name", name, core.sorted_keys(stated)))
    end
    out[name] = value
  end
  return out
end

--- Requests of each client: "10 a client"; of "50 or 10, by the runner a client" the fewest, 10.
local function requests_of(text, where)
  if not text then return nil end
  local first, behind = text:match "^(%d+)(.-)%s*a client$"
  local out = tonumber(first)
  for other in (behind or ""):gmatch "or (%d+)" do out = math.min(out, tonumber(other)) end
  if not out or out < 1 then core.fail("%s: client: requests: expected 10 a client, found '%s'", where, text) end
  return out
end

--- Requests per second at which clients begin; nil where all begin at once.
local function rate_of(text, name, where)
  if text == nil or text == "" or text == "inf" then return nil end
  local rate = tonumber(text)
  if not rate or rate <= 0 then core.fail("%s: %s: expected a number above 0 or inf, found '%s'", where, name, text) end
  return rate < math.huge and rate or nil
end

--- The number of a column; nil where it is empty.
local function number_of(question, name)
  if question[name] == "" then return nil end
  local value = tonumber(question[name])
  if not value or value < 0 then
    core.fail("%s: %s: expected a number, found '%s'", question.where, name, question[name])
  end
  return value
end

--- Lengths of prompts or answers of a description.
--- @param scale number tokens of the server for one of the client
local function described_lengths(text, tokens, where, scale)
  if text == nil or text == "" or text == "L" then return math.floor(tokens * scale + 0.5) end
  local low, high = text:match "^%[%s*([%d.]*)%s*L%s*,%s*([%d.]*)%s*L%s*%]$"
  low, high = low == "" and 1 or tonumber(low), high == "" and 1 or tonumber(high)
  if not low or not high or low > high then
    core.fail("%s: client: lengths: expected L or [0.8 L, L], found '%s'", where, text)
  end
  local least_tokens = math.max(1, math.floor(low * tokens))
  local most_tokens = math.max(least_tokens, math.floor(high * tokens))
  return { distribution = "uniform", min = math.floor(least_tokens * scale + 0.5),
    max = math.floor(most_tokens * scale + 0.5) }
end

--- Lengths of the ShareGPT conversations, of which a row has the mean. Assumed: lognormal, with a standard deviation of
--- the mean; the conversations themselves are not read.
local function conversation_lengths(mean)
  return { distribution = "lognormal", mean = mean, sigma = math.sqrt(math.log(2)), min = 4, max = 8192 }
end

--- Lengths of a command: whole numbers from ratio x L to L; of a row without it its mean.
local function command_lengths(question, column, mean)
  if question.dataset == "sharegpt" then return conversation_lengths(mean) end
  local longest, ratio = number_of(question, column), number_of(question, "range_ratio")
  if not longest or not ratio or ratio >= 1 then return mean end
  return { distribution = "uniform", min = math.max(1, math.floor(ratio * longest)), max = longest }
end

--- Lengths of a file, in the order of sending: {input = {...}, output = {...}}; nil where the row names none.
local function listed(question, folder)
  if question.lengths_file == "" then return nil end
  local list = native.csv_read(folder .. question.lengths_file, true)
  local out = { input = {}, output = {} }
  for i, row in ipairs(list) do
    out.input[i] = row.prompt_tokens
    out.output[i] = row.output_tokens
    if type(out.input[i]) ~= "number" or type(out.output[i]) ~= "number" then
      core.fail("%s%s: expected columns prompt_tokens and output_tokens", folder, question.lengths_file)
    end
  end
  return out
end

--- Whether a benchmark's command names a back end that sends chats: vLLM's "openai-chat", SGLang's "sglang-oai-chat".
local function sends_chats(command)
  for word in command:gmatch "%-%-backend[ =](%S+)" do
    if word:find "^openai%-chat" or word:find "oai%-chat$" then return true end
  end
  return command:find "%-%-endpoint%-type[ =]openai%-chat" ~= nil
end

local function from_columns(question, folder)
  return { requests = number_of(question, "requests"), lengths = listed(question, folder),
    prompt = command_lengths(question, "isl_command", question.isl),
    output = command_lengths(question, "osl_command", question.osl),
    rate = rate_of(question.request_rate, "request_rate", question.where),
    chats = sends_chats(question.client_command) }
end

local function from_text(question, scale)
  local parts = parts_of(question.client, question.where)
  local each, template = requests_of(parts.requests, question.where), parts.chat_template or "no"
  if template ~= "yes" and template ~= "no" then
    core.fail("%s: client: chat_template: expected yes or no, found '%s'", question.where, template)
  end
  return { requests = each and each * question.clients,
    prompt = described_lengths(parts.lengths, question.isl, question.where, scale),
    output = described_lengths(parts.lengths, question.osl, question.where, 1),
    rate = rate_of(parts.rate, "client: rate", question.where), is_text = true,
    template = template == "yes" }
end

--- What a row says of its client: {requests, prompt, output, rate, is_text, chats}.
--- @param folder string that of the file, with a slash after it
--- @param scale number? tokens of the server for one that a client counts in random text
function client.of(question, folder, scale)
  local out = question.client ~= "" and from_text(question, scale or 1) or from_columns(question, folder)
  out.notes = {}
  if question.client ~= "" and (scale or 1) ~= 1 then
    out.notes[1] = ("prompts have %.2f times the tokens that the client counts, whose tokenizer was broken"):format(
      scale)
  end
  if not out.requests then
    out.requests = client.default_requests * question.clients
    out.notes[#out.notes + 1] = ("the client is not described: %d requests of each, exact lengths"):format(
      client.default_requests)
  end
  if type(out.output) == "table" and out.output.mean then
    out.notes[#out.notes + 1] = "lengths of ShareGPT are drawn about the means of the row"
  end
  if out.rate and question.clients < out.requests then
    out.notes[#out.notes + 1] = ("%d clients begin at %g requests/s; then each sends when it is answered"):format(
      question.clients, out.rate)
  end
  if out.template then out.notes[#out.notes + 1] = "the tokens of the chat template are not counted" end
  return out
end

--- The mean length of an answer: {distribution} or a number.
function client.mean_tokens(lengths)
  return type(lengths) == "table" and (lengths.mean or (lengths.min + lengths.max) / 2) or lengths
end

--- The mean length of the answers of a question.
function client.mean_output(of)
  if not of.lengths then return client.mean_tokens(of.output) end
  local sum = 0
  for _, tokens in ipairs(of.lengths.output) do sum = sum + tokens end
  return sum / #of.lengths.output
end

local function made(name, parameters)
  return policy.with(policies.of(Reader.new "validate", "workload", name), core.copy(parameters,
    { max_output_tokens = "exact" }))
end

--- The workload of a question: every client has one request at a time, or requests come at a rate.
--- @param of table of client.of
--- @param given number of --set requests_per_client; 0: as many as the row says
function client.workload(question, of, given)
  local requests = given > 0 and given * question.clients or of.requests
  local prompt, output = of.prompt, of.output
  if of.lengths then
    prompt, output = { distribution = "listed", values = of.lengths.input },
      { distribution = "listed", values = of.lengths.output }
  end
  if of.rate and question.clients >= of.requests then
    return made("constant", { rate_per_s = of.rate, num_requests = requests, prompt_tokens = prompt,
      output_tokens = output })
  end
  return made("closed_loop", { clients = question.clients, num_requests = requests, prompt_tokens = prompt,
    output_tokens = output, start_rate_per_s = of.rate or 0 })
end

return client
