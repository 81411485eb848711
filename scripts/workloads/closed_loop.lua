--- Clients that send a request, wait for its answer, pause, and send the next.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.ClosedLoop: rooflua.Workload
---@field clients integer
---@field think_time_s number
local ClosedLoop = policy.define {
  name = "closed_loop",
  doc = "A fixed number of clients, each with one request at a time.",
  source = "vllm bench serve: --max-concurrency",
  params = {
    clients = { default = 16, unit = "clients", min = 1, integer = true,
      doc = "Number of clients; all send their first request at time 0." },
    think_time_s = { default = 0.0, unit = "s", min = 0,
      doc = "Mean pause between an answer and the next request, exponential; 0 = none." },
    num_requests = { default = 1000, unit = "requests", min = 1, integer = true,
      doc = "Requests of all clients together." },
    prompt_tokens = { default = 512, type = "any", unit = "tokens",
      doc = "Prompt length: a number or { distribution = ... }." },
    output_tokens = { default = 128, type = "any", unit = "tokens",
      doc = "Answer length: a number or { distribution = ... }." },
    max_output_tokens = arrivals.limit_parameter(),
  },
}

local function one_more(state, at_s)
  if state.sent >= state.count then return nil end
  state.sent = state.sent + 1
  local prompt = state.prompt(state.prompts)
  return arrivals.in_time(at_s, state.sent, state.count, "workload.think_time_s"), prompt,
    arrivals.declare(state.limit, state.output(state.outputs))
end

local function next_request(state)
  if state.started >= state.clients then return nil end
  state.started = state.started + 1
  return one_more(state, 0)
end

local function answered(state, now_s)
  local pause = 0
  if state.think_time_s > 0 then pause = state.thinking:exponential(1 / state.think_time_s) end
  return one_more(state, now_s + pause)
end

---@param rng rooflua.Random
function ClosedLoop:requests(rng)
  return {
    next = next_request,
    done = answered,
    prompts = rng:stream("prompt_tokens"),
    outputs = rng:stream("output_tokens"),
    thinking = rng:stream("think_time"),
    prompt = lengths.sampler(self.prompt_tokens, "workload.prompt_tokens"),
    output = lengths.sampler(self.output_tokens, "workload.output_tokens"),
    limit = arrivals.limit(self),
    clients = self.clients,
    think_time_s = self.think_time_s,
    count = self.num_requests,
    sent = 0,
    started = 0,
  }
end

return ClosedLoop
