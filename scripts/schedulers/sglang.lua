--- SGLang: prompts run before decodes, in steps of their own. Admission assumes that running requests generate
--- only a part of their output limits, new_token_ratio. Where that is too little, requests are retracted.
local policy = require "rooflua.policy"
local order = require "schedulers.sglang.order"

---@class schedulers.Sglang: rooflua.Scheduler
---@field max_num_seqs integer
---@field max_speculative_seqs integer
---@field schedule_policy string
---@field routing_key string
---@field max_prefill_tokens integer
---@field chunked_prefill_size integer
---@field enable_mixed_chunk boolean
---@field schedule_conservativeness number
---@field scheduler_recv_interval integer
---@field prefill_decode_interval integer
local Sglang = policy.define {
  name = "sglang",
  doc = "SGLang: prefill first, admission by estimated output lengths, retraction if that fails.",
  source = "SGLang managers/scheduler.py, schedule_policy.py, schedule_batch.py, 2025 and 2026",
  -- The radix tree gets a prompt when its batch is over, and a cut one in front of the next batch:
  -- process_batch_result, stash_chunked_request. So what a batch computes is no hit inside of it.
  content_from = "step",
  params = {
    max_num_seqs = { default = 2048, unit = "requests", min = 1, integer = true,
      doc = "Most requests that run at once (max_running_requests).",
      source = "SGLang: clamp(pool / context * 512, 2048, 4096), pool: KV tokens, context: longest sequence" },
    max_speculative_seqs = { default = 48, unit = "requests", min = 0, integer = true,
      doc = "Most requests that run at once where drafts are verified; 0 = max_num_seqs.",
      source = "SGLang server_args: max_running_requests = 48 with speculation, unless it is given",
      idle = { "no speculation" } },
    schedule_policy = { default = "fcfs", values = order.policies,
      doc = "Order of the queue. dfs-weight: cached prefixes that most requests wait for; fcfs: arrival; hrrn: highest "
        .. "ratio of tokens computed since arrival to own tokens left; lof: longest output limit; lpm: longest cached "
        .. "prefix; random: shuffled in every step; routing-key: the key of most running requests; "
        .. "shortest-prefill-first: fewest tokens left to compute." },
    routing_key = { default = "session", values = order.keys,
      doc = "Field of a request that is its key for schedule_policy = 'routing-key'.",
      source = "SGLang: the header x-smg-routing-key, one per conversation or tenant",
      idle = { schedule_policy = { other_than = "routing-key" } } },
    random_seed = { default = 0, unit = "1", min = 0, max = 4294967295, integer = true,
      doc = "Seed of the shuffle for schedule_policy = 'random'.",
      idle = { schedule_policy = { other_than = "random" } } },
    max_prefill_tokens = { default = 16384, unit = "tokens", min = 1, integer = true,
      doc = "Most prompt tokens of one step; only a single prompt may exceed it.",
      source = "SGLang default" },
    chunked_prefill_size = { default = 8192, unit = "tokens", min = 1, integer = true,
      doc = "Most prompt tokens of one step before a prompt is cut.",
      source = "SGLang on H100 and H200; 2048 to 16384 elsewhere" },
    enable_mixed_chunk = { default = false,
      doc = "Prefill steps also decode.", source = "SGLang default" },
    scheduler_recv_interval = { default = 1, unit = "steps", min = 1, integer = true,
      doc = "The scheduler looks for new requests once in so many decode steps, and after every other step.",
      source = "SGLang default; --scheduler-recv-interval, scheduler_recv_skipper.py" },
    prefill_decode_interval = { default = 0, unit = "steps", min = 0, integer = true,
      doc = "Decode steps after a step of prompts before the next one; ranks of deployment.dp have prompts in the same "
        .. "steps.",
      source = "SGLang default; --prefill-decode-interval, pull request 35017" },
    schedule_conservativeness = { default = 1.0, unit = "1", min = 0,
      doc = "Multiplies init_new_token_ratio." },
    init_new_token_ratio = { default = 0.7, unit = "1", min = 0, max = 1,
      doc = "Part of the output limits that admission reserves at first.",
      source = "SGLANG_INIT_NEW_TOKEN_RATIO" },
    min_new_token_ratio_factor = { default = 0.14, unit = "1", min = 0, max = 1,
      doc = "The ratio falls to this part of its first value.", source = "SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR" },
    new_token_ratio_decay_steps = { default = 600, unit = "steps", min = 1, integer = true,
      doc = "Decode steps over which the ratio falls.", source = "SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS" },
    clip_max_new_tokens = { default = 4096, unit = "tokens", min = 1, integer = true,
      doc = "Most output tokens that are reserved for one request.",
      source = "SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION" },
    retract_decode_steps = { default = 20, unit = "steps", min = 0, integer = true,
      doc = "After a retraction, the ratio reserves output for this many decode steps more.",
      source = "SGLANG_RETRACT_DECODE_STEPS" },
    default_max_new_tokens = { default = 128, unit = "tokens", min = 1, integer = true,
      doc = "Output limit of a request that declares none.", source = "SGLang SamplingParams" },
  },
}

