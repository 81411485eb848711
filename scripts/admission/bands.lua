--- llm-d's flow control: every request is held, by priority and flow, and goes while the replicas are not saturated.
local policy = require "rooflua.policy"
local queue = require "admission.shared.queue"

---@class admission.Bands: rooflua.Admission
---@field detector string
---@field limit number
---@field min_ceiling number
---@field max_concurrency integer
---@field max_tokens integer
---@field priorities integer[]? that have had requests
local Bands = policy.define {
  name = "bands",
  doc = "Requests wait in bands by priority, in each a queue per flow. The highest band goes first, and one request "
    .. "goes when one comes and every interval_s, while the saturation is below the band's ceiling.",
  source = "llm-d/llm-d-router pkg/epp/flowcontrol/controller/internal/processor.go, 0.9 (plug-ins of "
    .. "pkg/epp/framework/plugins/flowcontrol)",
  signals = { "waiting", "kv_used_frac" },
  params = queue.with({
    detector = { default = "utilization", values = { "utilization", "concurrency", "tokens" },
      doc = "What saturation is: of queues and KV, as old as staleness_s; or the requests, or tokens, that passed and "
        .. "have not ended, over what all replicas may have.",
      source = "llm-d utilization-detector (default) and concurrency-detector" },
    limit = { default = 1, unit = "1", min = 1e-9, doc = "Ceiling of the highest band.",
      source = "llm-d usagelimits (static: 1)" },
    min_ceiling = { default = 1, unit = "1", min = 1e-9,
      doc = "Ceiling of the lowest band that has had requests; those between are spaced evenly by rank.",
      source = "llm-d priority-holdback-policy, domain rank, after 0.9; 1 is the static policy",
      idle = { "one priority" } },
    max_concurrency = { default = 100, unit = "requests", min = 1, integer = true,
      doc = "Of detector = \"concurrency\".",
      source = "llm-d maxConcurrency = 100", idle = { detector = { other_than = "concurrency" } } },
    max_tokens = { default = 1000000, unit = "tokens", min = 1, integer = true, doc = "Of detector = \"tokens\".",
      source = "llm-d maxTokenConcurrency = 1000000", idle = { detector = { other_than = "tokens" } } },
  }, {
    staleness_s = { default = 0.05, source = "llm-d scrapes every 50 ms" },
    interval_s = { default = 0.001, source = "llm-d processor.go: a ticker of 1 ms" },
    most = { default = 1, source = "llm-d processor.go: a cycle dispatches one request" },
  }, queue.signals, queue.clock, queue.waiting, queue.order),
  presets = {
    -- The commit of 2026-08-22, after 0.9: budgets of waiting and of requests are bounded by default.
    llm_d_next = { deadline_s = 60, max_held = 5000 },
    vtc = { fair = "vtc" },
    edf = { order = "edf" },
  },
}

--- The priority is among those that have had requests, the highest first.
function Bands:note(priority)
  local known = self.priorities or {}
  for _, each in ipairs(known) do
    if each == priority then return end
  end
  known[#known + 1] = priority
  table.sort(known)
  self.priorities = known
end

---@param request rooflua.Request
function Bands:admit(request)
  if self.min_ceiling ~= self.limit then self:note(request.priority) end
  return "hold"
end

function Bands:saturation_of(view)
  if self.detector == "utilization" then return view.saturation end
  if self.detector == "concurrency" then return view.in_flight / (self.max_concurrency * view.ready) end
  return view.in_flight_tokens / (self.max_tokens * view.ready)
end

--- Of the band of this priority.
function Bands:ceiling_of(priority)
  local known = self.priorities
  for i, each in ipairs(known) do
    if each == priority and i > 1 then return self.limit - (self.limit - self.min_ceiling) * (i - 1) / (#known - 1) end
  end
  return self.limit
end

---@param request rooflua.Request
---@param view rooflua.GateView
function Bands:next(request, view)
  local ceiling = self.limit
  if self.min_ceiling ~= self.limit then ceiling = self:ceiling_of(request.priority) end
  return self:saturation_of(view) < ceiling
end

return Bands
