--- Sarathi-Serve: decodes never wait; what is left of the token budget goes to prompt chunks.
local policy = require "rooflua.policy"

---@class schedulers.Sarathi: rooflua.Scheduler
---@field max_num_seqs integer
---@field chunk_size integer
---@field watermark number
local Sarathi = policy.define {
  name = "sarathi",
  doc = "Sarathi-Serve: stall-free batching. Decodes, then unfinished prefills, then new requests, in one budget.",
  source = "Agrawal et al., Taming Throughput-Latency Tradeoff in LLM Inference with Sarathi-Serve, OSDI 2024",
  params = {
    max_num_seqs = { default = 128, unit = "requests", min = 1, doc = "Seats.", source = "Sarathi-Serve default" },
    chunk_size = { default = 512, unit = "tokens", min = 1, doc = "Token budget of one step.", source = "Sarathi-Serve, the paper's relaxed setting is 2048" },
    watermark = { default = 0.01, unit = "1", min = 0, max = 1, doc = "Part of the blocks that admission leaves free.", source = "vLLM V0 block manager, which it inherits" },
  },
}

---@param replica rooflua.Replica
---@param plan rooflua.Plan
function Sarathi:plan(replica, plan)
  if replica.decodes <= self.chunk_size then plan:decode_all() else plan:decode_all(self.chunk_size) end
  local prefilling = replica:prefilling()
  for i = 1, #prefilling do
    local left = self.chunk_size - plan.tokens
    if left <= 0 then return end
    local request = prefilling[i]
    plan:prefill(request, math.min(request.pending_tokens, left))
  end
  if plan.preempted > 0 then return end
  local waiting = replica:waiting()
  local keep_free = math.floor(self.watermark * replica.total_blocks)
  while #waiting > 0 and plan.tokens < self.chunk_size and replica.seats < self.max_num_seqs do
    local request = waiting[1]
    local pending = request.pending_tokens
    local tokens = math.min(pending, self.chunk_size - plan.tokens)
    -- Blocks for the whole prompt are taken at admission.
    if not plan:admit(request, tokens, request.sequence_tokens, 0, keep_free) then return end
  end
end

return Sarathi
