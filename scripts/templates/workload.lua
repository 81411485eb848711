--- What does traffic of my own shape do to a server?
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    The workload below against Poisson arrivals of the same mean rate and lengths.
--- Measures  TTFT and TPOT, p50 and p99.
--- Expect    What you believe before you look.
--- Limits    Open loop: requests come whatever the server does. Closed loops: scripts/workloads/closed_loop.lua.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@ --requests requests.csv
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"

---@class mine.Pairs: rooflua.Workload
local Pairs = policy.define {
  name = "pairs",
  doc = "Two requests at once, then a pause: the mean rate is rate_per_s.",
  params = arrivals.parameters(),
}

--- The time until the next request. `state.sent` counts the requests so far.
local function gap(state)
  if state.sent % 2 == 1 then return 0 end
  return state.gaps:exponential(state.rate / 2)
end

---@param rng rooflua.Random
function Pairs:requests(rng) return arrivals.open_loop(self, rng, gap) end

local traffic = {
  rate_per_s = 4,
  num_requests = 300,
  prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
  output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
}

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Requests in pairs against single ones",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  vary = { workload = { require "workloads.poisson"(traffic), Pairs(traffic) } },
}
return scenario
