--- Is it better to draft less when many requests decode?
---
--- Setup     Llama-3.1-8B, bf16, on one H200; an EAGLE drafter, whose first draft is accepted in 75 % of rounds.
--- Method    Closed loops of few and many clients, with a fixed number of drafts and with the speculator below.
--- Measures  Output tokens per second, TPOT.
--- Expect    What you believe before you look.
--- Limits    Which drafts are accepted is a belief until it is measured: rooflua list acceptance.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.FewerWhenBusy: rooflua.Speculator
---@field draft_tokens integer
---@field busy integer
local FewerWhenBusy = policy.define {
  name = "fewer_when_busy",
  doc = "draft_tokens drafts of each request, and one where more than `busy` requests decode.",
  params = {
    draft_tokens = { default = 3, unit = "tokens", min = 1, max = 16, integer = true, doc = "Drafts of a request." },
    busy = { default = 32, unit = "requests", min = 1, integer = true, doc = "Decodes above which it drafts less." },
  },
}

--- The most drafts of a request in any step.
---@return integer
function FewerWhenBusy:depth() return self.draft_tokens end

--- Drafts of each request in the next step. `landed(seen)`, which is optional, tells what was accepted.
---@param batch rooflua.Batch
---@return integer k
function FewerWhenBusy:drafts(batch)
  if batch.decodes > self.busy then return 1 end
  return self.draft_tokens
end

local function with(speculator)
  return {
    speculator = speculator,
    acceptance = require "acceptance.per_position" { rates = { 0.75, 0.6, 0.5 } },
    drafter = require "drafters.eagle" {},
  }
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "A fixed number of drafts, and fewer when busy",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  workload = require "workloads.closed_loop" {
    clients = 8,
    num_requests = 300,
    prompt_tokens = 500,
    output_tokens = 200,
  },
  vary = {
    ["workload.clients"] = { 8, 128 },
    speculation = {
      { label = "three drafts", value = with(require "speculators.fixed" { draft_tokens = 3 }) },
      { label = "fewer when busy", value = with(FewerWhenBusy {}) },
    },
  },
}
return scenario
