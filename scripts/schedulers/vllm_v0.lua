--- vLLM V0: prompts first, whole, in a step of their own; otherwise every running request decodes.
local policy = require "rooflua.policy"

---@class schedulers.VllmV0: rooflua.Scheduler
---@field max_num_seqs integer
---@field max_num_batched_tokens integer
---@field watermark number
local VllmV0 = policy.define {
  name = "vllm_v0",
  doc = "vLLM V0: prefill-priority, whole prompts, no mixing of prefill and decode.",
  source = "vLLM core/scheduler.py, releases 0.2 to 0.6, chunked prefill off (on: see sarathi)",
  -- A decode waits for a free block even if it needs none, so a plan kept from the last step can become wrong.
  every_step = true,
  params = {
    max_num_seqs = { default = 256, unit = "requests", min = 1, integer = true,
      doc = "Most requests that run at once (seats).", source = "vLLM V0 default" },
    max_num_batched_tokens = { default = 8192, unit = "tokens", min = 1, integer = true,
      doc = "Prompt tokens of one prefill step; a longer prompt is rejected.",
      source = "vLLM V0 requires it >= max_model_len" },
    watermark = { default = 0.01, unit = "1", min = 0, max = 1,
      doc = "Part of the blocks that admission leaves free.", source = "vLLM V0 block manager" },
  },
}

--- Why vLLM does not start for requests of so many tokens; nil where it does. A budget that is not stated follows from
--- their length there. Source: vllm/config.py, SchedulerConfig, releases 0.2 to 0.7.
function VllmV0:start_problem(max_model_len)
  local stated = policy.is_given(self, "max_num_batched_tokens")
  if not stated or self.max_num_batched_tokens >= max_model_len then return nil end
  return ("vLLM does not start: it does not cut prompts, and max_num_batched_tokens = %d is less than "
    .. "max_model_len = %d"):format(self.max_num_batched_tokens, max_model_len)
end

--- Whole prompts from the head of the queue.
function VllmV0:admit_waiting(replica, plan)
  local waiting = replica:waiting()
  local keep_free = math.floor(self.watermark * replica.total_blocks)
  while #waiting > 0 and replica.seats < self.max_num_seqs do
    local request = waiting[1]
    local tokens = request.pending_tokens
    local blocks = math.ceil(request.sequence_tokens / replica.block_size) + replica.seat_blocks
    if tokens > self.max_num_batched_tokens then
      plan:reject(request, ("the prompt is longer than max_num_batched_tokens = %d, and prompts are not cut"):format(
        self.max_num_batched_tokens))
    elseif blocks + keep_free > replica.total_blocks then
      plan:reject(request, ("the prompt needs more KV blocks than watermark = %g leaves of %d"):format(self.watermark,
        replica.total_blocks))
    elseif plan.tokens + tokens > self.max_num_batched_tokens
      or not plan:admit(request, tokens, 0, 0, keep_free) then
      return
    end
  end
end

local function earlier(a, b)
  if a.arrival_s ~= b.arrival_s then return a.arrival_s < b.arrival_s end
  return a.id < b.id
end

--- Decodes in order of arrival. A request decodes only while a block is free, even if it needs none. While no
--- block is free, the latest arrival that has not decoded in this step is preempted.
function VllmV0:decode_by_arrival(replica, plan)
  local running, queue = replica:running(), {}
  for i = 1, #running do
    if running[i].phase == "decode" then queue[#queue + 1] = running[i] end
  end
  table.sort(queue, earlier)
  local first, last = 1, #queue
  while first <= last do
    if replica.free_blocks == 0 then
      plan:preempt(queue[last])
      last = last - 1
    else
      plan:decode(queue[first])
      first = first + 1
    end
  end
end

---@param replica rooflua.Replica
---@param plan rooflua.Plan
function VllmV0:plan(replica, plan)
  self:admit_waiting(replica, plan)
  if plan.tokens > 0 then return end
  if replica.free_blocks > replica.decode_blocks then
    plan:decode_all()
  else
    self:decode_by_arrival(replica, plan)
  end
end

return VllmV0
