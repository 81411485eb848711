--- llm-d's workload variant autoscaler, by saturation: one replica more where those that are not saturated have little
--- left on average; one fewer where the others could carry its load and have enough left.
local policy = require "rooflua.policy"

local source = "llm-d/llm-d-workload-variant-autoscaler docs/saturation-scaling-config.md, "
  .. "docs/saturation-analyzer.md"

---@class autoscalers.Wva: rooflua.Autoscaler
---@field kv_threshold number
---@field queue_threshold number
---@field kv_spare_trigger number
---@field queue_spare_trigger number
---@field interval_s number
local Wva = policy.define {
  name = "wva",
  doc = "llm-d's workload variant autoscaler, by spare KV and spare queue of replicas that are not saturated.",
  source = source,
  params = {
    kv_threshold = { default = 0.8, unit = "1", min = 0, max = 1, source = source .. ": kvCacheThreshold",
      doc = "A replica with so much of its KV in use is saturated." },
    queue_threshold = { default = 5, unit = "requests", min = 0, source = source .. ": queueLengthThreshold",
      doc = "A replica with so many waiting requests is saturated." },
    kv_spare_trigger = { default = 0.1, unit = "1", min = 0, max = 1, source = source .. ": kvSpareTrigger",
      doc = "One more where less KV than this is left below the threshold, on average." },
    queue_spare_trigger = { default = 3, unit = "requests", min = 0, source = source .. ": queueSpareTrigger",
      doc = "One more where fewer requests than this are left below the threshold, on average." },
    interval_s = { default = 60, unit = "s", min = 0, exclusive_min = true,
      doc = "It is asked so often; assumed." },
  },
}

--- Replicas that are not saturated, and what they have in use.
local function unsaturated(self, replicas)
  local count, kv, queue = 0, 0, 0
  for _, each in ipairs(replicas) do
    if each.kv_used_frac < self.kv_threshold and each.waiting < self.queue_threshold then
      count, kv, queue = count + 1, kv + each.kv_used_frac, queue + each.waiting
    end
  end
  return count, kv, queue
end

local function has_spare(self, count, kv, queue)
  return self.kv_threshold - kv / count >= self.kv_spare_trigger
    and self.queue_threshold - queue / count >= self.queue_spare_trigger
end

---@param pool rooflua.Pool
function Wva:scale(pool)
  local current = pool.wanted
  if pool.starting > 0 then return current end -- no further one while some are pending
  local count, kv, queue = unsaturated(self, pool:replicas())
  if count == 0 or not has_spare(self, count, kv, queue) then return current + 1 end
  if count >= 2 and has_spare(self, count - 1, kv, queue) then return math.max(current - 1, 1) end
  return current
end

return Wva
