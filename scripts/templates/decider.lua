--- Which prompts should go to a prefill replica, and which stay with their decode replica?
---
--- Setup     Llama-3.1-8B, bf16, one H200 that prefills and two that decode.
--- Method    The same conversations: every prompt is split, and as decided below.
--- Measures  TTFT, gaps between tokens, the share of prompts that were split.
--- Expect    What you believe before you look.
--- Limits    What a decider sees: rooflua help Pair; who sends what to whom: docs/DISAGGREGATION.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@
local policy = require "rooflua.policy"

---@class mine.LongRest: rooflua.Decider
---@field rest_tokens integer
---@field busy_tokens integer
local LongRest = policy.define {
  name = "long_rest",
  doc = "A prompt is split if much of it is left to compute, unless the prefill replicas have much to do.",
  signals = {}, -- of replicas, those that it reads: rooflua help Candidate
  params = {
    rest_tokens = { default = 1024, unit = "tokens", min = 0, integer = true, doc = "Left to compute: from here on." },
    busy_tokens = { default = 30000, unit = "tokens", min = 0, integer = true,
      doc = "Queued at every prefill replica: from so many on none gets more." },
  },
}

--- Whether a prefill replica computes the prompt.
---@param pair rooflua.Pair
---@return boolean
function LongRest:split(_, pair)
  if pair.prompt_tokens - pair.cached_tokens < self.rest_tokens then return false end
  for i = 1, #pair.prefill do
    if pair:queued_tokens(i) < self.busy_tokens then return true end
  end
  return false
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Every prompt is split, or long rests alone",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  replicas = { { role = "prefill" }, { role = "decode", count = 2 } },
  router = require "routers.prefix_affinity" {},
  disaggregation = { order = "decode_first" }, -- the decode replica is known when the decider is asked
  workload = require "workloads.conversations" {
    conversations = 40,
    clients = 16,
    num_requests = 300,
    turns = 6,
    private_tokens = 4000,
    prompt_tokens = 200,
    output_tokens = 150,
    pause_s = 2,
  },
  vary = { ["disaggregation.decider"] = { require "deciders.always" {}, LongRest {} } },
}
return scenario