--- The parameter by which answers without a declared limit are reserved.
function Sglang:reserves_by() return "default_max_new_tokens" end

--- Seats and budget only limit what is planned: one that decides nothing could be larger (plans rely on it).
Sglang.caps_only_limit = true

-- new_token_ratio falls linearly with the decode steps since `since`, from `base` to the minimum.

function Sglang:initial_ratio()
  return math.min(1, self.init_new_token_ratio * self.schedule_conservativeness)
end

function Sglang:set_ratio(ratio, decode_steps)
  self.base, self.since = ratio, decode_steps
end

function Sglang:ratio(decode_steps)
  local first = self:initial_ratio()
  local last = first * self.min_new_token_ratio_factor
  local decay = (first - last) / self.new_token_ratio_decay_steps
  return math.max(last, self.base - decay * (decode_steps - self.since))
end

--- The limit of an answer, which the engine cuts to what the longest request leaves (max_req_len).
function Sglang:max_new_tokens(request)
  local limit, longest = request.max_output_tokens or self.default_max_new_tokens, self.longest
  return longest and math.max(0, math.min(limit, longest - request.prompt_tokens)) or limit
end

--- Tokens that a request may still generate and that count for the reserve.
function Sglang:reserve_of(request)
  local left = self:max_new_tokens(request) - request.emitted_tokens
  return math.max(0, math.min(left, self.clip_max_new_tokens))
end

--- Tokens that a request reserves in the step that admits it: all of its output.
function Sglang:whole_reserve_of(request)
  return math.min(self:max_new_tokens(request), self.clip_max_new_tokens)
end

-- Prefill -----------------------------------------------------------------------------------------

local function paged(tokens, replica)
  local page = replica.block_size
  return math.ceil(tokens / page) * page
end

--- What one prefill step may still take, as SGLang's PrefillAdder. `reserved` counts the free tokens that running
--- requests will need.
function Sglang:budgets(replica, chunked)
  local ratio, reserved = self:ratio(replica.decode_steps), 0
  local running = replica:running()
  for i = 1, #running do
    if running[i] ~= chunked then reserved = reserved + self:reserve_of(running[i]) end
  end
  local mixed = self.enable_mixed_chunk and replica.decodes or 0
  local mixed_blocks = mixed > 0 and replica.decode_blocks or 0
  return {
    reserved = reserved * ratio + mixed_blocks * replica.block_size,
    input = self.max_prefill_tokens - mixed,
    chunk = self.chunked_prefill_size - mixed,
    taken = 0,
  }
end

--- Books one more request. `reserve` is all of its output if its whole prompt is in the step, else 0.
function Sglang:book(budgets, replica, tokens, reserve)
  local pages = paged(tokens, replica)
  budgets.reserved = budgets.reserved + reserve
  budgets.input, budgets.chunk = budgets.input - pages, budgets.chunk - pages
  budgets.taken = budgets.taken + 1
end

--- Continues the request whose prompt was cut; it goes first. False: blocks are missing.
function Sglang:continue_chunked(request, ordered, budgets, replica, plan)
  local pending = request.pending_tokens
  local most = order.chunk_limit(self, request, ordered, budgets.chunk, replica.block_size)
  local tokens = math.min(pending, math.max(most, 1))
  budgets.cut = tokens < pending
  local reserve = 0
  if tokens == pending then reserve = self:whole_reserve_of(request) end
  if not plan:prefill(request, tokens) then return false end
  self:book(budgets, replica, tokens, reserve)
  return true
end

--- Tries to admit one request. True: the step has room to try the next one.
function Sglang:add_one(request, budgets, replica, plan)
  local page = replica.block_size
  local pending = request.pending_tokens
  local pages, output = paged(pending, replica), self:reserve_of(request)
  local needed = budgets.reserved + output + page
  if pages + needed > replica.free_tokens - replica.seat_blocks * page then
    self.full = true
    return false
  end
  if pages >= budgets.input and budgets.taken > 0 then return false end
  local tokens, reserve = pending, self:whole_reserve_of(request)
  if pages > budgets.chunk then
    if budgets.cut then return false end
    tokens, reserve = math.floor(budgets.chunk / page) * page, 0
    if tokens <= 0 then return false end
  end
  -- Checked again in blocks: cached blocks without a user count as free until they are taken.
  local spare = math.ceil(needed / page)
  if not plan:admit(request, tokens, 0, request.sequence_tokens, spare) then
    self.full = true
    return false
  end
  self:book(budgets, replica, tokens, reserve)
  if replica.free_tokens - budgets.reserved <= 0 then
    self.full = true
    return false
  end
  return budgets.input > 0 and budgets.chunk > 0
end

--- Whether the scheduler has looked for new requests since this one arrived.
function Sglang:has_received(request) return request.arrival_s <= self.received_s end

