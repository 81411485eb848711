-- Parameters that policies of several files share: what a gate's signals are, and how its queue is ordered.
local queue = {}

local fairness = "llm-d/llm-d-router pkg/epp/framework/plugins/flowcontrol/fairness"

local declared = {
  staleness_s = { default = 0, unit = "s", min = 0,
    doc = "How old the load of replicas may be: it is read at 0, s, 2s, .. and holds in between." },
  credit = { default = false,
    doc = "Whether what passed since the load was read counts as waiting at the replica where it was sent. It changes "
      .. "nothing where staleness_s is 0." },
  interval_s = { default = 0, unit = "s", min = 0,
    doc = "A held request may pass at multiples of this, or when one comes; 0: whenever something changes." },
  most = { default = 0, unit = "requests", min = 0, integer = true,
    doc = "Held requests that pass each time; 0: as many as may. Needs interval_s." },
  queue_threshold = { default = 5, unit = "requests", min = 1e-9,
    doc = "Waiting requests at which a replica is saturated.",
    source = "llm-d/llm-d-router saturationdetector/utilization/config.go, 0.9 (queueDepthThreshold = 5)" },
  kv_threshold = { default = 0.8, unit = "1", min = 1e-9, max = 1,
    doc = "Share of KV in use at which a replica is saturated.",
    source = "llm-d/llm-d-router saturationdetector/utilization/config.go, 0.9 (kvCacheUtilThreshold = 0.8)" },
  deadline_s = { default = 0, unit = "s", min = 0,
    doc = "So long after it was sent a request without a deadline of its own expires while it is held; 0: never." },
  slo_deadline = { default = false,
    doc = "Whether the ttft_s of the scenario's slo, of a request's class or of all, is the deadline of requests "
      .. "without one." },
  expire_queued = { default = false,
    doc = "Whether a deadline ends requests that wait for their first seat at a replica, too." },
  flow = { default = "tenant", values = { "tenant", "program", "session", "class", "request" },
    doc = "Which held requests share a flow. Requests of which nobody says it share one." },
  fair = { default = "global", values = { "global", "round_robin", "vtc", "las" },
    doc = "Which flow of a band goes next. global: that of the first request; round_robin: in turn; vtc: the one with "
      .. "the least service, where a flow that had nothing to send has no claim to what it did not use; las: the one "
      .. "with the least service.",
    source = "global, round_robin, las: " .. fairness .. ", 0.9; vtc: arXiv 2401.00588, algorithm 2" },
  order = { default = "fcfs", values = { "fcfs", "edf" },
    doc = "Which request of a flow goes next: the one that came first, or the one with the earliest deadline.",
    source = "llm-d/llm-d-router pkg/epp/framework/plugins/flowcontrol/ordering, 0.9" },
  count = { default = "generated", values = { "generated", "estimate", "end" },
    doc = "When output counts as service: as it is generated; by an estimate when the request passes, corrected at its "
      .. "end; or at its end, together with its prompt.",
    source = "generated: arXiv 2401.00588, algorithm 2; end: llm-d strategy_las.go (OnCompleted)" },
  estimate_tokens = { default = 256, unit = "tokens", min = 0,
    doc = "Output of a request for count = \"estimate\", where neither client nor predictor tells." },
  prompt_weight = { default = 1, unit = "1", min = 0, doc = "Service of a token of a prompt.",
    source = "arXiv 2401.00588, section 5; llm-d strategy_las.go (weightInputToken = 1)" },
  output_weight = { default = 2, unit = "1", min = 0, doc = "Service of a token of output.",
    source = "arXiv 2401.00588, section 5; llm-d strategy_las.go (weightOutputToken = 2)" },
  half_life_s = { default = 0, unit = "s", min = 0,
    doc = "All service so far is halved at multiples of this; 0: never." },
  max_held = { default = 0, unit = "requests", min = 0, integer = true,
    doc = "Requests that a band holds; one more is refused. 0: no limit." },
  max_held_tokens = { default = 0, unit = "tokens", min = 0, integer = true,
    doc = "Tokens of prompts that a band holds; a prompt that does not fit is refused. 0: no limit." },
}

queue.signals = { "staleness_s", "credit", "queue_threshold", "kv_threshold" }
queue.waiting = { "deadline_s", "slo_deadline", "expire_queued", "max_held", "max_held_tokens" }
queue.order = { "flow", "fair", "order", "count", "estimate_tokens", "prompt_weight", "output_weight", "half_life_s" }
queue.clock = { "interval_s", "most" }

--- Those parameters of these lists beside a policy's own; `changed` has other defaults and sources.
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
  return out
end

return queue
