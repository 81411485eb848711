--- What does the rest of an over-sampled batch cost a rollout?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; batches of 24 prompts with 8 answers each, up to 8,192 tokens long.
--- Method    No over-sampling, so that each batch waits for its longest answer. Then half as many prompts more, whose
---           rest finishes beside the next batch, is dropped, or is continued in it, with its KV lost or kept.
--- Measures  Time per batch, TTFT, requests that were aborted and the tokens that they had.
--- Expect    Half as many prompts more take an eighth off the time of a batch where the rest finishes, a quarter where
---           it is dropped, and more than a third where it is continued: the long answers then begin early. KV that is
---           lost costs a second of 41: prompt and tokens so far are computed again in front of a batch.
--- Limits    The update of the weights takes no time, and no answer is filtered. Where the rest finishes, that of the
---           last batch is in the time. Dropped answers are the long ones: the batches then train on shorter answers,
---           which no figure here judges.
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
    local rows = { { "rest", "s per batch", "TTFT p50 ms", "ended", "aborted", "their tokens" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", s.duration_s / 6, s.ttft_s.p50 * 1000, s.completed,
        s.failed.cancelled or 0, s.wasted_output_tokens or 0 }
    end
    return rows
  end,
}
