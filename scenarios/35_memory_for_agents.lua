--- Does memory of the host help agents, whose contexts wait for tools and users?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; 24 sessions of coding agents at once, of which a turn in forty waits for
---           its user. All contexts together are several times what the GPU's cache holds.
--- Method    0 to 600 GB of the host's memory for KV, as vLLM's OffloadingConnector uses it, over PCIe 5.
--- Measures  Which part of the prompt tokens comes from the GPU, from the host, and which is computed; TTFT; sessions
---           per hour.
--- Expect    100 GB bring most of it: 7 % of the prompt tokens are computed where it was a third, the median of TTFT
---           falls to a third, and a fifth more sessions end in an hour. More than 200 GB bring nothing. The p99 of
---           TTFT stays above 20 s: prompts wait for room on the GPU, which memory of the host does not give.
--- Limits    The link is the GPU's alone. Prompts are stored, answers are not.
local function memory(gb)
  return { label = ("%d GB"):format(gb), set = gb > 0 and { tiers = { policy = require "tiers.vllm_cpu" {},
    stores = { { name = "cpu", capacity_bytes = gb * 1e9 } } } } or {} }
end

return {
  rooflua = 1,
  title = "Memory of the host for agents",
  seed = 14,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  deployment = { max_model_len = 131072 },
  workload = require "workloads.agent" {
    plays = 48,
    lanes = 24,
    turns = { distribution = "lognormal", mean = 40, sigma = 0.7, max = 120 },
    max_context_tokens = 120000,
    pause_s = 60,
  },
  vary = { tiers = { memory(0), memory(100), memory(200), memory(400), memory(600) } },
  report = function(results)
    local rows = { { "memory of the host", "TTFT p50 ms", "TTFT p99 ms", "from the GPU %", "from the host %",
      "computed %", "sessions/h" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local cached, host = 100 * s.cached_tokens / s.prompt_tokens, s.tiers and 100 * s.tiers[1].hit_frac or 0
      rows[#rows + 1] = { result.name:match "=(.*)", s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000, cached - host, host,
        100 - cached, s.plays.plays_per_hour }
    end
    return rows
  end,
}
