--- How much more traffic of the same shape can one GPU serve?
---
--- Setup     Llama-3.1-8B, bf16, on one H200, vLLM V1's scheduler.
--- Method    A trace is replayed as it was and faster: arrival times are multiplied by 1, 1/2, 1/3 and 1/4. The
---           shipped one, traces/bursty_chat.csv, is synthetic: 600 requests at a slowly varying rate, with a
---           burst every 45 s. For your own: --set workload.path=FILE (plain, Azure, Mooncake, BurstGPT or BLIS
---           columns).
--- Measures  TTFT, TPOT, and the share of requests with TTFT <= 1 s and TPOT <= 30 ms.
--- Expect    Bursts set the limit: at four times the traffic the median TTFT is still below 0.2 s, while a
---           quarter of the requests miss these limits.
--- Limits    Users send less when answers come late; a replay does not.
return {
  rooflua = 1,
  title = "A trace, replayed faster",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  slo = { ttft_s = 1.0, tpot_s = 0.03 },
  workload = require "workloads.trace" { path = "traces/bursty_chat.csv" },
  vary = {
    ["workload.time_scale"] = {
      { label = "as recorded", value = 1 }, { label = "2 times", value = 1 / 2 },
      { label = "3 times", value = 1 / 3 }, { label = "4 times", value = 1 / 4 },
    },
  },
  report = function(results)
    local rows = { { "traffic", "served/s", "in time %", "gap p50 ms", "gap p99 ms" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", s.requests_per_s, 100 * s.goodput_per_s / s.requests_per_s,
        s.itl_s.p50 * 1000, s.itl_s.p99 * 1000 }
    end
    return rows
  end,
}
