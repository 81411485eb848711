--- How should sixteen H200 divide DeepSeek-V3: two ranks of attention, sixteen, or prefill and decode split?
---
--- Setup     DeepSeek-V3, FP8, on 16 H200. Attention with tp 8 in 2 data-parallel ranks, or tp 1 in 16; whole experts
---           on all 16 GPUs. Or 8 GPUs that prefill and 8 that decode, each with 8 ranks of tp 1; the KV cache moves
---           at 50 GB/s, one NIC per rank.
--- Method    The same 1,500 requests, Poisson at 15 per second, prompts of 2,000 tokens, answers of 200. Ranks are
---           replicas that step together; vLLM's balancer divides the requests among them.
--- Measures  Throughput, TTFT, TPOT, the gap between two tokens, and the part of the run that ranks wait for others.
--- Expect    A prompt on a rank of tp 8 has eight GPUs for its attention. On a rank of tp 1 it has one, and the fifteen
---           others wait: a quarter of the run. So sixteen ranks have the longer TTFT and TPOT at this load, although
---           they carry more at their limit (set rate_per_s to 25): no all-reduce, and the latent KV cache is held
---           once. With prefill split no decode waits for a prompt, and TPOT is a quarter.
--- Limits    The exchange of experts is priced as one all-reduce over NVLink and the network. Experts are balanced.
---           What two ranks agree on per step takes deployment.dp_sync_s, which is assumed.
local function engine(tp, dp) return { tp = tp, dp = dp, ep = tp * dp, weights = "fp8", kv = "fp8" } end

local function one(label, tp, dp) return { label = label, set = { deployment = engine(tp, dp) } } end

return {
  rooflua = 1,
  title = "DeepSeek-V3 on sixteen H200: ranks of attention",
  seed = 5,
  model = "deepseek-v3",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  router = require "routers.vllm_dp" {},
  workload = require "workloads.poisson" {
    rate_per_s = 15,
    num_requests = 1500,
    prompt_tokens = 2000,
    output_tokens = 200,
  },
  vary = { ranks = {
    one("tp 8, dp 2", 8, 2),
    one("tp 1, dp 16", 1, 16),
    { label = "split, dp 8 each", set = { deployment = engine(1, 8),
      replicas = { { role = "prefill" }, { role = "decode" } },
      network = { alpha_s = 10e-6, bytes_per_s = 50e9 } } },
  } },
  report = function(results)
    local rows = { { "ranks", "gap p50 ms", "gap p99 ms", "ranks wait %" } }
    for _, result in ipairs(results) do
      local s, waits = result.summary, 0
      for _, rank in ipairs(s.replicas) do waits = waits + rank.wait_frac / #s.replicas end
      rows[#rows + 1] = { result.name:match "=(.*)", s.itl_s.p50 * 1000, s.itl_s.p99 * 1000, 100 * waits }
    end
    return rows
  end,
}