--- Looks for new requests, when it is time. Requests that it has not seen wait; the plan is asked again in the next
--- step.
function Sglang:receive(replica, plan)
  local due = self.received_at == nil or replica.decodes == 0 or self.prefilled
    or replica.decode_steps - self.received_at >= self.scheduler_recv_interval
  if due then self.received_s, self.received_at = replica.now_s, replica.decode_steps end
  local waiting = replica:waiting()
  if #waiting > 0 and not self:has_received(waiting[#waiting]) then plan:wake_at(replica.now_s + 1e-9) end
end

--- With drafts SGLang has fewer seats, and no steps of prompts and decodes.
function Sglang:most_seqs(replica)
  if not replica.speculates then return self.max_num_seqs end
  if self.enable_mixed_chunk then
    error("sglang.enable_mixed_chunk: SGLang turns it off with speculation; leave one of the two out", 0)
  end
  if self.max_speculative_seqs == 0 then return self.max_num_seqs end
  return math.min(self.max_num_seqs, self.max_speculative_seqs)
end

function Sglang:prefill_first(replica, plan)
  local waiting, chunked = replica:waiting(), replica:prefilling()[1]
  if (self.full or #waiting == 0) and not chunked then return end
  local others = replica.seats - (chunked and 1 or 0)
  local budgets = self:budgets(replica, chunked)
  local ordered, most = order.of(self, replica, chunked), self:most_seqs(replica)
  if chunked and not self:continue_chunked(chunked, ordered, budgets, replica, plan) then return end
  local count = #waiting
  for i = 1, count do
    if others + budgets.taken >= most then
      self.full = true
      return
    end
    local request = ordered and ordered[i].request or waiting[1]
    if self.received_s and not self:has_received(request) then return end
    if not self:add_one(request, budgets, replica, plan) then return end
  end
end

-- Decode ------------------------------------------------------------------------------------------

--- The request to retract: fewest generated tokens, then the longest prompt, then the last in the list.
local function to_retract(replica)
  local running, worst = replica:running(), nil
  for i = 1, #running do
    local request = running[i]
    if request.phase == "decode" then
      local less = worst and request.emitted_tokens - worst.emitted_tokens or -1
      if less < 0 or (less == 0 and request.prompt_tokens >= worst.prompt_tokens) then
        worst = request
      end
    end
  end
  return worst
end

--- Retracts requests until each remaining one has room for a token; at least one remains.
function Sglang:retract(replica, plan)
  while replica.decodes > 1 and replica.decode_blocks > replica.free_blocks do
    plan:preempt(to_retract(replica))
  end
  local running, generated, limits = replica:running(), 0, 0
  for i = 1, #running do
    if running[i].phase == "decode" then
      generated = generated + running[i].emitted_tokens
      limits = limits + self:max_new_tokens(running[i])
    end
  end
  local ahead = generated + self.retract_decode_steps * replica.decodes
  self:set_ratio(math.min(1, ahead / (limits + 1)), replica.decode_steps)
end

--- Decodes without lowering new_token_ratio.
function Sglang:decode_without_decay(replica, plan)
  if replica.decodes == 0 or replica.decode_blocks > replica.free_blocks then return end
  plan:decode_all()
  self.since = self.since + 1
end

function Sglang:decode_rest(replica, plan)
  if replica.decode_blocks <= replica.free_blocks then
    plan:decode_all()
  else
    self:retract(replica, plan)
    self:decode_without_decay(replica, plan)
  end
end

--- Whether prompts wait for running requests to decode. Ranks that step together count the same steps.
function Sglang:defers_prompts(replica)
  local interval = self.prefill_decode_interval
  if interval == 0 or replica.decodes == 0 then return false end
  if replica.group_ranks > 1 then return replica.group_steps % (interval + 1) ~= 0 end
  return self.prompts_at ~= nil and replica.decode_steps - self.prompts_at < interval
end

--- A step without prompts; those that wait are asked for again in the next one.
function Sglang:decode_first(replica, plan)
  if #replica:waiting() > 0 or #replica:prefilling() > 0 then plan:wake_at(replica.now_s + 1e-9) end
end

---@param replica rooflua.Replica
---@param plan rooflua.Plan
function Sglang:plan(replica, plan)
  self.longest = replica.max_model_len
  local idle = replica.seats == 0 and #replica:waiting() == 0
  if idle or not self.base then self:set_ratio(self:initial_ratio(), replica.decode_steps) end
  if self.seats_before and replica.seats < self.seats_before then self.full = false end
  self.computed = self.computed or 0
  if self.schedule_policy == "hrrn" then order.note(self, replica:waiting()) end
  if self.scheduler_recv_interval > 1 then self:receive(replica, plan) end
  if self:defers_prompts(replica) then self:decode_first(replica, plan) else self:prefill_first(replica, plan) end
  self.prefilled = plan.tokens > 0
  if self.prefilled then self.prompts_at = replica.decode_steps end
  if plan.tokens == 0 then
    self:decode_rest(replica, plan)
  else
    if self.enable_mixed_chunk then self:decode_without_decay(replica, plan) end
    self.computed = self.computed + plan.tokens
  end
  self.seats_before = replica.seats + plan.preempted
end

return Sglang
