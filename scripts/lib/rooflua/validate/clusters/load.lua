-- What the clients of a row send: its profile, and what its columns say besides.
--
-- A description is {form (conversations, nil: stages), prompts, arrivals, gap_s, in_flight, timeout_s, stages (of the
-- profile), own (the stage of the row), notes}. Rows that differ only in their stage are one run.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local tiers = require "rooflua.validate.clusters.tiers"

local load = {}

--- Seconds of a stage, requests of a single client, and how often clients send every prompt, where they are not stated.
--- Tokens of an answer: the default of vLLM's serving benchmark.
load.default = { stage_s = 60, singles = 5, passes = 4, output_tokens = 128 }

local function cannot(row, message, ...) core.fail("%s: " .. message, row.where, ...) end

--- The first of several values that is stated; an error that says what is missing.
local function need(row, what, ...)
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    if value ~= nil then return value end
  end
  return cannot(row, "%s is not stated", what)
end

--- A length of a profile as workloads have it: a number, or its distribution.
function load.length(given)
  if type(given) ~= "table" then return given end
  local kind, mean, std = given.distribution, given.mean, given.std or 0
  if kind == "lognormal" then
    local variance = math.log(1 + (std / mean) * (std / mean))
    return { distribution = "lognormal", mean = mean, sigma = math.sqrt(variance), min = given.min, max = given.max }
  elseif kind == "normal" then
    return { distribution = "normal", mean = mean, deviation = std, min = given.min, max = given.max }
  elseif kind == "uniform" then
    return { distribution = "uniform", min = given.min, max = given.max }
  end
  return core.fail("distribution: %s", core.unknown_name("distribution", tostring(kind),
    { "lognormal", "normal", "uniform" }))
end

-- Prompts ------------------------------------------------------------------------------------------------------------

--- Prompts as a client built them: what its tokenizer made of them, where the row says that.
local function measured_question(row, shared, question)
  local mean = row.measured.prompt_tokens_mean
  if not mean or type(question) ~= "number" then return question end
  return math.max(1, math.floor(mean - shared + 0.5))
end

