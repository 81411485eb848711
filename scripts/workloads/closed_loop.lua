--- Clients that send a request, wait for its answer, pause, and send the next.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

local declare, in_time = arrivals.declare, arrivals.in_time

---@class workloads.ClosedLoop: rooflua.Workload
---@field clients integer
---@field think_time_s number
---@field distinct_prompts integer
---@field start_rate_per_s number
local ClosedLoop = policy.define {
  name = "closed_loop",
  doc = "A fixed number of clients, each with one request at a time.",
  source = "vllm bench serve: --max-concurrency",
  params = {
    clients = { default = 16, unit = "clients", min = 1, integer = true,
      doc = "Number of clients." },
    think_time_s = { default = 0.0, unit = "s", min = 0,
      doc = "Mean pause between an answer and the next request, exponential; 0 = none." },
    start_rate_per_s = { default = 0.0, unit = "requests/s", min = 0,
      doc = "Rate at which the clients send their first requests, Poisson; 0 = all at once, at time 0." },
    num_requests = { default = 1000, unit = "requests", min = 1, integer = true,
      doc = "Requests of all clients together." },
    prompt_tokens = { default = 512, type = "any", unit = "tokens",
      doc = "Prompt length: a number or { distribution = ... }." },
    output_tokens = { default = 128, type = "any", unit = "tokens",
      doc = "Answer length: a number or { distribution = ... }." },
    distinct_prompts = { default = 0, unit = "prompts", min = 0, integer = true,
      doc = "How many different prompts there are. All are sent, in random order, before one is sent again, as AIPerf "
        .. "does with --num-dataset-entries; a prefix cache can hit those sent before. 0 = no prompt is sent twice." },
    max_output_tokens = arrivals.limit_parameter(),
  },
}

--- The next of the distinct prompts: its length, which it keeps, and its content. One step of a shuffle per request;
--- after the last prompt the next shuffle begins.
local function of_pool(state, pool)
  local size = #pool.order
  pool.at = pool.at % size + 1
  local other = pool.draws:integer(pool.at, size)
  local id = pool.order[other]
  pool.order[other], pool.order[pool.at] = pool.order[pool.at], id
  pool.lengths[id] = pool.lengths[id] or state.prompt(state.prompts, id)
  return pool.lengths[id], { content = { { id, pool.lengths[id] } } }
end

--- @param key string that the time follows from, for errors
local function one_more(state, at_s, key)
  if state.sent >= state.count then return nil end
  state.sent = state.sent + 1
  local prompt, fields
  if state.pool then
    prompt, fields = of_pool(state, state.pool)
  else
    prompt = state.prompt(state.prompts, state.sent)
  end
  return in_time(at_s, state.sent, state.count, key), prompt,
    declare(state.limit, state.output(state.outputs, state.sent), fields)
end

local function next_request(state)
  if state.started >= state.clients then return nil end
  state.started = state.started + 1
  if state.start_rate_per_s > 0 then
    state.start_s = state.start_s + state.starting:exponential(state.start_rate_per_s)
  end
  return one_more(state, state.start_s, "workload.start_rate_per_s")
end

local function answered(state, now_s)
  local pause = 0
  if state.think_time_s > 0 then pause = state.thinking:exponential(1 / state.think_time_s) end
  return one_more(state, now_s + pause, "workload.think_time_s")
end

--- The pool of distinct prompts; nil if no prompt is sent twice.
local function pool_of(workload, rng)
  if workload.distinct_prompts == 0 then return nil end
  local order = {}
  for id = 1, workload.distinct_prompts do order[id] = id end
  return { order = order, lengths = {}, at = 0, draws = rng:stream("distinct_prompts") }
end

---@param rng rooflua.Random
function ClosedLoop:requests(rng)
  return {
    next = next_request,
    done = answered,
    prompts = rng:stream("prompt_tokens"),
    outputs = rng:stream("output_tokens"),
    thinking = rng:stream("think_time"),
    starting = rng:stream("start_rate"),
    prompt = lengths.sampler(self.prompt_tokens, "workload.prompt_tokens"),
    output = lengths.sampler(self.output_tokens, "workload.output_tokens"),
    limit = arrivals.limit(self),
    clients = self.clients,
    think_time_s = self.think_time_s,
    start_rate_per_s = self.start_rate_per_s,
    start_s = 0,
    count = self.num_requests,
    sent = 0,
    started = 0,
    pool = pool_of(self, rng),
    shares_content = self.distinct_prompts > 0,
  }
end

return ClosedLoop
