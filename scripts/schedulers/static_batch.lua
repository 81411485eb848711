--- FasterTransformer: request-level scheduling. A batch runs until its last request is done; only then the
--- next batch is formed.
local policy = require "rooflua.policy"

---@class schedulers.StaticBatch: rooflua.Scheduler
---@field max_num_seqs integer
---@field max_output_tokens integer
local StaticBatch = policy.define {
  name = "static_batch",
  doc = "Static batching: a new batch is admitted only when the old one is empty.",
  source = "FasterTransformer, as modelled by Sarathi-Serve's baseline",
  params = {
    max_num_seqs = { default = 8, unit = "requests", min = 1, integer = true, doc = "Batch size." },
    max_output_tokens = { default = 2048, unit = "tokens", min = 1, integer = true,
      doc = "Output reserved for a request that declares no limit." },
  },
}

--- The parameter by which answers without a declared limit are reserved.
function StaticBatch:reserves_by() return "max_output_tokens" end

---@param replica rooflua.Replica
---@param plan rooflua.Plan
function StaticBatch:plan(replica, plan)
  if replica.seats > 0 then
    plan:decode_all()
    return
  end
  local waiting = replica:waiting()
  local most = (replica.total_blocks - replica.seat_blocks) * replica.block_size
  while #waiting > 0 and replica.seats < self.max_num_seqs do
    local request = waiting[1]
    local longest = request.prompt_tokens + (request.max_output_tokens or self.max_output_tokens)
    if longest > most then
      plan:reject(request, ("the prompt and the output that is reserved for it (max_output_tokens) are longer than the "
        .. "%d tokens of the KV cache"):format(most))
    elseif not plan:admit(request, request.pending_tokens, longest) then
      return
    end
  end
end

return StaticBatch
