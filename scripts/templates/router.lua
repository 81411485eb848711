--- Does a router of my own balance better than round robin?
---
--- Setup     Llama-3.1-8B, bf16, four replicas on one H200 each.
--- Method    The same requests under three routers, one of them below.
--- Measures  TTFT and its p99; a run of one router also prints the load of every replica.
--- Expect    What you believe before you look.
--- Limits    A router reads the signals that it declares, and they may be stale (staleness_s).
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@ --html report.html
local policy = require "rooflua.policy"

---@class mine.FewestWaiting: rooflua.Router
local FewestWaiting = policy.define {
  name = "fewest_waiting",
  doc = "The replica with the fewest requests that wait; ties to the emptiest KV cache.",
  signals = { "waiting", "kv_used_frac" }, -- all: rooflua help Candidate
  params = {},
}

---@param replicas rooflua.Candidates
---@return integer place in `replicas`
function FewestWaiting:route(_, replicas)
  local best = 1
  for i = 2, #replicas do
    local a, b = replicas[i], replicas[best]
    if a.waiting < b.waiting or a.waiting == b.waiting and a.kv_used_frac < b.kv_used_frac then best = i end
  end
  return best
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Three routers before four replicas",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  replicas = 4,
  workload = require "workloads.poisson" {
    rate_per_s = 40,
    num_requests = 400,
    prompt_tokens = { distribution = "lognormal", mean = 1500, sigma = 1.0, max = 16000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  vary = {
    router = { require "routers.round_robin" {}, require "routers.least_outstanding" {}, FewestWaiting {} },
  },
}
return scenario
