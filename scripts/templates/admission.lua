--- Which requests should wait at a gate, or be refused, when too many come?
---
--- Setup     Llama-3.1-8B, bf16, two replicas on one H200 each with few seats; bursts.
--- Method    The same requests without a gate, and under the gate below.
--- Measures  TTFT, goodput under the limits of `slo`, how many were held and refused.
--- Expect    What you believe before you look.
--- Limits    What a gate sees: rooflua help GateView; order and fairness: docs/CONTROL.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.Crowd: rooflua.Admission
---@field per_replica integer
---@field held integer
local Crowd = policy.define {
  name = "crowd",
  doc = "So many requests for each replica pass, some wait, all others are refused.",
  signals = {}, -- of replicas, those that it reads: rooflua help Candidate
  params = {
    per_replica = { default = 40, unit = "requests", min = 1, integer = true, doc = "At a replica." },
    held = { default = 30, unit = "requests", min = 0, integer = true, doc = "At the gate; more are refused." },
  },
}

--- Asked when a request comes.
---@param view rooflua.GateView
---@return "pass"|"hold"|"reject"
function Crowd:admit(_, view)
  if view.held == 0 and self:next(nil, view) then return "pass" end
  return view.held < self.held and "hold" or "reject"
end

--- Whether the held request that goes next passes now.
---@param view rooflua.GateView
---@return boolean
function Crowd:next(_, view) return view.in_flight < self.per_replica * view.ready end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Bursts with a gate and without one",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  replicas = 2,
  router = "least_outstanding",
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 32 },
  slo = { ttft_s = 2 },
  workload = require "workloads.burst" {
    rate_per_s = 2,
    burst_rate_per_s = 60,
    period_s = 20,
    burst_s = 3,
    num_requests = 600,
    prompt_tokens = 2000,
    output_tokens = 150,
  },
  vary = { admission = { "always", Crowd {} } },
}
return scenario
