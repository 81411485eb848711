-- Parameters that policies of several files share: what a gate's signals are, and how its queue is ordered.
local queue = {}

local fairness = "llm-d/llm-d-router pkg/epp/framework/plugins/flowcontrol/fairness"

local rejects = { full = "reject" } -- nothing is held
local no_service = { fair = { "global", "round_robin" } }
local no_deadlines = { "no deadlines", deadline_s = 0, slo_deadline = false }
local one_flow = { { "one tenant", flow = "tenant" }, { "one program", flow = "program" },
  { "one session", flow = "session" }, { "one class", flow = "class" } }

--- Cases, those of one flow after them.
local function flows(...)
  local out = { ... }
  for _, case in ipairs(one_flow) do out[#out + 1] = case end
  return out
end

local declared = {
  staleness_s = { default = 0, unit = "s", min = 0,
    doc = "How old the load of replicas may be: it is read at 0, s, 2s, .. and holds in between." },
  credit = { default = false,
    doc = "Whether what passed since the load was read counts as waiting at the replica where it was sent. It changes "
      .. "nothing where staleness_s is 0." },
  interval_s = { default = 0, unit = "s", min = 0,
    doc = "A held request may pass at multiples of this, or when one comes; 0: whenever something changes.",
    idle = rejects },
  most = { default = 0, unit = "requests", min = 0, integer = true,
    doc = "Held requests that pass each time; 0: as many as may. Needs interval_s.",
    idle = rejects },
  queue_threshold = { default = 5, unit = "requests", min = 1e-9,
    doc = "Waiting requests at which a replica is saturated.",
    source = "llm-d/llm-d-router saturationdetector/utilization/config.go, 0.9 (queueDepthThreshold = 5)" },
  kv_threshold = { default = 0.8, unit = "1", min = 1e-9, max = 1,
    doc = "Share of KV in use at which a replica is saturated.",
    source = "llm-d/llm-d-router saturationdetector/utilization/config.go, 0.9 (kvCacheUtilThreshold = 0.8)" },
  deadline_s = { default = 0, unit = "s", min = 0,
    doc = "So long after it was sent a request without a deadline of its own expires while it is held; 0: never.",
    idle = { full = "reject", expire_queued = false } },
  slo_deadline = { default = false,
    doc = "Whether the ttft_s of the scenario's slo, of a request's class or of all, is the deadline of requests "
      .. "without one.",
    idle = { full = "reject", expire_queued = false } },
  expire_queued = { default = false,
    doc = "Whether a deadline ends requests that wait for their first seat at a replica, too.",
    idle = no_deadlines },
  flow = { default = "tenant", values = { "tenant", "program", "session", "class", "request" },
    doc = "Which held requests share a flow. Requests that state none share one.",
    idle = { rejects, { fair = "global" } } },
  fair = { default = "global", values = { "global", "round_robin", "vtc", "las" },
    doc = "Which flow of a band goes next. global: that of the first request; round_robin: in turn; vtc: the one with "
      .. "the least service, where a flow that had nothing to send has no claim to what it did not use; las: the one "
      .. "with the least service.",
    source = "global, round_robin, las: " .. fairness .. ", 0.9; vtc: arXiv 2401.00588, algorithm 2",
    idle = flows(rejects) },
  order = { default = "fcfs", values = { "fcfs", "edf" },
    doc = "Which request of a flow goes next: the one that came first, or the one with the earliest deadline.",
    source = "llm-d/llm-d-router pkg/epp/framework/plugins/flowcontrol/ordering, 0.9",
    idle = { rejects, no_deadlines } },
  count = { default = "generated", values = { "generated", "estimate", "end" },
    doc = "When output counts as service: as it is generated; by an estimate when the request passes, corrected at its "
      .. "end; or at its end, together with its prompt.",
    source = "generated: arXiv 2401.00588, algorithm 2; end: llm-d strategy_las.go (OnCompleted)",
    idle = flows(rejects, no_service) },
  estimate_tokens = { default = 256, unit = "tokens", min = 0,
    doc = "Output of a request for count = \"estimate\", where neither client nor predictor tells.",
    idle = flows(rejects, no_service, { count = { other_than = "estimate" } }) },
  prompt_weight = { default = 1, unit = "1", min = 0, doc = "Service of a token of a prompt.",
    source = "arXiv 2401.00588, section 5; llm-d strategy_las.go (weightInputToken = 1)",
    idle = flows(rejects, no_service) },
  output_weight = { default = 2, unit = "1", min = 0, doc = "Service of a token of output.",
    source = "arXiv 2401.00588, section 5; llm-d strategy_las.go (weightOutputToken = 2)",
    idle = flows(rejects, no_service) },
  half_life_s = { default = 0, unit = "s", min = 0,
    doc = "All service so far is halved at multiples of this; 0: never.",
    idle = flows(rejects, no_service) },
  max_held = { default = 0, unit = "requests", min = 0, integer = true,
    doc = "Requests that a band holds; one more is refused. 0: no limit.",
    idle = rejects },
  max_held_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
    doc = "Tokens of prompts that a band holds; a prompt that does not fit is refused. 0: no limit.",
    idle = rejects },
}

queue.signals = { "staleness_s", "credit", "queue_threshold", "kv_threshold" }
queue.waiting = { "deadline_s", "slo_deadline", "expire_queued", "max_held", "max_held_tokens" }
queue.order = { "flow", "fair", "order", "count", "estimate_tokens", "prompt_weight", "output_weight", "half_life_s" }
queue.clock = { "interval_s", "most" }

--- The cases that name parameters of the policy alone; nil where there are none.
local function known_cases(cases, params)
  local out = {}
  for _, case in ipairs(cases and cases[1] and type(cases[1]) == "table" and cases or { cases }) do
    local is_known = true
    for name in pairs(case) do
      is_known = is_known and (type(name) == "number" or name == "why" or params[name] ~= nil)
    end
    if is_known then out[#out + 1] = case end
  end
  return #out > 0 and out or nil
end

--- Those parameters of these lists besides a policy's own; `changed` has other defaults and sources.
---@param own table
---@param changed table<string, table>?
---@param ... string[]
function queue.with(own, changed, ...)
  local out = {}
  for _, names in ipairs { ... } do
    for _, name in ipairs(names) do
      out[name] = {}
      for key, value in pairs(declared[name]) do out[name][key] = value end
      for key, value in pairs(changed and changed[name] or {}) do out[name][key] = value end
    end
  end
  for name, each in pairs(own) do out[name] = each end
  for _, each in pairs(out) do each.idle = known_cases(each.idle, out) end
  return out
end

return queue
