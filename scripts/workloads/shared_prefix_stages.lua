--- Stages of load over one set of prompts with shared prefixes, as inference-perf sends them.
---
--- `groups` system prompts with `prompts_per_group` questions each are shuffled once. Request i of a stage is prompt i,
--- after the last one the first again; every stage begins with the first. A stage ends when all its answers have
--- ended. The next one begins gap_s later.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"
local sending = require "workloads.stages.sending"

---@class workloads.SharedPrefixStages: rooflua.Workload
---@field groups integer
---@field prompts_per_group integer
---@field stages table
---@field arrivals string
---@field gap_s number
---@field max_in_flight integer
local Stages = policy.define {
  name = "shared_prefix_stages",
  doc = "Stages of rates or clients, one after the other, over one set of prompts with shared prefixes.",
  source = "kubernetes-sigs/inference-perf: shared_prefix_datagen.py, load_timer.py, load_generator.py",
  params = {
    groups = { default = 10, unit = "prompts", min = 0, max = 1000000, integer = true,
      doc = "Different shared prefixes; 0: no prompt shares anything with another." },
    prompts_per_group = { default = 10, unit = "prompts", min = 1, max = 1000000, integer = true,
      doc = "Different questions after each prefix." },
    shared_prefix_tokens = { default = 1024, unit = "tokens", min = 0, integer = true, doc = "Length of a prefix." },
    question_tokens = { default = 128, type = "any", unit = "tokens",
      doc = "Length of a question, which it keeps: a number or { distribution = ... }." },
    output_tokens = { default = 128, type = "any", unit = "tokens",
      doc = "Answer length: a number or { distribution = ... }." },
    max_output_tokens = arrivals.limit_parameter "exact",
    stages = { default = { { rate_per_s = 1, duration_s = 60 } }, type = "any",
      doc = "A list, in this order: { rate_per_s =, duration_s = } sends so many requests, whole ones; { clients =, "
        .. "requests = } has so many clients with one request each. Requests of stage i have the class i - 1." },
    arrivals = { default = "poisson", values = { "poisson", "constant", "even" },
      doc = "How requests of a rate are spread. poisson: a number is drawn for each second, with exponential gaps that "
        .. "fill it. constant: exponential gaps that fill the stage. even: equal gaps." },
    gap_s = { default = 0, unit = "s", min = 0, doc = "Pause between the last answer of a stage and the next stage." },
    max_in_flight = { default = 0, unit = "requests", min = 0, integer = true,
      doc = "Most requests under way at once; others wait in the client, and no latency includes that. 0 = no limit." },
  },
}

Stages.varies = true -- by itself: a queue that grows for a while is no sign of too few replicas

-- Stages ----------------------------------------------------------------------------------------------------

local known = { rate_per_s = true, duration_s = true, clients = true, requests = true }

local function wrong(where, message, ...) error(("workload.%s: %s"):format(where, message:format(...)), 0) end

local function found(value) return type(value) == "number" and ("%.14g"):format(value) or "a " .. type(value) end

local function positive(stage, key, where, whole)
  local value = stage[key]
  local ok = type(value) == "number" and value > 0 and value < math.huge and (not whole or value % 1 == 0)
  if not ok then
    wrong(where .. "." .. key, "expected a %snumber above 0, found %s", whole and "whole " or "", found(value))
  end
  return value
end

