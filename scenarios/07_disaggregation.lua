--- What do four GPUs gain when some only prefill and the others only decode?
---
--- Setup     Llama-3.1-8B, bf16, four H200; KV cache moves over NVLink.
--- Method    The same 600 requests, Poisson at 24 per second, prompts of 4,096 tokens, answers of 128:
---           four replicas that do both, then 1 + 3, 2 + 2 and 3 + 1 replicas for prefill + decode.
--- Measures  TTFT, TPOT, the gap between two tokens, goodput under TTFT <= 1 s and TPOT <= 15 ms.
--- Expect    With separate pools no decode waits for a prefill: the p99 gap between tokens falls by more than a
---           factor of five. A prompt takes about 94 ms, so one prefill GPU serves 11 per second and two 21:
---           both are too few and their queues grow. With three, the p99 of TPOT is less than half of that of four
---           mixed GPUs, and that of TTFT is about the same.
--- Limits    The best split depends on prompt and answer lengths; pools do not change. A transfer takes its
---           bytes over the bandwidth of the link. Rows of tables carry at least 80 % of the time.
local function pools(prefill, decode)
  return { label = prefill .. " prefill + " .. decode .. " decode",
           value = { { role = "prefill", count = prefill }, { role = "decode", count = decode } } }
end

return {
  rooflua = 1,
  title = "Prefill and decode, together or split, on four GPUs",
  seed = 11,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  router = require "routers.least_outstanding" {},
  slo = { ttft_s = 1.0, tpot_s = 0.015 },
  workload = require "workloads.poisson" {
    rate_per_s = 24,
    num_requests = 600,
    prompt_tokens = 4096,
    output_tokens = 128,
  },
  vary = { replicas = { { label = "4 mixed", value = 4 }, pools(1, 3), pools(2, 2), pools(3, 1) } },
  report = function(results)
    local rows = { { "replicas", "gap p50 ms", "gap p99 ms", "in time %" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", s.itl_s.p50 * 1000, s.itl_s.p99 * 1000,
        100 * s.goodput_per_s / s.requests_per_s }
    end
    return rows
  end,
}
