--- When do retries keep a cluster down after a burst is over?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; clients end a request that takes longer than 15 s.
--- Method    7 requests/s, about a third of what the GPU serves, after 20 s at 60 requests/s; the same requests with
---           other clients.
--- Measures  Which part of the questions is answered; attempts per question; the part of the requests that are
---           retries; output of attempts that failed; what a client waits from its first sending on.
--- Expect    Without retries what the burst began is lost, and the rest is served. Two retries at once make the load
---           three times as high, which the GPU still serves: it recovers. Twenty at once do not let it: requests are
---           computed in part and given up, long after the burst, and one question in ten is answered. Twenty with
---           delays that grow to ten minutes, half of them drawn at random, answer all of them, later.
--- Limits    Nothing refuses a request; a client that gives up does not come back later with the same question.
local function impatient(more)
  local given = { first_token_s = 0, total_s = 15 }
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
    rate_per_s = 7,
    burst_rate_per_s = 60,
    burst_s = 20,
    period_s = 100000,
    num_requests = 4000,
    prompt_tokens = { distribution = "lognormal", mean = 1024, sigma = 0.6, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 256, sigma = 0.5, max = 1500 },
  },
  vary = {
    client = {
      { label = "patient", value = require "clients.patient" {} },
      { label = "15 s, no retry", value = impatient {} },
      { label = "2 at once", value = impatient { retries = 2 } },
      { label = "20 at once", value = impatient { retries = 20 } },
      { label = "20 with delays",
        value = impatient { retries = 20, delay_s = 5, factor = 3, most_s = 600, jitter = 0.5 } },
      { label = "openai, 15 s", value = require "clients.openai" { timeout_s = 15 } },
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
