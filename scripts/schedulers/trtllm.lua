--- TensorRT-LLM's in-flight batching: a capacity scheduler says which requests may run, a microbatch
--- scheduler says how many tokens each of them gets.
local policy = require "rooflua.policy"
local balance = require "schedulers.trtllm.balance"
local duplicates = require "schedulers.trtllm.duplicates"

---@class schedulers.Trtllm: rooflua.Scheduler
---@field max_num_seqs integer
---@field max_num_batched_tokens integer
---@field capacity_scheduler_policy string
---@field enable_chunked_context boolean
---@field context_chunking_policy string
---@field chunk_unit_size integer
---@field max_output_tokens integer
---@field batch_wait_timeout_iters integer
---@field batch_wait_max_tokens_ratio number
---@field attention_dp_balance boolean
---@field attention_dp_timeout_iters integer
---@field attention_dp_batching_wait_iters integer
local Trtllm = policy.define {
  name = "trtllm",
  doc = "TensorRT-LLM: admits requests whose blocks suffice to completion (or pauses requests), then shares tokens.",
  source = "TensorRT-LLM batch_manager: CapacityScheduler, MicroBatchScheduler",
  -- Blocks of a prompt are stored for reuse when its context is over: PyExecutor's update_resources.
  content_from = "prompt",
  params = {
    max_num_seqs = { default = 2048, unit = "requests", min = 1, integer = true,
      doc = "Most requests that run at once (max_batch_size).", source = "TensorRT-LLM default" },
    max_num_batched_tokens = { default = 8192, unit = "tokens", min = 1, integer = true,
      doc = "Token budget of one step (max_num_tokens).", source = "TensorRT-LLM default" },
    capacity_scheduler_policy = { default = "guaranteed_no_evict",
      values = { "guaranteed_no_evict", "max_utilization", "static_batch" },
      doc = "Which requests may run: those that fit until they end; those that fit now; a new batch after the old one.",
      source = "TensorRT-LLM default" },
    enable_chunked_context = { default = false, doc = "Cut prompts that exceed the budget.",
      source = "TensorRT-LLM default of the C++ runtime" },
    context_chunking_policy = { default = "first_come_first_served",
      values = { "first_come_first_served", "equal_progress" },
      doc = "Which prompts get the tokens: the first in the queue, or all of them in equal parts.",
      source = "TensorRT-LLM default", idle = { enable_chunked_context = false } },
    chunk_unit_size = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Chunks are multiples of this; 0 = the block size.",
      source = "TensorRT-LLM: tokens per block", idle = { enable_chunked_context = false } },
    max_output_tokens = { default = 2048, unit = "tokens", min = 1, integer = true,
      doc = "Output for which a request without a declared limit needs blocks." },
    batch_wait_timeout_iters = { default = 0, unit = "steps", min = 0, integer = true,
      doc = "While others decode, prompts wait so many steps for more of them; 0 = they do not wait.",
      source = "TensorRT-LLM default", idle = { batch_wait_max_tokens_ratio = 0 } },
    batch_wait_max_tokens_ratio = { default = 0.0, unit = "1", min = 0, max = 1,
      doc = "Prompts wait no longer where the step has this part of max_num_batched_tokens.",
      source = "TensorRT-LLM default", idle = { batch_wait_timeout_iters = 0 } },
    attention_dp_balance = { default = false,
      doc = "Hold prompts until every rank of deployment.dp has one; without ranks nothing is held.",
      source = "TensorRT-LLM attention_dp_config.enable_balance", idle = { "one rank" } },
    attention_dp_timeout_iters = { default = 50, unit = "steps", min = 1, integer = true,
      doc = "Prompts are held at most so many steps.", source = "TensorRT-LLM attention_dp_config.timeout_iters",
      idle = { { attention_dp_balance = false }, { "one rank" } } },
    attention_dp_batching_wait_iters = { default = 10, unit = "steps", min = 0, integer = true,
      doc = "When every rank has a prompt and decodes, further prompts are collected for so many steps.",
      source = "TensorRT-LLM attention_dp_config.batching_wait_iters",
      idle = { { attention_dp_balance = false }, { "one rank" } } },
  },
}

