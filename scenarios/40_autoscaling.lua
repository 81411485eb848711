--- What does an autoscaler save over a day, and what do its cold starts cost?
---
--- Setup     Qwen3-8B, bf16, vLLM on H100, one GPU per replica, least outstanding requests. A start is the image and
---           the weights over one link of 2 GB/s that all share, then 60 s.
--- Method    An hour in the place of a day: the rate swings as a sine between 4 and 36 requests/s. The same load on
---           fixed fleets, and on pools of 1 to 8 replicas whose autoscaler is Kubernetes' HPA (waiting requests, or KV
---           use), KEDA (requests in flight), llm-d's (saturation) or Dynamo's planner (KV use).
--- Measures  GPU-hours and their price, the tail of TTFT, seconds with a request that missed the SLO, how late replicas
---           come.
--- Expect    The smallest fixed fleet that holds the SLO needs what the peak needs all the time. Autoscalers follow the
---           load by the time of a start; those whose signal is 0 until a replica is full come too late.
--- Limits    Starts are parts with given sizes; nobody measured them for this model.
local function pool(label, autoscaler, count)
  return { label = label, value = { { autoscaler = autoscaler, min = count or 1, max = count or 8, count = count or 3,
    start = { provision_s = 0, image_bytes = 10e9, weight_bytes = "auto", init_s = 60, link = "store" } } } }
end

local function fixed(count)
  return pool(count .. " fixed", require "autoscalers.scheduled" { replicas = { count } }, count)
end

return {
  rooflua = 1,
  title = "A day with an autoscaler against fixed fleets",
  seed = 40,
  model = "qwen3-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  router = require "routers.least_outstanding" {},
  links = { store = { bytes_per_s = 2e9, per = "cluster" } },
  workload = require "workloads.diurnal" {
    rate_per_s = 20, swing = 0.8, period_s = 3600, peak_s = 1800, num_requests = 72000,
    prompt_tokens = 1000, output_tokens = 150,
  },
  slo = { ttft_s = 1 },
  vary = { replicas = {
    fixed(1), fixed(2), fixed(4),
    pool("hpa", require "autoscalers.hpa" { target = 2 }),
    pool("hpa, KV", require "autoscalers.hpa" { metric = "kv_used_frac", target = 0.1 }),
    pool("keda", require "autoscalers.keda" { target = 32 }),
    pool("wva", require "autoscalers.wva" {}),
    pool("planner_load", require "autoscalers.planner_load" { kv_up = 0.3, kv_down = 0.1 }),
  } },
  report = function(results)
    local rows = { { "replicas", "GPU-hours", "$ per 1M", "peak", "starts", "lag s", "TTFT p99 ms", "in SLO %",
      "seconds missed %" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local own = s.pools[1]
      rows[#rows + 1] = { result.name:match "=(.*)", own.gpu_hours, own.dollars_per_million_output_tokens,
        own.replicas_peak, own.starts, own.lag_s.mean or 0, s.ttft_s.p99 * 1000,
        100 * s.goodput_per_s / s.requests_per_s, 100 * own.slo_missed_frac }
    end
    return rows
  end,
}
