--- What would a step cost if it were only as fast as the datasheet allows?
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    The same requests priced by the measured tables, and by the step model below.
--- Measures  TTFT and TPOT.
--- Expect    What you believe before you look.
--- Limits    A step model sees the batch alone. What it gets and may call: docs/LUA_API.md, "scripts/steps".
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@ --explain    the prices of both, operation by operation
local cost = require "rooflua.cost"
local policy = require "rooflua.policy"

---@class mine.Datasheet
---@field mfu number
---@field host_s number
---@field flop_per_token number
---@field flop_per_s number
---@field weight_bytes number
---@field token_bytes number KV of one token
---@field bytes_per_s number
local Datasheet = policy.define {
  name = "datasheet",
  doc = "Arithmetic of the weights over the peak, or all bytes over the bandwidth, whichever is longer.",
  params = {
    mfu = { default = 0.8, unit = "1", exclusive_min = true, min = 0, max = 1, doc = "Part of the peak." },
    host_s = { default = 0.002, unit = "s", min = 0, doc = "Between two steps." },
  },
}

--- Called once. Fields of `context`: model, deployment, hardware, mfu (the tables) and more.
function Datasheet:bind(context)
  local model, deployment, hardware = context.model, context.deployment, context.hardware
  self.flop_per_token = 2 * model:active_parameters() / deployment.tp
  self.flop_per_s = hardware.peak_flop_per_s.bf16 * self.mfu
  self.weight_bytes = deployment.weight_bytes
  self.token_bytes = model:kv_bytes_per_token(deployment.kv) / deployment.tp
  self.bytes_per_s = hardware.memory_bytes_per_s
end

--- The time of one step. `cost.record` writes it down with its evidence, so that reports show where it comes from.
---@param batch rooflua.Batch
---@return number time_s
function Datasheet:time(batch)
  local flop = batch.tokens * self.flop_per_token
  local bytes = self.weight_bytes + batch.decode_context_tokens * self.token_bytes
  local compute_s, memory_s = flop / self.flop_per_s, bytes / self.bytes_per_s
  local bound = memory_s > compute_s and "memory" or "compute"
  local time_s = cost.record("forward", math.max(compute_s, memory_s), "assumed", 1, flop, bytes, nil, bound)
  return time_s + cost.record("host", self.host_s, "assumed")
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Measured tables against the datasheet",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  workload = require "workloads.poisson" {
    rate_per_s = 4,
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  vary = { steps = { require "steps.kernels" {}, Datasheet {} } },
}
return scenario
