--- How many users does this server hold?
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    Each user sends a request, waits for its answer, thinks, and sends the next; the number of users changes.
--- Measures  Requests/s, p50 and p99 of TTFT and TPOT; goodput under the limits of `slo`.
--- Expect    What you believe before you look.
--- Limits    Every user has requests of the same lengths, and nobody gives up (`client`).
---
---   rooflua check @FILE@                        mistakes, and the evidence that the times will rest on
---   rooflua run @FILE@                          the answer
---   rooflua run OTHER.lua --users 40            the requests of another scenario, from 40 users
---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "How many users",
  seed = 1,
  model = "llama-3.1-8b", -- rooflua list models
  hardware = "h200-sxm", -- rooflua list hardware
  engine = "vllm 0.24", -- rooflua list engines
  workload = require "workloads.closed_loop" {
    clients = 40,
    think_time_s = 10, -- mean of an exponential pause; users begin after a first one
    num_requests = 2000,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  slo = { ttft_s = 0.5, tpot_s = 0.05 },
  vary = { ["workload.clients"] = { 20, 40, 80, 160 } },
}
return scenario
