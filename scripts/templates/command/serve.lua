--- What does this server do under load? One question, answered by the table that the run prints.
---
--- Setup     The deployment that a launch command starts:
---           @COMMAND@
--- Method    300 requests at rates of 1 to 8 per second, one seed; the rate is all that changes.
--- Measures  Throughput, p50 and p99 of TTFT and TPOT; goodput under the limits of `slo`.
--- Expect    What you believe before you look. Keep it here even if it proves wrong.
--- Limits    @TOLD@
---
---   rooflua check @FILE@                        mistakes, and the evidence that the times will rest on
---   rooflua run @FILE@                          the answer
---   rooflua run @FILE@ --html report.html       the answer with charts
---   rooflua run @FILE@ --set engine.@OPTION@
---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "A question of my own",
  seed = 1, -- same seed, same requests in every variant

  model = "@MODEL@",
  hardware = "@HARDWARE@", -- rooflua list hardware
  -- The release and what the command says, in the engine's own words: rooflua help engines.@ENGINE@
  engine = "@OPTIONS@",
  -- @MORE@

  -- When requests come and how long they are. Recorded ones: require "workloads.trace" { path = ... }; users who
  -- wait for answers and think: run with --users 40, or rooflua new NAME --kind users
  workload = require "workloads.poisson" {
    rate_per_s = 4,
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 200, sigma = 0.6, max = 2000 },
  },
  slo = { ttft_s = 0.5, tpot_s = 0.05 },

  -- One run per value; several keys make every combination.
  vary = { ["workload.rate_per_s"] = { 1, 2, 4, 8 } },
}
return scenario
