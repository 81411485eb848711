--- What does the rest of an over-sampled batch cost a rollout?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; batches of 24 prompts with 8 answers each, up to 8,192 tokens long.
--- Method    No over-sampling, so that each batch waits for its longest answer. Then half as many prompts more, whose
---           rest finishes beside the next batch, is dropped, or is continued in it, with its KV lost or kept.
--- Measures  Time per batch, what the batches trained on, and tokens of aborted answers.
--- Expect    see docs/AGENTS.md.
--- Limits    The update of the weights takes no time, and no answer is filtered. Answers that are dropped are the long
---           ones: the batches then train on shorter answers, which no figure here judges.
local Rollout = require "workloads.rollout"

local function load(own)
  local given = { batches = 6, prompts = 24, samples = 8,
    output_tokens = { distribution = "lognormal", mean = 1200, sigma = 0.9, max = 8192 } }
  for key, value in pairs(own) do given[key] = value end
  return Rollout(given)
end

return {
  rooflua = 1,
  title = "The rest of a batch of rollouts",
  seed = 21,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  vary = {
    workload = {
      { label = "no over-sampling", value = load {} },
      { label = "the rest finishes", value = load { over_sampling = 1.5 } },
      { label = "the rest is dropped", value = load { over_sampling = 1.5, rest = "drop" } },
      { label = "continued, KV lost", value = load { over_sampling = 1.5, rest = "continue" } },
      { label = "continued, KV kept", value = load { over_sampling = 1.5, rest = "continue", keep_kv = true } },
    },
  },
  report = function(results)
    local rows = { { "rest", "s per batch", "answers", "tokens per answer", "aborted", "their tokens", "tok/s" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", s.duration_s / 6, s.completed, s.output_tokens / s.completed,
        s.failed and s.failed.cancelled or 0, s.wasted_output_tokens or 0, s.output_tokens_per_s }
    end
    return rows
  end,
}
