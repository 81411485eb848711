--- TensorRT-LLM's balance of prompts among the ranks of attention data parallelism (attention_dp_config). Prompts of
--- one rank alone make all others wait, so that they are held until every rank has one.
---
---     every rank has a prompt and a free seat   run them; while all ranks decode, first collect more for
---                                               batching_wait_iters steps
---     else                                      hold them, for timeout_iters steps or until a rank has no decode
---
--- All ranks see the same numbers and count the same steps, so that they hold and release together. The numbers are
--- those before the plans of the step; TensorRT-LLM exchanges those of the plans.
--- Source: TensorRT-LLM _torch/pyexecutor/py_executor.py, _balance_adp_requests.
local balance = {}

local function decide(self, replica)
  local ranks = replica.group_ranks
  local decoding = replica.group_decode_ranks == ranks
  if replica.group_prompt_ranks == ranks and replica.group_open_ranks == ranks then
    self.held_steps = 0
    if decoding and (self.collected_steps or 0) < self.attention_dp_batching_wait_iters then
      self.collected_steps = (self.collected_steps or 0) + 1
      return true
    end
    self.collected_steps = 0
    return false
  end
  self.held_steps = (self.held_steps or 0) + 1
  if decoding and self.held_steps < self.attention_dp_timeout_iters then return true end
  self.held_steps = 0
  return false
end

--- Whether the prompts of a rank are held in this step. A rank that decodes asks for its next plan, too, because each
--- rank counts every step.
--- @param self schedulers.Trtllm
--- @param replica rooflua.Replica
--- @param plan rooflua.Plan
function balance.holds(self, replica, plan)
  if not self.attention_dp_balance or replica.group_ranks == 1 then return false end
  if replica.decodes > 0 then plan:wake_at(replica.now_s + 1e-9) end
  if self.balanced_step ~= replica.group_steps then -- else it is asked again in the same step
    self.balanced_step, self.holding = replica.group_steps, decide(self, replica)
  end
  return self.holding
end

return balance
