--- How much memory of the host pays?
---
--- Setup     Llama-3.1-8B, bf16, on one H100, whose KV cache holds 59 GB. Conversations of eight turns of 1,500 new
---           tokens, half a minute apart: what they have said so far is three times as much.
--- Method    The same requests with 0, 50, 75, 100, 150 and 200 GB of the host's memory for KV, as vLLM's
---           OffloadingConnector uses it, over PCIe 5.
--- Measures  TTFT; which part of the prompt tokens comes from the GPU, from the host, and which is computed.
--- Expect    50 GB bring nothing: a host that holds less than the GPU holds what the GPU has. Beyond that it pays: with
---           100 GB a sixth of the prompt tokens comes from the host, with 200 GB two fifths, and a quarter is computed
---           where it was four fifths. The queue is gone then: the p99 of TTFT is 0.3 s instead of 9.
--- Limits    One load; the link is the GPU's alone, and the host's memory is as fast as the link.
local function memory(gb)
  return { label = ("%d GB"):format(gb), set = gb > 0 and { tiers = { policy = require "tiers.vllm_cpu" {},
    stores = { { name = "cpu", capacity_bytes = gb * 1e9 } } } } or {} }
end

return {
  rooflua = 1,
  title = "Memory of the host for KV",
  seed = 7,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  workload = require "workloads.multi_turn" {
    sessions = 250,
    session_rate_per_s = 0.9,
    turns = 8,
    think_time_s = 30,
    prompt_tokens = 1500,
    output_tokens = 150,
  },
  vary = { tiers = { memory(0), memory(50), memory(75), memory(100), memory(150), memory(200) } },
  report = function(results)
    local rows = { { "memory of the host", "TTFT p50 ms", "TTFT p99 ms", "from the GPU %", "from the host %",
      "computed %" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local cached, host = 100 * s.cached_tokens / s.prompt_tokens, s.tiers and 100 * s.tiers[1].hit_frac or 0
      rows[#rows + 1] = { result.name:match "=(.*)", s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000, cached - host, host,
        100 - cached }
    end
    return rows
  end,
}
