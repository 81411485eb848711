--- Rollouts of reinforcement learning: batches of answers, with a barrier behind each.
---
--- A batch is `prompts` prompts with `samples` answers each, all sent at once. When as many answers as the batch needs
--- have ended, the model is updated, and the next batch is sent. Answers that are still written then go on beside it.
--- An answer longer than `budget_tokens` is cut there and continued in the next batch, behind its prompt and what it
--- has.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.Rollout: rooflua.Workload
---@field batches integer
---@field prompts integer
---@field samples integer
local Rollout = policy.define {
  name = "rollout",
  doc = "Batches of answers with a barrier behind each, as reinforcement learning samples them.",
  source = "verl; partial rollouts: arXiv 2501.12599; over-sampling: arXiv 2503.14476",
  params = {
    batches = { default = 4, unit = "batches", min = 1, integer = true, doc = "How many." },
    prompts = { default = 32, unit = "prompts", min = 1, integer = true, doc = "Prompts of a batch." },
    samples = { default = 8, unit = "answers", min = 1, integer = true, doc = "Answers to each prompt." },
    prompt_tokens = { default = 512, type = "any", unit = "tokens",
      doc = "Prompt length: a number or { distribution = ... }." },
    output_tokens = { default = { distribution = "lognormal", mean = 2000, sigma = 1.0, max = 16384 }, type = "any",
      unit = "tokens", doc = "Answer length: a number or { distribution = ... }." },
    max_output_tokens = arrivals.limit_parameter(),
    over_sampling = { default = 1.0, unit = "1", min = 1, max = 16,
      doc = "Prompts that are sent over those that a batch needs; the batch ends when it has what it needs." },
    budget_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Most tokens of an answer in one batch; the rest is written in the next one. 0 = no limit." },
    update_s = { default = 0, unit = "s", min = 0, doc = "Time between the end of a batch and the next one." },
  },
}

--- A new answer: its prompt is shared by the other answers to it.
local function answer(state, content, prompt)
  state.ids, state.left_out.total = state.ids + 1, state.left_out.total + 1
  return { content = { { content, prompt } }, prompt = prompt, left = state.output(state.outputs),
    id = state.first_answer + state.ids }
end

--- What is sent of an answer now, at most the budget; what is left of it is sent in the next batch.
local function sent(state, each, at_s, batch)
  local now = state.budget > 0 and math.min(each.left, state.budget) or each.left
  local output, fields = arrivals.declare(state.limit, now, {})
  local content = {}
  for i = 1, #each.content do content[i] = each.content[i] end
  fields.content, fields.output_content = content, each.id
  local prompt = each.prompt
  each.left = each.left - now
  state.session = state.session + 1
  fields.session = state.session
  state.open[state.session] = { answer = each, batch = batch }
  if each.left > 0 then
    each.content[#each.content + 1] = { each.id, output }
    each.prompt = each.prompt + output
    state.ids = state.ids + 1
    each.id = state.first_answer + state.ids
  end
  return { at_s, prompt, output, fields }
end

--- The requests of the next batch: answers that were cut, then new ones.
local function batch_of(state, at_s)
  state.batch = state.batch + 1
  state.ended, state.queue = 0, {}
  for _, each in ipairs(state.carried) do state.queue[#state.queue + 1] = sent(state, each, at_s, state.batch) end
  state.carried = {}
  for _ = 1, math.ceil(state.prompts * state.over_sampling) do
    state.contents = state.contents + 1
    local prompt = state.prompt(state.prompts_drawn)
    for _ = 1, state.samples do
      state.queue[#state.queue + 1] = sent(state, answer(state, state.contents, prompt), at_s, state.batch)
    end
  end
end

local function take(state)
  local first = state.queue[state.taken + 1]
  if not first then return nil end
  state.taken = state.taken + 1
  return first[1], first[2], first[3], first[4]
end

local function next_request(state)
  if state.batch == 0 then
    batch_of(state, 0)
    state.taken = 0
  end
  return take(state)
end

local function answered(state, now_s, session, _, completed)
  local open = state.open[session]
  state.open[session] = nil
  if open.answer.left > 0 and completed then
    state.carried[#state.carried + 1] = open.answer
    if state.batch >= state.batches then
      local reasons = state.left_out.reasons
      reasons["cut by budget_tokens in the last batch"] = reasons["cut by budget_tokens in the last batch"] + 1
    end
  end
  if open.batch == state.batch then state.ended = state.ended + 1 end
  if state.ended < state.needed or open.batch ~= state.batch or state.batch >= state.batches then return nil end
  batch_of(state, arrivals.in_time(now_s + state.update_s, state.batch, state.batches, "workload.update_s"))
  state.taken = 0
  return take(state)
end

---@param rng rooflua.Random
function Rollout:requests(rng)
  return {
    next = next_request,
    done = answered,
    more = take,
    shares_content = true,
    prompt = lengths.sampler(self.prompt_tokens, "workload.prompt_tokens"),
    output = lengths.sampler(self.output_tokens, "workload.output_tokens"),
    prompts_drawn = rng:stream "prompt_tokens",
    outputs = rng:stream "output_tokens",
    limit = arrivals.limit(self),
    batches = self.batches,
    prompts = self.prompts,
    samples = self.samples,
    over_sampling = self.over_sampling,
    budget = self.budget_tokens,
    update_s = self.update_s,
    needed = self.prompts * self.samples,
    first_answer = 4294967296,
    batch = 0,
    ended = 0,
    taken = 0,
    ids = 0,
    contents = 0,
    session = -1,
    queue = {},
    carried = {},
    open = {},
    left_out = { source = "rollout", unit = "answers", total = 0,
      reasons = { ["cut by budget_tokens in the last batch"] = 0 } },
  }
end

return Rollout
