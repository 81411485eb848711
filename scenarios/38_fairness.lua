--- Which rule protects tenants from a noisy neighbour, and small programs from large ones?
---
--- Setup     Llama-3.1-8B, bf16, on one H100, 32 requests at a time. Tenant 0 sends a burst of long prompts, tenants 1
---           and 2 send a steady trickle of short ones with a deadline. The same replica with programs that search
---           trees: many of few calls, few of many.
--- Method    A gate that holds at most 32 requests in flight, and five rules of who goes next: the first that came; in
---           turn; the tenant, or program, with the least service (vtc, las); the earliest deadline.
--- Measures  TTFT p50 and p99 of the noisy and of the quiet tenants, Jain's index of TTFT, expired requests; of
---           programs the same of the calls of small and of large ones.
--- Expect    With the first that came the quiet tenants wait behind the burst, and half of their requests expire. In
---           turn, vtc, las and deadlines take that away, for a fifth more of p99 of the noisy tenant. Jain's index of
---           TTFT falls: it asks for equal times, and a tenant that sends a burst waits for itself. Of programs, las
---           takes nine tenths off the median of small ones and a fifth off their p99; p99 of large ones is six times
---           that without fairness, and half as much again as in turn.
--- Limits    The noisy tenant does not give up. Programs are made up: no recorded search.
local Concurrency = require "admission.concurrency"
local Mix, Poisson, Burst = require "workloads.mix", require "workloads.poisson", require "workloads.burst"

local function quiet(name, tenant)
  return { name = name, tenant = tenant, program = tenant, deadline_s = 20,
    workload = Poisson { rate_per_s = 2, num_requests = 160, prompt_tokens = 600, output_tokens = 100 } }
end

local tenants = Mix { parts = {
  { name = "noisy", tenant = 0, program = 0, deadline_s = 120, workload = Burst { rate_per_s = 0.5,
    burst_rate_per_s = 40, period_s = 40, burst_s = 5, num_requests = 400, prompt_tokens = 4000,
    output_tokens = 300 } },
  quiet("quiet", 1), quiet("quiet too", 2),
} }
local programs = require "workloads.tree_search" { rate_per_s = 1.6, num_programs = 150 }

local function gate(fair, order)
  return Concurrency { max_concurrency = 32, flow = fair ~= "global" and "program" or nil, fair = fair, order = order }
end

local function class_of(summary, name)
  for _, each in ipairs(summary.classes) do
    if each.name == name then return each.ttft_s end
  end
end

return {
  rooflua = 1,
  title = "Who goes next",
  seed = 5,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 64 },
  vary = {
    workload = { { label = "tenants", value = tenants }, { label = "programs", value = programs } },
    admission = {
      { label = "the first that came", value = gate("global", "fcfs") },
      { label = "in turn", value = gate("round_robin", "fcfs") },
      { label = "vtc", value = gate("vtc", "fcfs") },
      { label = "las", value = gate("las", "fcfs") },
      { label = "edf", value = gate("global", "edf") },
    },
  },
  report = function(results)
    local rows = { { "who goes next", "noisy or large, TTFT p50 s", "p99 s", "quiet or small, p50 s", "p99 s",
      "expired", "Jain TTFT" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local loud = class_of(s, "noisy") or class_of(s, "large")
      local low = class_of(s, "quiet") or class_of(s, "small")
      rows[#rows + 1] = { result.name, loud.p50, loud.p99, low.p50, low.p99, s.gate.expired,
        s.fairness and s.fairness.jain_ttft or "" }
    end
    return rows
  end,
}
