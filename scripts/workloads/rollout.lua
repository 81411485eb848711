--- Rollouts of reinforcement learning: batches of answers, with a barrier after each.
---
--- A batch is `prompts` prompts with `samples` answers each, all sent at once; with over-sampling more. When as many
--- prompts as the batch needs have all their answers, the model is updated, and the next batch is sent. Answers that
--- are still written then go on during it, or are aborted: dropped, or continued in the next batch after their prompt
--- and what they have (a partial rollout). Prompts that are continued take the places of new ones.
--- An answer longer than `budget_tokens` is cut there and continued in the next batch, with as many prompts as ever.
---
--- What engines keep of the KV of an answer that is continued, `keep_kv` says: it is that of the old weights.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.Rollout: rooflua.Workload
---@field batches integer
---@field prompts integer
---@field samples integer
local Rollout = policy.define {
  name = "rollout",
  doc = "Batches of answers with a barrier after each, as reinforcement learning samples them.",
  source = "THUDM/slime slime/rollout/sglang_rollout.py (over_sampling_batch_size, abort, partial_rollout); partial "
    .. "rollouts: arXiv 2501.12599; over-sampling: arXiv 2503.14476",
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
    whole_prompts = { default = true, source = "slime: a group is done when all its samples are",
      doc = "A batch needs prompts with all their answers; false: as many answers, of whichever prompts." },
    filtered_share = { default = 0, unit = "1", min = 0, max = 0.99,
      source = "DAPO, dynamic sampling (arXiv 2503.14476); slime: --dynamic-sampling-filter-path",
      doc = "Share of prompts that do not count when their answers are there, because all are right or all wrong. More "
        .. "prompts are sent as soon as fewer are under way than the batch needs, as many as for a batch." },
    rest = { default = "finish", values = { "finish", "drop", "continue" },
      source = "slime: abort(), --partial-rollout",
      doc = "Answers that are still written when a batch has what it needs: finish, during the next batch; drop, "
        .. "they are aborted; continue, they are aborted and go on in the next batch, in place of new prompts." },
    keep_kv = { default = false,
      source = "vLLM: pause_generation(clear_cache); SGLang: flush_cache of a weight update",
      doc = "KV of prompts and answers that are continued is still there after the update." },
    budget_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Most tokens of an answer in one batch; the rest is written in the next one. 0 = no limit." },
    update_s = { default = 0, unit = "s", min = 0, doc = "Time between the end of a batch and the next one." },
  },
}

local function new_content(state)
  state.contents = state.contents + 1
  return state.contents
end

--- A prompt and its answers. `answers` are those that are not whole; each has had `got` tokens and lacks `left`.
local function new_group(state)
  local group = { content = new_content(state), prompt = state.prompt(state.prompts_drawn), answers = {} }
  for i = 1, state.samples do
    local left = arrivals.limited(state.limit, state.output(state.outputs))
    group.answers[i] = { left = left, got = 0, content = {} }
  end
  state.left_out.total = state.left_out.total + state.samples
  return group
end

--- The most tokens that a request for an answer declares; nil: no limit.
local function declared(state, answer, now)
  if state.limit == "exact" then return now end
  local most = state.limit > 0 and state.limit - answer.got or nil
  if state.budget > 0 then most = math.min(most or state.budget, state.budget) end
  return most
end

--- Sends what is left of an answer, at most the budget.
local function send(state, group, answer, at_s)
  local now = state.budget > 0 and math.min(answer.left, state.budget) or answer.left
  local content = { { group.content, group.prompt } }
  for i, segment in ipairs(answer.content) do content[i + 1] = { segment[1], segment[2] } end
  answer.sent, answer.id, state.session = now, new_content(state), state.session + 1
  state.open[state.session] = { answer = answer, group = group, batch = state.batch }
  group.open = group.open + 1
  state.queue[#state.queue + 1] = { at_s, group.prompt + answer.got, now, { content = content,
    output_content = answer.id, session = state.session, max_output_tokens = declared(state, answer, now) } }
end

local function send_group(state, group, at_s)
  group.open, state.under_way = 0, state.under_way + 1
  for _, answer in ipairs(group.answers) do send(state, group, answer, at_s) end
  group.answers = {}
end

local function send_new(state, count, at_s)
  for _ = 1, count do send_group(state, new_group(state), at_s) end
end

--- The requests of the next batch: answers that are continued, then new ones.
local function next_batch(state, at_s)
  state.batch, state.ended, state.stops, state.queue, state.taken = state.batch + 1, 0, false, {}, 0
  state.first_session, state.under_way = state.session + 1, 0
  local carried, places = state.carried, state.places
  state.carried = {}
  for _, group in ipairs(carried) do
    if not state.keep_kv then
      group.content = new_content(state)
      for _, answer in ipairs(group.answers) do
        answer.content = answer.got > 0 and { { new_content(state), answer.got } } or {}
      end
    end
    if group.aborted then places = places - 1 end
    group.carried, group.aborted = false, false
    send_group(state, group, at_s)
  end
  send_new(state, places, at_s)
end

local function take(state)
  local first = state.queue[state.taken + 1]
  if not first then return nil end
  state.taken = state.taken + 1
  return first[1], first[2], first[3], first[4]
