--- Conversations: each turn repeats the whole history and adds to it, after a pause of the user.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.MultiTurn: rooflua.Workload
---@field sessions integer
local MultiTurn = policy.define {
  name = "multi_turn",
  doc = "Sessions that arrive as Poisson; every turn's prompt is the history so far plus new tokens.",
  source = "vLLM multi-turn benchmark",
  params = {
    sessions = { default = 100, unit = "sessions", min = 1, integer = true,
      doc = "Number of conversations." },
    session_rate_per_s = { default = 1.0, unit = "sessions/s", min = 0, exclusive_min = true,
      doc = "Mean rate at which sessions begin." },
    turns = { default = 5, type = "any", unit = "turns",
      doc = "Turns of a session: a number or { distribution = ... }." },
    think_time_s = { default = 5.0, unit = "s", min = 0,
      doc = "Mean pause between an answer and the next turn, exponential." },
    system_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "System prompt that all sessions share." },
    tenants = { default = 1, type = "any", unit = "tenants",
      doc = "Whose the sessions are: a number of equal tenants, or their names with their shares of the sessions. "
        .. "Several tenants are classes." },
    shared_system = { default = true, doc = "All tenants have the same system prompt; false: each its own." },
    prompt_tokens = { default = 256, type = "any", unit = "tokens",
      doc = "New prompt tokens of a turn." },
    output_tokens = { default = 256, type = "any", unit = "tokens",
      doc = "Answer length of a turn." },
    max_output_tokens = arrivals.limit_parameter(),
    max_context_tokens = { default = 32768, unit = "tokens", min = 1, integer = true,
      doc = "A session ends before a turn whose history, prompt and answer would exceed this." },
  },
}

--- Content ids: 1 is the system prompt, or that of the first tenant, and so on. Each session has a range of ids for its
--- prompts and answers.
local IDS_PER_SESSION = 65536
local MOST_TURNS = IDS_PER_SESSION / 2 - 1

--- Names of the tenants, in order, and the sum of the shares up to each of them; nil: there is one.
local function tenants_of(workload)
  local given, names, sums, sum = workload.tenants, {}, {}, 0
  local function fail(expected) error("workload.tenants: expected " .. expected, 0) end
  if type(given) == "number" then
    if not (given >= 1 and given < IDS_PER_SESSION and given % 1 == 0) then fail "a whole number from 1 to 65535" end
    for i = 1, given do names[i], sums[i] = "tenant " .. i, i / given end
  elseif type(given) == "table" then
    for name in pairs(given) do
      if type(name) ~= "string" then fail "names with shares, such as { acme = 3, beta = 1 }" end
      names[#names + 1] = name
    end
    table.sort(names)
    for i, name in ipairs(names) do
      local share = given[name]
      if type(share) ~= "number" or not (share > 0 and share < 1e9) then fail("a share > 0 of '" .. name .. "'") end
      sum = sum + share
      sums[i] = sum
    end
    if #names == 0 then fail "at least one name" end
    for i in ipairs(sums) do sums[i] = sums[i] / sum end
  else
    fail "a number of tenants, or their names with their shares"
  end
  local own = not workload.shared_system
  if own and (#names == 1 or workload.system_tokens == 0) then
    error("workload.shared_system: false changes nothing with one tenant, or without system_tokens", 0)
  end
  if type(given) == "number" and given == 1 then return nil end
  return names, sums
end

--- Ends a session and counts the turns that will not be sent.
local function give_up(state, session, why)
  local reasons = state.left_out.reasons
  reasons[why] = reasons[why] + session.turns - session.turn
  state.open[session.index] = nil
end

local function turn(state, session, at_s)
  local prompt = state.prompt(state.prompts)
  local output, fields = arrivals.declare(state.limit, state.output(state.outputs), {})
  local history = session.tokens
  if history + prompt + output > state.max_context_tokens and session.turn > 0 then
    give_up(state, session, "past max_context_tokens")
    return nil
  end
  session.turn = session.turn + 1
  local base = (session.index + 1) * IDS_PER_SESSION + session.turn * 2
  local content = {}
  for i = 1, #session.content do content[i] = session.content[i] end
  content[#content + 1] = { base, prompt }
  fields.session, fields.content, fields.output_content = session.index, content, base + 1
  if session.tenant > 0 then fields.class = session.tenant end
  session.content = {}
  for i = 1, #content do session.content[i] = content[i] end
  session.content[#content + 1] = { base + 1, output }
  session.tokens = history + prompt + output
  return arrivals.in_time(at_s, session.turn, session.turns, session.turn > 1 and "workload.think_time_s"
    or "workload.session_rate_per_s"), history + prompt, output, fields
end

local function next_request(state)
  if state.begun >= state.sessions then return nil end
  state.clock_s = state.clock_s + state.starts:exponential(state.rate)
  local session = { index = state.begun, turn = 0, tokens = state.system_tokens, content = {}, tenant = 0 }
  if state.shares then
    local drawn = state.draws:uniform()
    while session.tenant < #state.shares - 1 and drawn >= state.shares[session.tenant + 1] do
      session.tenant = session.tenant + 1
    end
  end
  session.turns = state.turns(state.turn_counts)
  if session.turns > MOST_TURNS then
    error(("workload.turns: expected at most %d, drew %.0f"):format(MOST_TURNS, session.turns), 0)
  end
  state.left_out.total = state.left_out.total + session.turns
  if state.system_tokens > 0 then
    session.content[1] = { 1 + (state.shared_system and 0 or session.tenant), state.system_tokens }
  end
  state.open[state.begun] = session
  state.begun = state.begun + 1
  return turn(state, session, state.clock_s)
end

local function answered(state, now_s, index, _, completed)
  local session = state.open[index]
  if session.turn >= session.turns then
    state.open[index] = nil
    return nil
  end
  if not completed then
    give_up(state, session, "after a turn that failed")
    return nil
  end
  local pause = 0
  if state.think_time_s > 0 then pause = state.thinking:exponential(1 / state.think_time_s) end
  return turn(state, session, now_s + pause)
end

---@param rng rooflua.Random
function MultiTurn:requests(rng)
  local names, shares = tenants_of(self)
  return {
    next = next_request,
    done = answered,
    starts = rng:stream("arrivals"),
    turn_counts = rng:stream("turns"),
    prompts = rng:stream("prompt_tokens"),
    outputs = rng:stream("output_tokens"),
    thinking = rng:stream("think_time"),
    turns = lengths.sampler(self.turns, "workload.turns"),
    prompt = lengths.sampler(self.prompt_tokens, "workload.prompt_tokens"),
    output = lengths.sampler(self.output_tokens, "workload.output_tokens"),
    limit = arrivals.limit(self),
    rate = self.session_rate_per_s,
    think_time_s = self.think_time_s,
    system_tokens = self.system_tokens,
    max_context_tokens = self.max_context_tokens,
    sessions = self.sessions,
    shared_system = self.shared_system,
    classes = names,
    shares = shares,
    draws = names and rng:stream("tenants"),
    shares_content = true,
    left_out = { source = "multi_turn", unit = "turns", total = 0,
      reasons = { ["past max_context_tokens"] = 0, ["after a turn that failed"] = 0 } },
    open = {},
    begun = 0,
    clock_s = 0,
  }
end

return MultiTurn