--- The parameter by which answers without a declared limit are reserved.
function Trtllm:reserves_by()
  return self.capacity_scheduler_policy ~= "max_utilization" and "max_output_tokens" or nil
end

--- Seats and budget only limit what is planned: one that decides nothing could be larger (plans rely on it).
Trtllm.caps_only_limit = true

--- Tokens of a request at its end, which the engine cuts to the longest that it allows (_deduce_max_tokens).
function Trtllm:longest(request)
  local tokens, most = request.prompt_tokens + (request.max_output_tokens or self.max_output_tokens), self.most
  return most and math.min(tokens, most) or tokens
end

-- Capacity: which requests may run ----------------------------------------------------------------

--- Tokens that need blocks before a request may run: until it ends, or of the next step.
function Trtllm:fit_tokens(request)
  if self.capacity_scheduler_policy == "max_utilization" then return request.sequence_tokens end
  return self:longest(request)
end

--- Guaranteed blocks that a request will take beyond those of its first `tokens` tokens.
function Trtllm:blocks_beyond(request, tokens, size)
  return math.max(0, math.ceil(self:fit_tokens(request) / size) - math.ceil(tokens / size))
end

--- Blocks that running requests may still take until they are done.
function Trtllm:reserved_blocks(replica)
  if self.capacity_scheduler_policy == "max_utilization" then return 0 end
  local running, size, blocks = replica:running(), replica.block_size, 0
  for i = 1, #running do
    local request, phase = running[i], running[i].phase
    if phase == "prefill" then -- the request holds the blocks of its whole prompt
      blocks = blocks + self:blocks_beyond(request, request.sequence_tokens, size)
    elseif phase == "decode" or phase == "in_flight" then
      blocks = blocks + self:blocks_beyond(request, request.context_tokens, size)
    end
  end
  return blocks
end

