--- Continuous batching as vLLM V1 schedules it. Running requests get tokens first, then waiting requests
--- are admitted from the head of the queue. Prompts are prefilled in chunks. The request admitted last is
--- preempted first, and computes its KV cache again later.
local policy = require "rooflua.policy"

local floor = math.floor

---@class schedulers.VllmV1: rooflua.Scheduler
---@field max_num_seqs integer
---@field max_num_batched_tokens integer
---@field long_prefill_token_threshold integer
---@field enable_chunked_prefill boolean
---@field scheduler_reserve_full_isl boolean
---@field watermark number
---@field prefill_schedule_interval integer
---@field align_states boolean
---@field state_margin integer
---@field keep_junctions boolean
---@field encodes boolean? whether requests may have images, sounds or videos
---@field saturated boolean? whether the last step that might run prompts left requests waiting
local VllmV1 = policy.define {
  name = "vllm_v1",
  doc = "vLLM V1: running first, then waiting from the head, one token budget for both.",
  source = "vLLM v1/core/sched/scheduler.py, releases 0.11 to 0.28",
  params = {
    max_num_seqs = { default = 256, unit = "requests", min = 1, integer = true,
      doc = "Most requests that run at once (seats).",
      source = "vLLM default on GPUs below 70 GiB; 1024 on larger ones" },
    max_num_batched_tokens = { default = 8192, unit = "tokens", min = 1, integer = true,
      doc = "Token budget of one step.", source = "vLLM API server default on GPUs above 70 GiB" },
    long_prefill_token_threshold = { default = 0, unit = "tokens", min = 0, integer = true,
      doc = "Longest chunk of one prompt; 0 = no limit.", source = "vLLM default" },
    enable_chunked_prefill = { default = true, doc = "Cut a prompt that exceeds the budget.",
      source = "vLLM V1 default" },
    scheduler_reserve_full_isl = { default = true,
      doc = "Admit a request only if the blocks of its whole sequence are free.",
      source = "vLLM default since 2026; false before" },
    watermark = { default = 0.0, unit = "1", min = 0, max = 1,
      doc = "Part of the blocks that admission leaves free while other requests run.",
      source = "vLLM V1 default, pull request 44594; 0.01 in V0" },
    prefill_schedule_interval = { default = 1, unit = "steps", min = 1, integer = true,
      doc = "Ranks of deployment.dp that decode run prompts in every n-th step of all ranks only.",
      source = "vLLM --prefill-schedule-interval; default 1", idle = { "one rank" } },
    align_states = { default = false,
      doc = "Cut prompts at KV blocks, and at the last one of them: states of recurrent layers are kept there.",
      source = "vLLM --mamba-cache-mode align; _mamba_block_aligned_split" },
    keep_junctions = { default = false,
      doc = "Cut a prompt where the blocks of attention that it shares with earlier ones end: a state is kept there.",
      source = "vLLM pull request 37898; _mamba_block_aligned_split" },
    state_margin = { default = 0, unit = "blocks", min = 0, integer = true,
      doc = "By how many blocks the last cut is earlier: a drafter loses the last block of a hit.",
      source = "vLLM _mamba_block_aligned_split, use_eagle", idle = { align_states = false } },
  },
}

--- Seats and budget only limit what is planned: one that decides nothing could be larger (plans rely on it).
VllmV1.caps_only_limit = true
--- A request that waits for a slot for its adapter holds up no request behind it.
VllmV1.follows_adapters = true
--- It asks how many tokens of a prompt with images the encoder has room for.
VllmV1.follows_items = true

--- The next chunk of a prompt, before the budget cuts it.
function VllmV1:chunk(pending_tokens)
  local threshold = self.long_prefill_token_threshold
  if threshold > 0 and pending_tokens > threshold then return threshold end
  return pending_tokens
end

--- So many tokens of a prompt, cut where a state is kept: at the last block that is full, and before it, or where the
--- prompt goes on, at a block. A block that no step has room for is computed in parts. 0: the step has no room.
function VllmV1:aligned(tokens, request, replica, context)
  local size, sequence = replica.block_size, request.sequence_tokens
  local upto = context + tokens
  if context >= math.max(request.prompt_tokens, sequence - 1) then return tokens end
  if upto < sequence then
    local whole = upto - upto % size
    if whole > context or size <= self:chunk(self.max_num_batched_tokens) then upto = whole end
  end
  local next_block, last = context - context % size + size, (floor(sequence / size) - self.state_margin) * size
  if context % size ~= 0 and next_block <= last then upto = math.min(upto, next_block) end
  if context < last then upto = math.min(upto, last) end
  return math.max(0, upto - context)
end

--- The same of the first tokens of a prompt, after what is cached of it; and those whose images have room.
function VllmV1:cut_first(tokens, request, replica, plan)
  if self.encodes then tokens = plan:encodable(request, tokens) end
  if tokens == 0 then return 0 end
  local size, context = replica.block_size, request.sequence_tokens - request.pending_tokens
  if self.align_states then tokens = self:aligned(tokens, request, replica, context) end
  local shared = self.keep_junctions and replica:growing_tokens(request) - context or 0
  return shared >= size and tokens > shared and shared - shared % size or tokens
end

--- So many tokens of a prompt whose first chunk is computed: those whose images have room, cut where a state is kept.
function VllmV1:cut_later(tokens, request, replica, plan)
  if self.encodes then tokens = plan:encodable(request, tokens) end
  if tokens == 0 or not self.align_states then return tokens end
  return self:aligned(tokens, request, replica, request.context_tokens)
end

