--- vLLM V1 with policy = "priority": the request with the smallest (priority, arrival) is admitted first, the
--- one with the largest is preempted first.
local policy = require "rooflua.policy"
local VllmV1 = require "schedulers.vllm_v1"

---@class schedulers.Priority: schedulers.VllmV1
local Priority = policy.define {
  name = "priority",
  doc = "vLLM V1 with priorities: the lowest number runs first, ties by arrival; the highest is preempted first.",
  source = "vLLM v1/core/sched/scheduler.py, SchedulingPolicy.PRIORITY",
  extends = VllmV1,
}

---@param request rooflua.Request
function Priority:key(request)
  return request.priority
end

---@param replica rooflua.Replica
function Priority:victim(replica)
  local running = replica:running()
  local worst = running[1]
  for i = 2, #running do
    local candidate = running[i]
    if candidate.priority > worst.priority
      or (candidate.priority == worst.priority and candidate.arrival_s > worst.arrival_s) then
      worst = candidate
    end
  end
  return worst
end

return Priority
