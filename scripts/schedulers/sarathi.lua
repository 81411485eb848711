--- Sarathi-Serve: decodes never wait. Chunks of prompts get the tokens that decodes leave of the budget.
local policy = require "rooflua.policy"

---@class schedulers.Sarathi: rooflua.Scheduler
---@field max_num_seqs integer
---@field chunk_size integer
---@field watermark number
---@field enable_dynamic_chunking_schedule boolean
---@field low_chunk_size integer
---@field high_chunk_size integer
---@field chunk_schedule_max_tokens integer
---@field chunk_schedule_stages integer
local Sarathi = policy.define {
  name = "sarathi",
  doc = "Sarathi-Serve: stall-free batching. Decodes, then unfinished prefills, then new requests.",
  source = "Agrawal et al., Taming Throughput-Latency Tradeoff with Sarathi-Serve, OSDI 2024",
  params = {
    max_num_seqs = { default = 128, unit = "requests", min = 1, integer = true,
      doc = "Most requests that run at once (seats).", source = "Sarathi-Serve default" },
    chunk_size = { default = 512, unit = "tokens", min = 1, integer = true,
      doc = "Token budget of one step; decodes count, but are never held back.",
      source = "Sarathi-Serve paper, strict latency target; 2048 with the relaxed one",
      idle = { enable_dynamic_chunking_schedule = true } },
    watermark = { default = 0.01, unit = "1", min = 0, max = 1,
      doc = "Part of the blocks that admission leaves free.",
      source = "vLLM V0 block manager, which Sarathi-Serve uses" },
    enable_dynamic_chunking_schedule = { default = false,
      doc = "Replace chunk_size by a budget that falls with the computed part of a prompt." },
    low_chunk_size = { default = 128, unit = "tokens", min = 1, integer = true,
      doc = "Dynamic schedule: the budget of the last stage.", idle = { enable_dynamic_chunking_schedule = false } },
    high_chunk_size = { default = 1024, unit = "tokens", min = 1, integer = true,
      doc = "Dynamic schedule: the budget of the first stage.", idle = { enable_dynamic_chunking_schedule = false } },
    chunk_schedule_max_tokens = { default = 4096, unit = "tokens", min = 1, integer = true,
      doc = "Dynamic schedule: prompt tokens over which the budget falls.",
      idle = { enable_dynamic_chunking_schedule = false } },
    chunk_schedule_stages = { default = 16, unit = "stages", min = 2, integer = true,
      doc = "Dynamic schedule: number of different budgets.", idle = { enable_dynamic_chunking_schedule = false } },
  },
}

--- Token budget of the step for a prompt that has `context_tokens` computed.
function Sarathi:budget(context_tokens)
  if not self.enable_dynamic_chunking_schedule then return self.chunk_size end
  local stages, low, high = self.chunk_schedule_stages, self.low_chunk_size, self.high_chunk_size
  local stage = math.floor(context_tokens / math.ceil(self.chunk_schedule_max_tokens / stages))
  stage = math.min(stage, stages - 1)
  local size = math.floor(high + (low - high) * stage / (stages - 1))
  local unit = math.min(32, low)
  return math.floor(size / unit + 0.5) * unit
end

--- Tokens of a prompt that the step still has room for; 0 or less: none.
function Sarathi:chunk(request, context_tokens, plan)
  return math.min(request.pending_tokens, self:budget(context_tokens) - plan.tokens)
end

function Sarathi:continue_prefills(replica, plan)
  local prefilling = replica:prefilling()
  for i = 1, #prefilling do
    local request = prefilling[i]
    local tokens = self:chunk(request, request.context_tokens, plan)
    if tokens > 0 then plan:prefill(request, tokens) end
  end
end

--- Admits from the head of the queue. A request takes the blocks of its whole prompt at admission.
function Sarathi:admit_waiting(replica, plan)
  local waiting = replica:waiting()
  local keep_free = math.floor(self.watermark * replica.total_blocks)
  while #waiting > 0 and replica.seats < self.max_num_seqs do
    local request = waiting[1]
    local tokens = self:chunk(request, request.cached_tokens, plan)
    if tokens <= 0 then return end
    if not plan:admit(request, tokens, request.sequence_tokens, 0, keep_free) then return end
  end
end

---@param replica rooflua.Replica
---@param plan rooflua.Plan
function Sarathi:plan(replica, plan)
  plan:decode_all()
  self:continue_prefills(replica, plan)
  if plan.preempted == 0 then self:admit_waiting(replica, plan) end
end

return Sarathi
