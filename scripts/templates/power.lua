--- Which deployment takes the least energy, with watts as I measured them?
---
--- Setup     Llama-3.1-8B, bf16, vLLM; up to 8 H100 or H200, at the prices below.
--- Method    The candidates of a plan, with the power of the GPUs below.
--- Measures  Joules per output token, among deployments that hold `slo`.
--- Expect    What you believe before you look.
--- Limits    What power rests on: docs/PLANNER.md; measured curves: power.measured.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.Steps
---@field idle_frac number
---@field busy_frac number
local Steps = policy.define {
  name = "two_steps",
  doc = "A part of the datasheet's power where the GPU is idle, another part while it works.",
  params = {
    idle_frac = { default = 0.15, unit = "1", min = 0, max = 1, doc = "Idle, of the datasheet's." },
    busy_frac = { default = 0.8, unit = "1", min = 0, max = 1, doc = "In a step, of the datasheet's." },
  },
}

--- What the watts rest on, as reports say it.
---@return string
function Steps:basis()
  return ("a belief: %g and %g of the datasheet's power"):format(self.idle_frac, self.busy_frac)
end

--- Watts of one GPU; the word in front of them in reports; the least and the most that they may be.
---@return number? watts, string bound, number? low, number? high
function Steps:watts(hardware, busy_frac)
  local tdp_w = hardware.tdp_w
  if tdp_w == 0 then return nil, "about" end
  local busy = math.min(1, busy_frac or 1)
  local watts = tdp_w * (self.idle_frac * (1 - busy) + self.busy_frac * busy)
  return watts, "about", self.idle_frac * tdp_w, tdp_w
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "plan",
  title = "The deployment with the least energy",
  seed = 1,
  model = "llama-3.1-8b",
  engine = "vllm 0.24",
  workload = require "workloads.poisson" {
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  plan = {
    load = { rate_per_s = 20 },
    slo = { ttft_s_p99 = 1, tpot_s_p99 = 0.05 },
    gpus = { { "h100-sxm", most = 8, price_per_hour = 3 }, { "h200-sxm", most = 8, price_per_hour = 4 } },
    requests = 300, -- of a full run
    replicates = 0, -- 40 say how sure the answer is
    candidates = require "candidates.ladder" { tp = { 1, 2 }, max_num_seqs = { 64, 256 } },
    objective = "energy",
    power = Steps {},
  },
}
return scenario
