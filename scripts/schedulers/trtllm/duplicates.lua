--- Prompts that TensorRT-LLM passes over in a step because another prompt computes their next block: they hit it when
--- that prompt's context is over.
---
---     key of a prompt   its first full block that is not cached, with all in front of it
---     waits             a prompt before it in this step, or one that was cut in an earlier step, has the same key
---
--- Nothing waits without reuse of blocks, with layers that have windows of different sizes, or in a static batch.
--- Source: TensorRT-LLM cpp/tensorrt_llm/batch_manager/capacityScheduler.cpp, beneficialToSkip and
--- prefillWithChunkedContextsAlreadyExecuting; _torch/pyexecutor/scheduler/scheduler.py, PyCapacityScheduler.
local duplicates = {}

--- The blocks that prompts of earlier steps compute, as a set; nil: nothing waits.
---@param self schedulers.Trtllm
---@param replica rooflua.Replica
---@param contexts table of { request = }, these prompts
function duplicates.begun(self, replica, contexts)
  local is_relevant = replica.prefix_caching and replica.seat_blocks == 0
    and self.capacity_scheduler_policy ~= "static_batch"
  if not is_relevant then return nil end
  local begun = {}
  for _, each in ipairs(contexts) do
    if each.request.prefix ~= 0 then begun[replica:new_block(each.request)] = true end
  end
  begun[0] = nil
  return begun
end

--- Whether a request waits for a block; its own is begun if not.
---@param begun table<number, boolean>? what begun() returned
function duplicates.waits(begun, replica, request)
  if begun == nil or request.prefix == 0 then return false end
  local block = replica:new_block(request)
  if begun[block] then return true end
  begun[block] = block ~= 0 or nil
  return false
end

return duplicates
