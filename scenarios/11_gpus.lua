--- H100, H200 or H20: which GPU suits which part of the work?
---
--- Setup     Qwen3-32B in FP8 on one H100 SXM, H200 SXM or H20: 989, 989 and 148 Tflop/s in bf16, 3.35, 4.8 and
---           4.0 TB/s, 80, 141 and 96 GB.
--- Method    The same 300 requests, Poisson at 0.8 per second, prompts of 2,048 tokens, answers of 256.
--- Measures  TTFT, TPOT, the gap between two tokens, and the largest share of the KV cache in use.
--- Expect    Prefill is bound by arithmetic: the TTFTs of H100 and H200 differ by less than a fifth; the H20, with a
---           seventh of the flop/s, takes more than four times as long as the H200. Decode is bound by bandwidth: the
---           median gap of the H200 is two thirds to nine tenths of the H100's. The H20 has the longest gap although
---           it has more bandwidth than an H100: its SMs multiply the tiles, to which few rows are padded, more slowly
---           than the weights arrive.
--- Limits    The price of a GPU is not considered. On H100 and H200 rows of tables carry at least 85 % of the time. Of
---           the H20 few shapes were measured: at least 80 % of its time rests on rows of other GPUs or shapes.
return {
  rooflua = 1,
  title = "The same requests on H100, H200 and H20",
  seed = 9,
  model = "qwen3-32b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  deployment = { weights = "fp8" },
  steps = require "steps.kernels" {},
  workload = require "workloads.poisson" {
    rate_per_s = 0.8,
    num_requests = 300,
    prompt_tokens = 2048,
    output_tokens = 256,
  },
  vary = { hardware = { "h100-sxm", "h200-sxm", "h20" } },
  report = function(results)
    local rows = { { "GPU", "gap p50 ms", "gap p99 ms", "KV used at most %" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", s.itl_s.p50 * 1000, s.itl_s.p99 * 1000, 100 * s.kv_used_frac_max }
    end
    return rows
  end,
}
