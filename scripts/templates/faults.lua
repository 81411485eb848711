--- What do failures do to the requests of a fleet?
---
--- Setup     Llama-3.1-8B, bf16, four replicas on one H200 each.
--- Method    The same requests without faults, and with the faults below; what fails is sent again.
--- Measures  Answers that came, tokens that were lost, p99 of TTFT.
--- Expect    What you believe before you look.
--- Limits    What a fault may be: rooflua help Fault; how routers hear of it: docs/CONTROL.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.OneAfterTheOther: rooflua.Faults
---@field every_s number
---@field repair_s number
---@field place integer
local OneAfterTheOther = policy.define {
  name = "one_after_the_other",
  doc = "Every so often the next replica fails, and is repaired.",
  params = {
    every_s = { default = 20, unit = "s", min = 0, exclusive_min = true, doc = "From one failure to the next." },
    repair_s = { default = 10, unit = "s", min = 0, doc = "From a failure to the start that follows it." },
  },
}

function OneAfterTheOther:start(_) self.place = 0 end

--- The next fault, not before `now_s`; nil: there is none. Asked at the start, and after each fault.
---@param replicas integer
---@return rooflua.Fault?
function OneAfterTheOther:next(_, replicas)
  self.place = self.place + 1
  return { time_s = self.place * self.every_s, replica = (self.place - 1) % replicas + 1, kind = "fail",
    for_s = self.repair_s }
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Four replicas, of which one after the other fails",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  replicas = 4,
  router = "least_outstanding",
  client = require "clients.openai" {},
  workload = require "workloads.poisson" {
    rate_per_s = 10,
    num_requests = 600,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  vary = {
    faults = {
      { label = "none", value = require "faults.scripted" {} },
      { label = "one after the other", value = OneAfterTheOther {} },
    },
  },
}
return scenario
