--- vLLM V0: prompts first, whole, in a step of their own; otherwise every running request decodes.
local policy = require "rooflua.policy"

---@class schedulers.VllmV0: rooflua.Scheduler
---@field max_num_seqs integer
---@field max_num_batched_tokens integer
---@field watermark number
local VllmV0 = policy.define {
  name = "vllm_v0",
  doc = "vLLM V0: prefill-priority, whole prompts, no mixing of prefill and decode.",
  source = "vLLM core/scheduler.py, releases 0.2 to 0.6, chunked prefill off",
  params = {
    max_num_seqs = { default = 256, unit = "requests", min = 1, doc = "Seats.", source = "vLLM V0 default" },
    max_num_batched_tokens = { default = 8192, unit = "tokens", min = 1, doc = "Prompt tokens of one prefill step; a longer prompt never runs.", source = "vLLM V0 requires it >= max_model_len" },
    watermark = { default = 0.01, unit = "1", min = 0, max = 1, doc = "Part of the blocks that admission leaves free.", source = "vLLM V0 block manager" },
  },
}

---@param replica rooflua.Replica
---@param plan rooflua.Plan
function VllmV0:plan(replica, plan)
  local waiting = replica:waiting()
  local keep_free = math.floor(self.watermark * replica.total_blocks)
  while #waiting > 0 and replica.seats < self.max_num_seqs do
    local request = waiting[1]
    local tokens = request.pending_tokens
    if plan.tokens + tokens > self.max_num_batched_tokens then break end
    if not plan:admit(request, tokens, 0, 0, keep_free) then break end
  end
  if plan.tokens == 0 then plan:decode_all() end
end

return VllmV0
