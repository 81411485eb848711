--- When do retries keep a cluster down after a burst is over?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; clients end a request that takes longer than 12 s.
--- Method    20 requests/s, about two thirds of what the GPU serves, behind 30 s at 80 requests/s; the same requests
---           with other clients.
--- Measures  Which part of the questions is answered; attempts per question; tokens computed for attempts that
---           failed; the part of the requests that are retries; what a client waits from its first sending on.
--- Expect    Without retries what the burst began is lost, and the rest is served. Clients that send again at once, up
---           to fifty times, send more than the GPU can serve long after the burst: requests are computed in part and
---           given up, and few questions are answered. Delays that grow and are drawn at random, or two retries,
---           let it recover.
--- Limits    Nothing refuses a request; a client that gives up does not come back later with the same question.
local function impatient(more)
  local given = { first_token_s = 0, total_s = 12 }
  for key, value in pairs(more or {}) do given[key] = value end
  return require "clients.impatient" (given)
end

return {
  rooflua = 1,
  title = "Retries that keep a cluster down",
  seed = 39,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  workload = require "workloads.burst" {
    rate_per_s = 20,
    burst_rate_per_s = 80,
    burst_s = 30,
    period_s = 100000,
    num_requests = 8000,
    prompt_tokens = { distribution = "lognormal", mean = 1024, sigma = 0.6, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 256, sigma = 0.5, max = 1500 },
  },
  vary = {
    client = {
      { label = "patient", value = require "clients.patient" {} },
      { label = "12 s, no retry", value = impatient {} },
      { label = "2 at once", value = impatient { retries = 2 } },
      { label = "50 at once", value = impatient { retries = 50 } },
      { label = "50 with backoff",
        value = impatient { retries = 50, delay_s = 1, factor = 2, most_s = 120, jitter = 0.5 } },
    },
  },
  report = function(results)
    local rows = { { "client", "answered %", "attempts", "retries %", "wasted output %", "E2E p50 s", "E2E p99 s" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local c = s.clients or { answered_frac = s.completed / s.requests, attempts_mean = 1, retried_frac = 0,
        client_e2e_s = s.e2e_s }
      local wasted = s.wasted_output_tokens or 0
      rows[#rows + 1] = { result.name:match "=(.*)", 100 * c.answered_frac, c.attempts_mean, 100 * c.retried_frac,
        100 * wasted / (wasted + s.output_tokens), c.client_e2e_s.p50, c.client_e2e_s.p99 }
    end
    return rows
  end,
}