--- Requests from the head of the queue for which there are seats and blocks. One that would compute the same block as a
--- prompt before it is passed over. Where prompts are not cut, none follows the first that exceeds the budget.
function Trtllm:new_contexts(replica, contexts, reserved_blocks, budget)
  if self.capacity_scheduler_policy == "static_batch" and replica.seats > 0 then return end
  local waiting, size = replica:waiting(), replica.block_size
  local free, begun = replica.free_blocks - reserved_blocks, duplicates.begun(self, replica, contexts)
  for _, each in ipairs(contexts) do budget = budget - each.pending end
  local seats = self.max_num_seqs - replica.seats
  for i = 1, #waiting do
    local request = waiting[i]
    if seats == 0 then return end
    if not duplicates.waits(begun, replica, request) then
      seats = seats - 1
      local pending, hits = request.pending_tokens, math.floor(request.cached_tokens / size)
      free, budget = free - math.ceil(self:fit_tokens(request) / size) + hits - replica.seat_blocks, budget - pending
      if free < 0 or budget < 0 and not self.enable_chunked_context then return end
      contexts[#contexts + 1] = { request = request, pending = pending, tokens = 0, new = true }
    end
  end
end

-- Microbatch: how many tokens ---------------------------------------------------------------------

local function whole(contexts, budget)
  for _, each in ipairs(contexts) do
    if each.pending > budget then return end
    each.tokens = each.pending
    budget = budget - each.tokens
  end
end

local function first_come_first_served(contexts, budget, unit)
  for _, each in ipairs(contexts) do
    local tokens = math.min(each.pending, budget)
    if tokens < each.pending then tokens = math.floor(tokens / unit) * unit end
    each.tokens = tokens
    budget = budget - tokens
  end
end

local function equal_progress(contexts, budget, unit)
  local given
  repeat
    given = 0
    for _, each in ipairs(contexts) do
      local more = math.min(unit, each.pending - each.tokens)
      if given + more <= budget then
        each.tokens = each.tokens + more
        given = given + more
      end
    end
    budget = budget - given
  until given == 0
end

function Trtllm:share(contexts, budget, unit)
  if not self.enable_chunked_context then return whole(contexts, budget) end
  if self.context_chunking_policy == "equal_progress" then
    return equal_progress(contexts, budget, unit)
  end
  return first_come_first_served(contexts, budget, unit)
end

-- The step ----------------------------------------------------------------------------------------

--- Rejects requests that can never run: their blocks exceed the pool, or their prompt exceeds a step.
function Trtllm:reject_impossible(replica, plan)
  local waiting, most = replica:waiting(), (replica.total_blocks - replica.seat_blocks) * replica.block_size
  while #waiting > 0 do
    local request = waiting[1]
    local too_long = not self.enable_chunked_context
      and request.pending_tokens > self.max_num_batched_tokens
    if not too_long and self:fit_tokens(request) <= most then return end
    if too_long then
      plan:reject(request, ("the prompt is longer than max_num_batched_tokens = %d, and enable_chunked_context is "
        .. "false"):format(self.max_num_batched_tokens))
    else
      plan:reject(request, ("the prompt and the output that it may have (max_output_tokens) are longer than the %d "
        .. "tokens of the KV cache"):format(most))
    end
  end
end

--- Each context gets its tokens. A new one also gets a seat and the blocks of its whole prompt.
function Trtllm:run_contexts(contexts, reserved_blocks, replica, plan)
  for _, each in ipairs(contexts) do
    -- A request earlier in this step may compute a prefix that this prompt shares.
    local request, tokens = each.request, math.min(each.tokens, each.request.pending_tokens)
    if tokens > 0 and not each.new then
      plan:prefill(request, tokens)
    elseif tokens > 0 then
      local prompt = request.sequence_tokens
      -- The request may not fit after all: cached blocks without a user count as free until they are taken.
      local fit_tokens = self:fit_tokens(request)
      if not plan:admit(request, tokens, prompt, fit_tokens, reserved_blocks) then return end
      reserved_blocks = reserved_blocks + self:blocks_beyond(request, prompt, replica.block_size)
    end
  end
end

--- Whether the prompts of this step wait for others, as PyExecutor's _waiting_requests says. The plan is then asked
--- again in the next step.
function Trtllm:waits(contexts, replica, plan)
  if self.batch_wait_timeout_iters == 0 or replica.decodes + replica.in_flight == 0 then return false end
  local tokens = plan.tokens
  for _, each in ipairs(contexts) do tokens = tokens + each.tokens end
  if tokens == plan.tokens then return false end
  local waited = self.waited or 0
  local enough = tokens >= self.batch_wait_max_tokens_ratio * self.max_num_batched_tokens
  if enough or waited >= self.batch_wait_timeout_iters then
    self.waited = 0
    return false
  end
  self.waited = waited + 1
  plan:wake_at(replica.now_s + 1e-9)
  return true
end

--- Tokens of the decodes, in the order of admission, that fit with all of their drafts: the first one that does not fit
--- ends the batch, and its drafts are not cut (microBatchScheduler: a generation takes 1 + its draft tokens).
local function whole_rows(replica, budget)
  if not replica.speculates then return budget end
  local running, tokens = replica:running(), 0
  for i = 1, #running do
    if running[i].phase == "decode" then
      local row = 1 + running[i].draft_tokens
      if tokens + row > budget then return tokens end
      tokens = tokens + row
    end
  end
  return tokens
end

---@param replica rooflua.Replica
---@param plan rooflua.Plan
function Trtllm:plan(replica, plan)
  self.most = replica.max_model_len
  self:reject_impossible(replica, plan)
  local held = balance.holds(self, replica, plan)
  local most = self.max_num_batched_tokens
  local admits = #replica:waiting() > 0 and replica.seats < self.max_num_seqs
  local reserved, free = admits and self:reserved_blocks(replica) or 0, replica.free_blocks
  if replica.decode_tokens <= most then plan:decode_all() else plan:decode_all(whole_rows(replica, most)) end
  reserved = math.max(0, reserved - (free - replica.free_blocks)) -- decodes took blocks that were reserved for them

  local contexts, prefilling = {}, replica:prefilling()
  for i = 1, #prefilling do
    contexts[i] = { request = prefilling[i], pending = prefilling[i].pending_tokens, tokens = 0 }
  end
  local budget = most - plan.tokens
  local unit = self.chunk_unit_size > 0 and self.chunk_unit_size or replica.block_size
  if admits and plan.preempted == 0 then
    self:new_contexts(replica, contexts, reserved, budget)
  end
  self:share(contexts, budget, unit)
  if held or self:waits(contexts, replica, plan) then return end
  self:run_contexts(contexts, reserved, replica, plan)
end

return Trtllm