--- Gives one running request its tokens. While blocks are missing, it preempts another request.
--- Returns false when the request itself was preempted, or when the preemption was refused.
function VllmV1:run_one(request, replica, plan)
  local prefills = request.phase == "prefill"
  local tokens = prefills and self:chunk(request.pending_tokens) or 1 + request.draft_tokens
  tokens = math.min(tokens, self.max_num_batched_tokens - plan.tokens)
  if prefills and (self.align_states or self.encodes) then
    tokens = self:cut_later(tokens, request, replica, plan)
    if tokens == 0 then
      plan:wake_at(replica.now_s + 1e-9) -- the next step may have room
      return true
    end
  end
  while true do
    if not prefills then
      if plan:decode(request, tokens) then return true end
    elseif plan:prefill(request, tokens) then
      return true
    end
    local running = replica:running()
    local victim = self.victim and self:victim(replica) or running[#running]
    local gone = victim == request
    if not plan:preempt(victim) or gone then return false end -- refused while the victim's KV is still to be sent
  end
end

--- Running requests one by one in order of admission: decodes and unfinished prefills may alternate.
function VllmV1:run_in_order(replica, plan)
  local running = replica:running()
  local i = 1
  while i <= #running and plan.tokens < self.max_num_batched_tokens do
    local request = running[i]
    local phase = request.phase
    if phase == "decode" or phase == "prefill" then
      if not self:run_one(request, replica, plan) then return end
      -- A preempted request that stood before this one in the list has moved this one up.
      while i > 1 and (i > #running or running[i] ~= request) do i = i - 1 end
    end
    i = i + 1
  end
end

--- Why vLLM does not start for requests of so many tokens; nil where it does.
--- Source: vllm/config.py of 0.6.6 to 0.10, vllm/config/scheduler.py of 0.11 to 0.24, verify_max_model_len.
function VllmV1:start_problem(max_model_len)
  if self.enable_chunked_prefill or self.max_num_batched_tokens >= max_model_len then return nil end
  return ("vLLM does not start: enable_chunked_prefill is false, and max_num_batched_tokens = %d is less than "
    .. "max_model_len = %d"):format(self.max_num_batched_tokens, max_model_len)
end

--- Phase 1: running requests. Without a prefill in the middle of the list, one call plans all decodes.
function VllmV1:run_running(replica, plan)
  local budget = self.max_num_batched_tokens
  local prefilling = replica:prefilling()
  local unfinished = #prefilling
  if unfinished == 0 then
    if replica.decode_tokens <= budget then plan:decode_all() else plan:decode_all(budget) end
    return
  end
  local running = replica:running()
  if unfinished > 1 or running[#running] ~= prefilling[1] or self.victim then
    return self:run_in_order(replica, plan)
  end
  if replica.decode_tokens <= budget then plan:decode_all() else plan:decode_all(budget) end
  if #prefilling == 1 and plan.tokens < budget then
    self:run_one(prefilling[1], replica, plan)
  end
end

--- Admits a request of the queue, default its head, if seats, budget and blocks last. Returns whether it did; nil if
--- only its adapter was missing, which says nothing of those after it.
function VllmV1:admit_head(waiting, replica, plan, place)
  if replica.seats >= self.max_num_seqs then return false end
  local request, left = waiting[place or 1], self.max_num_batched_tokens - plan.tokens
  if not request or left <= 0 then return false end
  local tokens = self:chunk(request.pending_tokens)
  if tokens > left then
    if not self.enable_chunked_prefill then return false end
    tokens = left
  end
  if self.align_states or self.keep_junctions or self.encodes then
    tokens = self:cut_first(tokens, request, replica, plan)
    if tokens == 0 then return false end
  end
  local must_fit = self.scheduler_reserve_full_isl and request.sequence_tokens or 0
  local keep_free = replica.seats > 0 and floor(self.watermark * replica.total_blocks) or 0
  if plan:admit(request, tokens, 0, must_fit, keep_free) then return true end
  if not plan.held_for then return false end
  return nil
end

--- Phase 2: admits from the head of the queue while seats, budget and blocks last. It never preempts. Most plans admit
--- one request or two; these are in front of the loop.
function VllmV1:admit_waiting(replica, plan)
  local waiting = replica:waiting()
  local admitted = self:admit_head(waiting, replica, plan)
  if admitted then admitted = self:admit_head(waiting, replica, plan) end
  while admitted do admitted = self:admit_head(waiting, replica, plan) end
  if admitted == nil then self:admit_behind(waiting, replica, plan) end
end

--- Goes on after a request that waits for a slot for its adapter, and after others that do.
function VllmV1:admit_behind(waiting, replica, plan)
  local place = 2
  while true do
    local admitted = self:admit_head(waiting, replica, plan, place)
    if admitted == false then return end
    if admitted == nil then place = place + 1 end
  end
end

--- Whether prompts wait for a later step of the group. One that leaves requests waiting is followed by others.
function VllmV1:defers_prompts(replica)
  if replica.group_ranks == 1 or replica.decodes == 0 or self.saturated then return false end
  return replica.group_steps % self.prefill_schedule_interval ~= 0
end

--- The decodes only; the next step is planned anew.
function VllmV1:run_decodes(replica, plan)
  local budget = self.max_num_batched_tokens
  if replica.decode_tokens <= budget then plan:decode_all() else plan:decode_all(budget) end
  plan:wake_at(replica.now_s + 1e-9)
end

---@param replica rooflua.Replica
---@param plan rooflua.Plan
function VllmV1:plan(replica, plan)
  if self.prefill_schedule_interval > 1 and self:defers_prompts(replica) then return self:run_decodes(replica, plan) end
  self:run_running(replica, plan)
  if plan.preempted > 0 then return end
  self:admit_waiting(replica, plan)
  if self.prefill_schedule_interval > 1 then self.saturated = #replica:waiting() > 0 end
end

return VllmV1
