--- How many requests per second does one GPU carry under a service-level objective?
---
--- Setup     Llama-3.1-8B, bf16, one replica on one H100 or one H200. Chat-like lengths: prompts lognormal around
---           600 tokens, answers lognormal around 200.
--- Method    Bisection over the rate of Poisson arrivals, to 2 %, 400 requests, two seeds; every run of a seed has
---           the same requests, at other distances in time. Four further rates check that the SLO is not met again
---           above the answer or missed below it.
--- Measures  The highest rate at which, on average over the seeds, TTFT p99 <= 0.5 s and TPOT p99 <= 25 ms.
--- Expect    The H200 carries more: it has the same arithmetic and 1.43 times the bandwidth. The gain lies between 1
---           and 1.43, because decode steps get shorter by the bandwidth and prefills do not.
--- Limits    400 requests are a burst, not a steady state: above the capacity TTFT grows with their number. Rows of
---           tables carry at least 85 % of the time.
return {
  rooflua = 1,
  title = "Capacity of one GPU under TTFT p99 <= 0.5 s and TPOT p99 <= 25 ms",
  seed = 1,
  kind = "search",
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 2048 },
  workload = require "workloads.poisson" {
    num_requests = 400,
    prompt_tokens = { distribution = "lognormal", mean = 600, sigma = 0.7, min = 1, max = 8192 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.7, min = 1, max = 2048 },
  },
  vary = { hardware = { "h100-sxm", "h200-sxm" } },
  search = {
    goal = "rate",
    slo = { ttft_s_p99 = 0.5, tpot_s_p99 = 0.025 },
    min = 1,
    max = 200,
    tolerance = 0.02,
    seeds = { 1, 2 },
    show = { "output_tokens_per_s" },
  },
  report = function(results)
    local rows = { { "GPU", "requests/s under the SLO", "times the H100" } }
    for i, each in ipairs(results) do
      local value = each.search.value
      rows[i + 1] = { each.parameters.hardware, ("%.1f"):format(value),
        ("%.2f"):format(value / results[1].search.value) }
    end
    return rows
  end,
}
