--- How many coding agents can a GPU serve, and what do they do to its prefix cache?
---
--- Setup     Llama-3.1-8B, bf16, on one H100, whose KV cache holds 430,000 tokens. Sessions of coding agents with
---           contexts up to 120,000 tokens, turns whose tools take two seconds, and agents that turns start.
--- Method    2 to 32 sessions at once, 48 in all; the same sessions each time.
--- Measures  TTFT; which part of the prompt tokens is found in the cache, and which part a cache without end would
---           have; how long a session takes, and what it waits for.
--- Expect    Up to eight sessions the cache holds their contexts: nearly all that can be found is found, and the median
---           of TTFT stays below 50 ms. With sixteen a third of the prompt tokens is computed again, with thirty-two
---           more than a half; the GPU then does not more work an hour but less, and a request waits half a minute.
--- Limits    Users do not pause. One replica; what more of them need is a router that knows prefixes.
return {
  rooflua = 1,
  title = "Coding agents on one GPU",
  seed = 11,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  deployment = { max_model_len = 131072 },
  workload = require "workloads.agent" {
    plays = 48,
    turns = { distribution = "lognormal", mean = 40, sigma = 0.7, max = 120 },
    max_context_tokens = 120000,
    pause_probability = 0,
  },
  vary = { ["workload.lanes"] = { 2, 4, 8, 16, 32 } },
  report = function(results)
    local rows = { { "sessions", "TTFT p50 ms", "TTFT p99 ms", "reuse %", "ideal %", "session p50 s", "of it queue s",
      "prefill s", "decode s", "tools s" } }
    for _, result in ipairs(results) do
      local s, p = result.summary, result.summary.plays
      rows[#rows + 1] = { result.name:match "=(.*)", s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000, 100 * p.reuse,
        100 * p.reuse_ideal, p.play_s.p50, p.queue_s.mean, p.prefill_s.mean, p.decode_s.mean, p.tool_s.mean }
    end
    return rows
  end,
}
