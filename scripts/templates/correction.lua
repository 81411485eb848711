--- What if the tables are optimistic about my machine?
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    The same requests with the prices of the tables, and with the correction below.
--- Measures  TTFT and TPOT.
--- Expect    What you believe before you look.
--- Limits    A factor is a belief until it is fitted: rooflua calibrate --help.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@ --explain    what the correction adds to each operation
local policy = require "rooflua.policy"

---@class mine.SlowAttention
---@field factor number
local SlowAttention = policy.define {
  name = "slow_attention",
  doc = "Multiplies the time of attention of decodes.",
  params = { factor = { default = 1.2, unit = "1", min = 0, doc = "Times the price of the tables." } },
}

---@param op rooflua.Op
---@param time_s number
---@return number time_s
function SlowAttention:op(op, time_s)
  if op.kind ~= "attention_decode" then return time_s end
  return time_s * self.factor
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Decode attention as measured, and a fifth slower",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  workload = require "workloads.poisson" {
    rate_per_s = 4,
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  corrections = { SlowAttention {} },
  vary = { ["corrections.slow_attention.factor"] = { 1, 1.2 } },
}
return scenario
