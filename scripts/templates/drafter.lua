--- How fast has a drafter to be so that drafts pay?
---
--- Setup     Llama-3.1-8B, bf16, on one H200; three drafts of each request.
--- Method    The same requests with an EAGLE drafter, and with the drafter below.
--- Measures  Output tokens per second, TPOT.
--- Expect    What you believe before you look.
--- Limits    A drafter costs time in each step, and memory: docs/LUA_API.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@ --explain    what a step pays for drafts
local policy = require "rooflua.policy"

local cost = require "rooflua.cost"

---@class mine.SmallModel: rooflua.Drafter
---@field pass_s number
---@field row_s number
---@field weight_bytes number
local SmallModel = policy.define {
  name = "small_model",
  doc = "So much for each pass, and for each request in it.",
  params = {
    pass_s = { default = 0.3e-3, unit = "s", min = 0, max = 1, doc = "A pass; as many as there are drafts." },
    row_s = { default = 2e-6, unit = "s", min = 0, max = 1, doc = "A request in a pass." },
    weight_bytes = { default = 0.5e9, unit = "bytes", min = 0, doc = "Weights on one rank." },
  },
}

--- Added to the time of a step. `cost.record` writes it down with its evidence, so that reports show it.
---@param batch rooflua.Batch
---@return number time_s
function SmallModel:time(batch)
  if batch.draft_rows == 0 then return 0 end
  local time_s = batch.draft_passes * (self.pass_s + self.row_s * batch.draft_rows)
  return cost.record("passes", time_s, "assumed")
end

---@return number weight_bytes
---@return number kv_bytes_per_token
function SmallModel:memory() return self.weight_bytes, 0 end

local function with(drafter)
  return {
    speculator = require "speculators.fixed" { draft_tokens = 3 },
    acceptance = require "acceptance.per_position" { rates = { 0.75, 0.6, 0.5 } },
    drafter = drafter,
  }
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "An EAGLE drafter, and a small model",
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
  vary = {
    speculation = {
      { label = "eagle", value = with(require "drafters.eagle" {}) },
      { label = "small model", value = with(SmallModel {}) },
    },
  },
}
return scenario
