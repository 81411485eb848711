--- What does prefix caching gain in conversations?
---
--- Setup     Llama-3.1-8B, bf16, on one H200, vLLM V1's scheduler.
--- Method    150 conversations of 6 turns beginning at 1.5 per second, a system prompt of 1,500 tokens that
---           all share, 200 new tokens and an answer of 150 per turn, 5 s to think; with the cache and without.
--- Measures  TTFT and TPOT; prompt tokens that were computed.
--- Expect    Nine tenths of the prompt tokens come from the cache, and the mean TTFT falls to less than a
---           third; TPOT falls too, because decodes share fewer steps with prefills.
--- Limits    Memory is ample here: no prefix is evicted before its next turn. Rows of tables carry at least 80 %
---           of the time.
return {
  rooflua = 1,
  title = "Conversations with and without prefix caching",
  seed = 5,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" {},
  workload = require "workloads.multi_turn" {
    sessions = 150,
    session_rate_per_s = 1.5,
    turns = 6,
    think_time_s = 5,
    system_tokens = 1500,
    prompt_tokens = 200,
    output_tokens = 150,
  },
  vary = { ["deployment.prefix_caching"] = { { label = "on", value = true }, { label = "off", value = false } } },
  report = function(results)
    local rows = { { "prefix caching", "TTFT mean ms", "prompt tokens computed", "from the cache %" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", s.ttft_s.mean * 1000, s.prompt_tokens - s.cached_tokens,
        100 * s.cached_tokens / s.prompt_tokens }
    end
    return rows
  end,
}
