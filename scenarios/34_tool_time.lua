--- What do slow tools cost a server of agents?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; 16 sessions of coding agents at once.
--- Method    Tools that take half a second to two minutes (median; sigma 1).
--- Measures  Which part of the prompt tokens is found in the cache; TTFT; how long a session takes without its tools.
--- Expect    Sixteen contexts are more than the cache holds. The faster the tools, the more of them are wanted at the
---           same time: with half a second a half of the prompt tokens is found, with two minutes four fifths. Up to 8
---           s a session waits for the GPU, and slower tools cost next to nothing; beyond, it waits for its tools.
--- Limits    Sixteen sessions all the same: slower tools also mean fewer requests at once.
return {
  rooflua = 1,
  title = "Time of tools",
  seed = 13,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  deployment = { max_model_len = 131072 },
  workload = require "workloads.agent" {
    plays = 48,
    lanes = 16,
    turns = { distribution = "lognormal", mean = 40, sigma = 0.7, max = 120 },
    max_context_tokens = 120000,
    pause_probability = 0,
    tool_time_sigma = 1,
  },
  vary = { ["workload.tool_time_s"] = { 0.5, 2, 8, 30, 120 } },
  report = function(results)
    local rows = { { "tool s", "reuse %", "ideal %", "TTFT p50 ms", "TTFT p99 ms", "session p50 s",
      "without tools, mean s", "sessions/h" } }
    for _, result in ipairs(results) do
      local s, p = result.summary, result.summary.plays
      rows[#rows + 1] = { result.name:match "=(.*)", 100 * p.reuse, 100 * p.reuse_ideal, s.ttft_s.p50 * 1000,
        s.ttft_s.p99 * 1000, p.play_s.p50, p.play_s.mean - p.tool_s.mean, p.plays_per_hour }
    end
    return rows
  end,
}
