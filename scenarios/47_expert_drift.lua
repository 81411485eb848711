--- How often should experts move, and what do copies of them bring?
---
--- Setup     DeepSeek-V3, FP8, on 16 H200: attention in 16 data-parallel ranks, experts on the same ranks. The k-th
---           expert of a layer is as popular as 1 / k^0.5. Which one that is drifts: after 1,000 steps the scores that
---           order experts are correlated by 1/e.
--- Method    The same 4,000 requests, Poisson at 15 per second, in about 2,000 steps. Experts stay, or DeepSeek's
---           balancer places them anew every 1,000, 300, 100 or 30 steps, by the tokens of the last 30 steps. The
---           engine waits for that; or experts move beside steps; or few change places. Each without copies, and
---           with two more experts on each rank.
--- Measures  Load of the fullest rank, bytes that move, what the engine waits, TTFT and TPOT.
--- Expect    Without a balancer the fullest rank has 1.47 times the mean. The one that acts every 1,000 steps places
---           experts for a popularity that is gone. Every 30 steps it follows the drift, and its stalls cost more than
---           that saves: in between is an interval with the best TPOT. TTFT p99 and gaps get longer with each stall.
---           Moving beside steps, or moving few experts, keeps the gain without them: swaps move 30 times fewer bytes.
---           Copies help once a balancer chooses them. Where the first placement chooses, they fill ranks with experts
---           1 to 32, and the load is above that without copies.
--- Limits    The load is an expected value, by the popularity and not by a draw of tokens. The drift has one pace and
---           no rhythm of a day. No published run gives tokens of experts by time: neither drift nor load is validated.
---           A rebalancing takes 50 ms on the host, which is assumed.
local function eplb(every, use_async)
  return require "balancers.eplb" { step_interval = every, window_size = 30, head_start = 0,
    host_s = use_async and 0 or 0.05, use_async = use_async or "no" }
end

return {
  rooflua = 1,
  title = "Experts that drift over sixteen ranks",
  seed = 5,
  model = "deepseek-v3",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  deployment = { tp = 1, dp = 16, ep = 16, weights = "fp8", kv = "fp8" },
  steps = require "steps.kernels" {},
  router = require "routers.vllm_dp" {},
  experts = { zipf = 0.5, drift_steps = 1000, update_steps = 30 },
  workload = require "workloads.poisson" {
    rate_per_s = 15,
    num_requests = 4000,
    prompt_tokens = 2000,
    output_tokens = 200,
  },
  vary = {
    ["experts.redundant"] = { 0, 32 },
    ["experts.balancer"] = {
      { label = "never", value = require "balancers.never" {} },
      { label = "every 1000", value = eplb(1000) },
      { label = "every 300", value = eplb(300) },
      { label = "every 100", value = eplb(100) },
      { label = "every 30", value = eplb(30) },
      { label = "every 100 beside", value = eplb(100, "yes") },
      { label = "swaps every 100", value = require "balancers.swaps" { step_interval = 100, window_size = 30 } },
    },
  },
  report = function(results)
    local rows = { { "copies", "balancer", "load", "most", "moved GB", "waited s", "TTFT p50 ms", "TTFT p99 ms",
      "TPOT p50 ms", "gap p99 ms" } }
    for _, result in ipairs(results) do
      local s, balancer, copies = result.summary, result.name:match "balancer=(.-), redundant=(%d+)"
      local own = s.experts
      rows[#rows + 1] = { copies, balancer, own.load_mean, own.load_max, own.moved_bytes / 1e9, own.stall_s,
        s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000, s.tpot_s.p50 * 1000, s.itl_s.p99 * 1000 }
    end
    return rows
  end,
}
