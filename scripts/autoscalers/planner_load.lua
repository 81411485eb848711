--- Dynamo's load-based planner: one replica more or fewer per interval, by the waiting requests of a prefill replica or
--- the KV use of others.
local policy = require "rooflua.policy"

local source = "ai-dynamo/dynamo of 2025: components/planner/src/dynamo/planner/defaults.py, "
  .. "docs/architecture/load_planner.md"

---@class autoscalers.PlannerLoad: rooflua.Autoscaler
---@field watch string
---@field kv_up number
---@field kv_down number
---@field queue_up number
---@field queue_down number
---@field grace_intervals integer
---@field interval_s number
local PlannerLoad = policy.define {
  name = "planner_load",
  doc = "Dynamo's load-based planner: one replica more or fewer, by KV use or by waiting prompts.",
  source = source,
  params = {
    watch = { default = "kv", values = { "kv", "queue" },
      doc = "KV use (decode and aggregated workers), or waiting requests of a replica (prefill workers)." },
    kv_up = { default = 0.9, unit = "1", min = 0, max = 1, source = source .. ": decode_kv_scale_up_threshold",
      doc = "One more above this mean KV use.", idle = { watch = "queue" } },
    kv_down = { default = 0.5, unit = "1", min = 0, max = 1, source = source .. ": decode_kv_scale_down_threshold",
      doc = "One fewer below it.", idle = { watch = "queue" } },
    queue_up = { default = 5, unit = "requests", min = 0, source = source .. ": prefill_queue_scale_up_threshold",
      doc = "One more above so many waiting requests per replica.", idle = { watch = "kv" } },
    queue_down = { default = 0.2, unit = "requests", min = 0,
      source = source .. ": prefill_queue_scale_down_threshold", doc = "One fewer below it.", idle = { watch = "kv" } },
    grace_intervals = { default = 3, unit = "intervals", min = 0, integer = true,
      source = source .. ": NEW_DECODE_WORKER_GRACE_PERIOD", doc = "None goes so many intervals after one came." },
    interval_s = { default = 180, unit = "s", min = 0, exclusive_min = true,
      source = source .. ": adjustment_interval", doc = "It is asked so often." },
  },
}

local function load_of(self, pool)
  if self.watch == "kv" then return pool:mean("kv_used_frac", self.interval_s) or 0, self.kv_up, self.kv_down end
  local waiting = (pool:mean("waiting", self.interval_s) or 0) + (pool:mean("held", self.interval_s) or 0)
  return waiting / math.max(1, pool.ready), self.queue_up, self.queue_down
end

---@param pool rooflua.Pool
function PlannerLoad:scale(pool)
  local current = pool.wanted
  self.grace = math.max(0, (self.grace or 0) - 1)
  if pool.starting > 0 then return current end
  local load, up, down = load_of(self, pool)
  if load > up then
    self.grace = self.grace_intervals + 1
    return current + 1
  end
  if load < down and self.grace == 0 then return math.max(1, current - 1) end
  return current
end

return PlannerLoad
