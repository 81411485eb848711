-- Requests at a constant rate, of which so many are under way at most: the others wait in the client, and no latency
-- includes that wait. Prompts share system prompts and are asked in turn. A lead-in asks every prompt once before the
-- measured requests, as the stages before it did.
local policy = require "rooflua.policy"

local Capped = policy.define {
  name = "capped_rate",
  doc = "A constant rate with a limit of requests under way, over a set of prompts asked in turn.",
  params = {
    rate_per_s = { default = 1, unit = "requests/s", min = 0, exclusive_min = true, doc = "Rate of arrivals." },
    num_requests = { default = 1, unit = "requests", min = 1, integer = true, doc = "Without the lead-in." },
    in_flight = { default = 0, unit = "requests", min = 0, integer = true, doc = "Most under way; 0 = no limit." },
    prompt_tokens = { default = 1, unit = "tokens", min = 1, integer = true, doc = "System prompt and question." },
    output_tokens = { default = 1, unit = "tokens", min = 1, integer = true, doc = "Length of every answer." },
    shared_tokens = { default = 0, unit = "tokens", min = 0, integer = true, doc = "Tokens of a system prompt." },
    systems = { default = 1, unit = "prompts", min = 1, integer = true, doc = "Distinct system prompts." },
    questions = { default = 1, unit = "prompts", min = 1, integer = true, doc = "Distinct questions." },
    lead_in = { default = 0, unit = "requests", min = 0, integer = true, doc = "Requests before the measured ones." },
    lead_in_s = { default = 10, unit = "s", min = 0, doc = "Time of the lead-in." },
  },
}

--- When request i leaves at the earliest: the lead-in evenly, then the rate.
local function time_of(state, i)
  local own = state.policy
  if i <= own.lead_in then return own.lead_in_s * (i - 1) / own.lead_in end
  return (own.lead_in > 0 and own.lead_in_s or 0) + (i - own.lead_in) / own.rate_per_s
end

local function send(state, not_before_s)
  local own = state.policy
  if state.sent >= own.lead_in + own.num_requests then return nil end
  state.sent = state.sent + 1
  local question = (state.sent - 1) % own.questions
  local fields = { max_output_tokens = own.output_tokens }
  if own.shared_tokens > 0 then
    fields.content = { { 1 + question % own.systems, own.shared_tokens },
      { 1 + own.systems + question, own.prompt_tokens - own.shared_tokens } }
  end
  return math.max(time_of(state, state.sent), not_before_s), own.prompt_tokens, own.output_tokens, fields
end

local function next_request(state)
  if state.policy.in_flight > 0 and state.started >= state.policy.in_flight then return nil end
  state.started = state.started + 1
  return send(state, 0)
end

local function answered(state, now_s) return send(state, now_s) end

function Capped:requests()
  return { next = next_request, done = self.in_flight > 0 and answered or nil, policy = self, sent = 0, started = 0,
    shares_content = self.shared_tokens > 0 }
end

return Capped
