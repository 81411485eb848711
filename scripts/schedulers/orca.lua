--- Orca: iteration-level scheduling. Every step runs all decodes and every whole prompt that fits. A request
--- takes memory for its longest possible sequence at admission. It is preempted only if its answer grows
--- beyond that.
local policy = require "rooflua.policy"

---@class schedulers.Orca: rooflua.Scheduler
---@field max_num_seqs integer
---@field max_output_tokens integer
local Orca = policy.define {
  name = "orca",
  doc = "Orca: whole prompts mixed with decodes in every step, KV reserved for the maximum.",
  source = "Yu et al., Orca: A Distributed Serving System for Generative Models, OSDI 2022",
  params = {
    max_num_seqs = { default = 128, unit = "requests", min = 1, integer = true,
      doc = "Most requests that run at once (seats)." },
    max_output_tokens = { default = 2048, unit = "tokens", min = 1, integer = true,
      doc = "Output reserved for a request that declares no limit." },
  },
}

--- The parameter by which answers without a declared limit are reserved.
function Orca:reserves_by() return "max_output_tokens" end

---@param replica rooflua.Replica
---@param plan rooflua.Plan
function Orca:plan(replica, plan)
  plan:decode_all()
  if plan.preempted > 0 then return end
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

return Orca