end

local function next_request(state)
  if state.batch == 0 then next_batch(state, 0) end
  return take(state)
end

--- An answer has so many tokens more, and goes on in the next batch.
local function carry(state, group, answer, tokens)
  answer.left, answer.got = answer.left - tokens, answer.got + tokens
  if tokens > 0 then answer.content[#answer.content + 1] = { answer.id, tokens } end
  group.answers[#group.answers + 1] = answer
  if not group.carried then
    group.carried = true
    state.carried[#state.carried + 1] = group
  end
end

--- Sessions of requests that the batch no longer needs.
local function stop(state)
  state.stops, state.unwanted = true, {}
  for session = state.first_session, state.session do
    local open = state.open[session]
    if open then
      open.cancelled = true
      state.unwanted[#state.unwanted + 1] = session
    end
  end
  state.stopping, state.told = #state.unwanted, 0
end

local function cancelled(state)
  if state.told >= #state.unwanted then return nil end
  state.told = state.told + 1
  return state.unwanted[state.told]
end

--- What becomes of an answer whose request has ended.
local function settle(state, open, completed, landed_tokens)
  local group, answer = open.group, open.answer
  if completed and answer.left > answer.sent then
    carry(state, group, answer, answer.sent)
    if state.batch >= state.batches then
      local reasons = state.left_out.reasons
      reasons["cut by budget_tokens in the last batch"] = reasons["cut by budget_tokens in the last batch"] + 1
    end
  elseif open.cancelled and not completed and state.rest == "continue" and state.batch < state.batches then
    group.aborted = true
    state.kept_tokens = state.kept_tokens + landed_tokens
    carry(state, group, answer, landed_tokens)
  end
  group.open = group.open - 1
  if open.batch ~= state.batch or open.cancelled then return end
  if state.whole_prompts and group.open > 0 then return end
  if state.filtered_share > 0 and state.filters:uniform() < state.filtered_share then
    state.under_way = state.under_way - 1
  else
    state.ended = state.ended + 1
  end
end

local function answered(state, now_s, session, _, completed, landed_tokens)
  local open = state.open[session]
  state.open[session] = nil
  settle(state, open, completed, landed_tokens)
  if open.batch ~= state.batch then return nil end
  if state.ended < state.needed then
    if state.filtered_share == 0 or state.under_way >= state.needed then return nil end
    state.queue, state.taken = {}, 0
    send_new(state, state.places, now_s)
    return take(state)
  end
  if state.rest ~= "finish" then
    if not state.stops then stop(state) elseif open.cancelled then state.stopping = state.stopping - 1 end
    if state.stopping > 0 then return nil end
  end
  if state.batch >= state.batches then return nil end
  next_batch(state, arrivals.in_time(now_s + state.update_s, state.batch, state.batches, "workload.update_s"))
  return take(state)
end

local function notes(state)
  if state.kept_tokens == 0 then return {} end
  return { ("rollout: %d tokens of answers that were aborted went on in the next batch: wasted_output_tokens counts "
    .. "them, too"):format(state.kept_tokens) }
end

--- Parameters that would change nothing.
local function check(rollout)
  if rollout.filtered_share > 0 and not rollout.whole_prompts then
    error("workload.filtered_share: prompts are filtered, and with whole_prompts = false single answers count", 0)
  end
  if rollout.rest ~= "finish" and rollout.over_sampling == 1 and rollout.filtered_share == 0 then
    error("workload.rest: without over_sampling nothing is left when a batch has what it needs", 0)
  end
  if rollout.keep_kv and rollout.rest ~= "continue" and rollout.budget_tokens == 0 then
    error("workload.keep_kv: no answer is continued, neither by rest = \"continue\" nor by budget_tokens", 0)
  end
end

---@param rng rooflua.Random
function Rollout:requests(rng)
  check(self)
  return {
    next = next_request,
    done = answered,
    more = take,
    cancels = cancelled,
    notes = notes,
    shares_content = true,
    prompt = lengths.sampler(self.prompt_tokens, "workload.prompt_tokens"),
    output = lengths.sampler(self.output_tokens, "workload.output_tokens"),
    prompts_drawn = rng:stream "prompt_tokens",
    outputs = rng:stream "output_tokens",
    limit = arrivals.limit(self),
    batches = self.batches,
    prompts = self.prompts,
    samples = self.samples,
    places = math.ceil(self.prompts * self.over_sampling),
    filtered_share = self.filtered_share,
    filters = rng:stream "filters",
    whole_prompts = self.whole_prompts,
    rest = self.rest,
    keep_kv = self.keep_kv,
    budget = self.budget_tokens,
    update_s = self.update_s,
    needed = self.whole_prompts and self.prompts or self.prompts * self.samples,
    batch = 0,
    ended = 0,
    under_way = 0,
    taken = 0,
    contents = 0,
    kept_tokens = 0,
    stopping = 0,
    told = 0,
    session = -1,
    queue = {},
    carried = {},
    unwanted = {},
    open = {},
    left_out = { source = "rollout", unit = "answers", total = 0,
      reasons = { ["cut by budget_tokens in the last batch"] = 0 } },
  }
end

return Rollout
