--- Does a scheduler of my own serve better than vLLM's?
---
--- Setup     Llama-3.1-8B, bf16, on one H200 with few seats, so that requests wait.
--- Method    The same requests under vLLM V1's scheduler and under the one below.
--- Measures  TTFT, TPOT and end-to-end time; the p99 shows which requests wait longest.
--- Expect    What you believe before you look.
--- Limits    What a scheduler may do: docs/LUA_API.md; step by step: docs/OWN_SCHEDULER.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@ --jit-log    whether LuaJIT compiles the scheduler
local policy = require "rooflua.policy"
local VllmV1 = require "schedulers.vllm_v1"

---@class mine.ShortestPrompt: schedulers.VllmV1
---@field weight number
local ShortestPrompt = policy.define {
  name = "shortest_prompt",
  doc = "vLLM V1's step; the queue is ordered by prompt length.",
  extends = VllmV1,
  params = {
    weight = { default = 1, unit = "1", min = 0, doc = "0: all prompts count the same, so that arrival decides." },
  },
}

--- Smaller keys are admitted first; equal keys by arrival.
function ShortestPrompt:key(request) return self.weight * request.prompt_tokens end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Arrival order against shortest prompt first",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  workload = require "workloads.poisson" {
    rate_per_s = 3,
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 1500, sigma = 1.0, max = 16000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  vary = { scheduler = { VllmV1 { max_num_seqs = 16 }, ShortestPrompt { max_num_seqs = 16 } } },
}
return scenario
