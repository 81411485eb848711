--- Does a gate that refuses end what retries keep up?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; clients end a request that takes longer than 15 s.
--- Method    7 requests/s, about a third of what the GPU serves, after 20 s at 60 requests/s; clients that do not send
---           again, that do so at once twenty times, and that wait longer each time; without a gate, and with one that
---           refuses while the queue of the engine is long.
--- Measures  Which part of the questions is answered; attempts per question; requests that are refused;
---           output of attempts that failed; what a client waits from its first sending on.
--- Expect    Without a gate, retries at once keep the GPU at work for clients that have gone. With it they are refused
---           while the burst lasts, and use up their attempts: the burst is lost, as without retries, and the rest is
---           served. Retries with growing delays are answered with or without a gate, and with it little output is
---           wasted.
--- Limits    A refusal costs nothing; a client that has given up does not come back.
local function impatient(more)
  local given = { first_token_s = 0, total_s = 15 }
  for key, value in pairs(more or {}) do given[key] = value end
  return require "clients.impatient" (given)
end

return {
  rooflua = 1,
  title = "Retries behind a gate",
  seed = 39,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  workload = require "workloads.burst" {
    rate_per_s = 7,
    burst_rate_per_s = 60,
    burst_s = 20,
    period_s = 100000,
    num_requests = 3000,
    prompt_tokens = { distribution = "lognormal", mean = 1024, sigma = 0.6, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 256, sigma = 0.5, max = 1500 },
  },
  vary = {
    admission = {
      { label = "no gate", value = "always" },
      { label = "refuses", value = require "admission.saturation" {} },
    },
    client = {
      { label = "no retry", value = impatient {} },
      { label = "20 at once", value = impatient { retries = 20 } },
      { label = "20 with delays",
        value = impatient { retries = 20, delay_s = 5, factor = 3, most_s = 600, jitter = 0.5 } },
    },
  },
  report = function(results)
    local rows = { { "gate and client", "answered %", "attempts", "refused", "wasted output %", "E2E p50 s",
      "E2E p99 s" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local c, wasted = s.clients, s.wasted_output_tokens or 0
      rows[#rows + 1] = { (result.name:gsub("[%a_]+=", "")), 100 * c.answered_frac, c.attempts_mean, s.gate.refused,
        100 * wasted / (wasted + s.output_tokens), c.client_e2e_s.p50, c.client_e2e_s.p99 }
    end
    return rows
  end,
}