--- The length of answers; a default that is said where nothing states it.
local function answers_of(row, profile, notes)
  local stated = row.output_tokens or load.length(profile.output_tokens)
  if stated then return stated end
  notes[#notes + 1] = ("the length of answers is not stated: %d tokens"):format(load.default.output_tokens)
  return load.default.output_tokens
end

local function shared_prompts(row, profile, notes)
  local shared = need(row, "shared_prefix_tokens", row.shared_prefix_tokens, profile.shared_prefix_tokens)
  local question = need(row, "question_tokens", row.question_tokens, load.length(profile.question_tokens))
  return { groups = need(row, "groups", row.groups, profile.groups),
    prompts_per_group = need(row, "prompts_per_group", row.prompts_per_group, profile.prompts_per_group),
    shared_prefix_tokens = shared, question_tokens = measured_question(row, shared, question),
    output_tokens = answers_of(row, profile, notes) }
end

local function private_prompts(row, profile, output, notes)
  local prompt = need(row, "prompt_tokens", row.prompt_tokens, load.length(profile.prompt_tokens))
  return { groups = 0, prompts_per_group = 1, shared_prefix_tokens = 0,
    question_tokens = measured_question(row, 0, prompt),
    output_tokens = output or answers_of(row, profile, notes) }
end

--- The number of conversations: "equal to the concurrency" where each client has its own.
local function conversations_in(row, profile, clients)
  local given = profile.conversations
  if type(given) == "string" and given:find "concurrency" then return clients end
  return need(row, "the number of conversations", given)
end

--- Documents that leave room for a turn.
local function document(profile, most)
  local out = load.length(profile.private_system_tokens) or 0
  local function longest(given) return type(given) == "table" and given.max or given or 0 end
  local turn = longest(profile.input_tokens_per_turn) + longest(profile.output_tokens_per_turn)
  if type(out) ~= "table" or most == math.huge then return out end
  return core.copy(out, { max = math.min(out.max or math.huge, most - (profile.shared_system_tokens or 0) - turn) })
end

--- Conversations as workloads.conversations has them.
local function conversation_prompts(row, profile, clients, notes)
  local most = row.max_model_len or profile.max_model_len or math.huge
  local prompt = load.length(profile.input_tokens_per_turn) or profile.prompt_tokens_mean
  local output = load.length(profile.output_tokens_per_turn) or row.output_tokens or profile.output_tokens_mean
  if profile.prompt_tokens_mean or profile.output_tokens_mean then
    notes[#notes + 1] = "only the means of lengths are stated: every prompt and answer has the mean"
  end
  return { conversations = conversations_in(row, profile, clients), turns = load.length(profile.turns) or 1,
    shared_tokens = profile.shared_system_tokens or 0, private_tokens = document(profile, most),
    prompt_tokens = need(row, "input_tokens_per_turn", prompt), output_tokens = need(row, "output_tokens", output),
    pause_s = load.length(profile.tool_delay_s) or 0, max_context_tokens = most < math.huge and most or nil }
end

-- Stages -------------------------------------------------------------------------------------------------------------

--- Seconds in "rate of the row, 60 s".
local function seconds_in(text) return type(text) == "string" and tonumber(text:match "([%d.]+) s%f[%A]") or nil end

--- "6 x concurrency" and the like as a number.
local function requests_in(given, clients)
  if type(given) == "number" then return given end
  local factor = type(given) == "string" and tonumber(given:match "^%s*([%d.]+) x concurrency")
  return factor and factor * clients or nil
end

--- The stages that a profile lists; nil where it lists none.
local function listed(profile)
  local stages = profile.load and profile.load.stages
  if type(stages) ~= "table" then return nil end
  local out = {}
  for i, stage in ipairs(stages) do
    out[i] = { rate_per_s = stage.rate_rps, duration_s = stage.duration_s, clients = stage.concurrency,
      requests = stage.requests, is_warmup = stage.warmup == true }
  end
  return out
end

--- A stage of clients that each have one request at a time.
local function closed(row, profile, prompts, notes)
  local given = profile.load or {}
  local clients = need(row, "concurrency", row.concurrency, tonumber(given.concurrency))
  local requests = row.requests or requests_in(given.requests, clients)
  if not requests then
    requests = math.max(load.default.passes * prompts.groups * prompts.prompts_per_group, 10 * clients)
    notes[#notes + 1] = ("the number of requests is not stated: each prompt %d times, or 10 of each client"):format(
      load.default.passes)
  end
  return { clients = clients, requests = requests }
end

--- A stage at the rate of the row.
local function open(row, profile, notes)
  local rate = need(row, "rate_rps", row.rate_rps)
  local duration = row.stage_duration_s or seconds_in(profile.load and profile.load.stages)
    or row.requests and row.requests / rate
  if not duration then
    duration = load.default.stage_s
    notes[#notes + 1] = ("the length of a stage is not stated: %g s"):format(duration)
  end
  return { rate_per_s = rate, duration_s = duration, requests = row.requests }
end

local function single(row, notes)
  local requests = row.requests or load.default.singles
  if not row.requests then notes[#notes + 1] = ("the number of requests is not stated: %d"):format(requests) end
  return { clients = 1, requests = requests }
end

local function own_stage(row, profile, prompts, kind, notes)
  if kind == "single" then return single(row, notes) end
  if kind == "concurrency" then return closed(row, profile, prompts, notes) end
  if kind == "poisson" or kind == "constant" then return open(row, profile, notes) end
  local known = { "concurrency", "constant", "poisson", "single" }
  return cannot(row, "load_kind: %s", core.unknown_name("load", kind, known))
end

--- Sessions of agents on as many lanes as the row has, for its time. The recording that clients replayed is not among
--- the data: workloads.agent draws sessions like those of public recordings.
function load.sessions(row)
  local lanes = need(row, "concurrency", row.concurrency)
  local seconds = need(row, "stage_duration_s", row.stage_duration_s)
  return { form = "sessions", prompts = { lanes = lanes, most = row.max_model_len },
    own = { clients = lanes, duration_s = seconds }, arrivals = "", gap_s = 0, in_flight = 0, timeout_s = math.huge,
    notes = { "the recording is not among the data: sessions are drawn by workloads.agent, from their first turn on" } }
end

--- Recorded sessions on as many lanes as there are users. Of several files the last one counts, which the arms of a
--- pair share; the others are the requests of one run.
local function traced(row)
  local path, last
  for name in row.trace_file:gmatch "[^;%s]+" do
    last = (row.path:match "^(.*/)" or "") .. name
    if native.file_exists(last) then path = last end
  end
  if not path then cannot(row, "trace_file: there is no such file: %s", last) end
  local lanes = need(row, "users", row.users, row.concurrency)
  return { form = "sessions", is_traced = true,
    prompts = { path = path, lanes = lanes, num_requests = not row.stage_duration_s and row.requests or nil },
    own = { clients = lanes, duration_s = row.stage_duration_s }, arrivals = "", gap_s = 0, in_flight = 0,
    timeout_s = row.timeout_s or math.huge, notes = {} }
end

-- Descriptions -------------------------------------------------------------------------------------------------------

--- The number of a stage, from 0, "all", or nil where the row states none.
local function stage_of(row)
  if row.stage_index == "" or row.stage_index == "all" then return row.stage_index ~= "" and "all" or nil end
  local number = tonumber(row.stage_index)
  if not number or number < 0 or number % 1 ~= 0 then
    cannot(row, "stage_index: expected a whole number from 0 on, or all; found '%s'", row.stage_index)
  end
  return number
end

--- Conversations of a fixed number of clients.
local function conversations(row, profile, kind)
  local given, notes = profile.load or {}, {}
  if given.barrier_between_rounds then cannot(row, "needs a barrier between rounds of conversations") end
  if kind ~= "concurrency" then cannot(row, "conversations at a rate are not simulated here") end
  local own = closed(row, profile, { groups = 0, prompts_per_group = 1 }, notes)
  return { form = "conversations", prompts = conversation_prompts(row, profile, own.clients, notes), own = own,
    arrivals = "", gap_s = 0, in_flight = 0, timeout_s = row.timeout_s or given.timeout_s or math.huge, notes = notes }
end

--- Single prompts that one replica computes and another one pulls: every prompt is sent twice, and a router that sends
--- requests in turn brings it to another replica the second time, as their number leaves a rest.
local function pulled(row, about)
  local replicas, prompts = row.replicas or 2, about.prompts
  local count = math.ceil(about.own.requests / replicas) * replicas + 1
  local tokens = prompts.question_tokens
  about.prompts = { groups = count, prompts_per_group = 1, shared_prefix_tokens = tokens - 1, question_tokens = 1,
    output_tokens = prompts.output_tokens }
  about.stages = { { clients = 1, requests = count }, { clients = 1, requests = count } }
  about.stage, about.own = 1, nil
  return about
end

--- @param row table of rows.read
--- @param profile table of profiles.read
local function described(row, profile)
  if row.trace_file ~= "" then return traced(row) end
  if profile.kind == "trace" and row.kind == "agents" then return load.sessions(row) end
  local given, notes = profile.load or {}, {}
  local kind = row.load_kind ~= "" and row.load_kind or given.kind or ""
  if profile.kind == "trace" or kind == "trace" then cannot(row, "needs a trace that is not among the data") end
  if profile.kind == "conversations" then return conversations(row, profile, kind) end
  local is_shared = profile.kind == "shared_prefix" or row.groups ~= nil
  local single_answer = kind == "single" and not row.output_tokens and not profile.output_tokens and 1 or nil
  local prompts = is_shared and shared_prompts(row, profile, notes)
    or private_prompts(row, profile, single_answer, notes)
  local stages, stage = listed(profile), stage_of(row)
  local out = { prompts = prompts, arrivals = kind == "constant" and "constant" or "poisson", stage = stage,
    notes = notes, stages = stages, gap_s = given.gap_s or 0, timeout_s = row.timeout_s or given.timeout_s or math.huge,
    in_flight = kind ~= "concurrency" and kind ~= "single" and (row.concurrency or given.in_flight_cap) or 0,
    is_single = kind == "single" }
  if stages and type(stage) == "number" and not stages[stage + 1] then
    cannot(row, "stage_index: %d, and the profile has the stages 0 to %d", stage, #stages - 1)
  end
  if not stages and stage == "all" then cannot(row, "stage_index: all stages, and the profile lists none") end
  if not stages then out.own = own_stage(row, profile, prompts, kind, notes) end
  local pulls = kind == "single" and tiers.has(row) and tiers.has_peers(row)
  return pulls and pulled(row, out) or out
end

--- @param row table of rows.read
--- @param profile table? of profiles.read
--- @return table description
function load.of(row, profile)
  profile = profile or { kind = "random" }
  local out, token_s = described(row, profile), (profile.load or {}).path_prompt_token_s or 0
  out.path_prompt_token_s = token_s
  if token_s > 0 then
    table.insert(out.notes, ("a token of a prompt takes %g us on the way to an engine, as the profile states"):format(
      token_s * 1e6))
  end
  return out
end

return load
