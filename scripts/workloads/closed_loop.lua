--- Clients that send a request, wait for its answer, pause, and send the next.
local arrivals = require "rooflua.arrivals"
local clients = require "workloads.composed.clients"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.ClosedLoop: rooflua.Workload
---@field clients integer
---@field think_time_s number
---@field distinct_prompts integer
---@field start_rate_per_s number
local ClosedLoop = policy.define {
  name = "closed_loop",
  doc = "A fixed number of clients, each with one request at a time.",
  source = "vllm bench serve: --max-concurrency",
  params = clients.parameters({ default = 0.0, unit = "s", min = 0,
    doc = "Mean pause between an answer and the next request, exponential; 0 = none." }, {
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
  }),
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

local function take(state)
  local prompt, fields
  if state.pool then
    prompt, fields = of_pool(state, state.pool)
  else
    prompt = state.prompt(state.prompts, state.sent)
  end
  return prompt, arrivals.declare(state.limit, state.output(state.outputs, state.sent), fields)
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
  return clients.open(self, rng, {
    take = take,
    prompts = rng:stream("prompt_tokens"),
    outputs = rng:stream("output_tokens"),
    prompt = lengths.sampler(self.prompt_tokens, "workload.prompt_tokens"),
    output = lengths.sampler(self.output_tokens, "workload.output_tokens"),
    limit = arrivals.limit(self),
    count = self.num_requests,
    pool = pool_of(self, rng),
    shares_content = self.distinct_prompts > 0,
  })
end

return ClosedLoop