--- {count, rate_per_s, duration_s} or {count, clients} of a stage as a scenario has it.
local function stage_of(stage, where)
  if type(stage) ~= "table" then
    wrong(where, "expected { rate_per_s = 10, duration_s = 60 } or { clients = 8, requests = 100 }, found %s",
      found(stage))
  end
  local unknown
  for key in pairs(stage) do
    if type(key) ~= "string" then wrong(where, "expected named keys, found key %s", found(key)) end
    if not known[key] and (unknown == nil or key < unknown) then unknown = key end
  end
  if unknown then
    wrong(where, "unknown key '%s' (known: clients, duration_s, rate_per_s, requests)", unknown)
  end
  if stage.clients ~= nil then
    if stage.rate_per_s ~= nil or stage.duration_s ~= nil then
      wrong(where, "has clients, who send when an answer ends, and a rate or a duration; one of both is right")
    end
    return { clients = positive(stage, "clients", where, true), count = positive(stage, "requests", where, true) }
  end
  local rate, duration = positive(stage, "rate_per_s", where), positive(stage, "duration_s", where)
  local count = stage.requests and positive(stage, "requests", where, true) or math.floor(rate * duration + 1e-9)
  if count < 1 then wrong(where, "%g requests/s in %g s are less than one request", rate, duration) end
  return { rate_per_s = rate, duration_s = duration, count = count }
end

--- The stages of this workload: a list of {count, and rate_per_s, duration_s or clients}.
function Stages:list()
  local out = {}
  if type(self.stages) ~= "table" or #self.stages == 0 then
    wrong("stages", "expected a list with at least one stage, found %s", found(self.stages))
  end
  for i, each in ipairs(self.stages) do out[i] = stage_of(each, ("stages[%d]"):format(i)) end
  return out
end

-- Prompts ---------------------------------------------------------------------------------------------------

--- The prompts in the order in which they are sent: numbers from 1 on. Those of one prefix are next to each other
--- before the shuffle.
local function shuffled(count, draws)
  local order = {}
  for i = 1, count do order[i] = i end
  for i = count, 2, -1 do
    local other = draws:integer(1, i)
    order[i], order[other] = order[other], order[i]
  end
  return order
end

--- What request number i of a stage asks.
--- @return integer prompt_tokens
--- @return table? content
local function prompt_of(state, i)
  local own = state.policy
  if own.groups == 0 then
    return math.max(1, own.shared_prefix_tokens + state.question(state.questions, i)), nil
  end
  local number = state.order[(i - 1) % #state.order + 1]
  local question = state.question_tokens[number]
  if not question then
    question = math.max(1, state.question(state.questions, number))
    state.question_tokens[number] = question
  end
  local content = { { own.groups + number, question } }
  if own.shared_prefix_tokens > 0 then
    table.insert(content, 1, { math.ceil(number / own.prompts_per_group), own.shared_prefix_tokens })
  end
  return own.shared_prefix_tokens + question, content
end

--- Request number i of a stage, at this time.
local function request(state, at_s, i, stage)
  local prompt, content = prompt_of(state, i)
  local output = state.output(state.outputs, i)
  state.numbers = state.numbers + 1
  arrivals.in_time(at_s, state.numbers, state.numbers, "workload.stages")
  return at_s, prompt, arrivals.declare(state.limit, output, { class = stage - 1, content = content })
end

--- Most prompts that are kept in an order.
local most_prompts = 10000000

---@param rng rooflua.Random
function Stages:requests(rng)
  if self.groups * self.prompts_per_group > most_prompts then
    wrong("groups", "%.0f groups with prompts_per_group = %.0f are more than %.0f prompts", self.groups,
      self.prompts_per_group, most_prompts)
  end
  local state = {
    policy = self,
    order = shuffled(self.groups * self.prompts_per_group, rng:stream "prompts"),
    questions = rng:stream "prompt_tokens",
    outputs = rng:stream "output_tokens",
    question = lengths.sampler(self.question_tokens, "workload.question_tokens"),
    output = lengths.sampler(self.output_tokens, "workload.output_tokens"),
    limit = arrivals.limit(self),
    shares_content = self.groups > 0,
    question_tokens = {},
    request = request,
    numbers = 0,
  }
  return sending.start(state, self:list(), { arrivals = self.arrivals, gap_s = self.gap_s,
    max_in_flight = self.max_in_flight, gaps = rng:stream "arrivals" })
end

return Stages
