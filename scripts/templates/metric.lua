--- A figure that no report has: defined here, in every table of this scenario.
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    Requests at three rates.
--- Measures  The share of requests that take longer than `above_s` or fail, besides the usual metrics.
--- Expect    What you believe before you look.
--- Limits    A metric sees requests that ended and steps that ended: docs/LUA_API.md, "Metrics".
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.SlowAnswers
---@field above_s number
---@field ended number
---@field late number
local SlowAnswers = policy.define {
  name = "slow_answers",
  doc = "Requests that take longer than above_s or fail, over all that ended.",
  unit = "1",
  better = "less",
  params = { above_s = { default = 5, unit = "s", min = 0, doc = "Arrival to last token." } },
}

---@param done rooflua.EndedRequest
function SlowAnswers:on_done(done)
  self.ended = (self.ended or 0) + 1
  local e2e_s = done.e2e_s -- nil of a request that failed
  if not e2e_s or e2e_s > self.above_s then self.late = (self.late or 0) + 1 end
end

---@return number? share
function SlowAnswers:value()
  if not self.ended then return nil end
  return (self.late or 0) / self.ended
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "How many answers take longer than five seconds",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  workload = require "workloads.poisson" {
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  metrics = { slow_answers = SlowAnswers {} },
  vary = { ["workload.rate_per_s"] = { 2, 4, 8 } },
}
return scenario
