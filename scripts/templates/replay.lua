--- What happens to recorded traffic, and to more of it?
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    The requests of @STEM@.csv at their recorded times, and twice and four times as fast. Replace the
---           file by your own: plain columns as in it, or those of Azure, BurstGPT, Mooncake, BLIS
---           (docs/DATA.md, "Traces").
--- Measures  TTFT, TPOT, and goodput under the limits of `slo`.
--- Expect    What you believe before you look.
--- Limits    Users send less when answers come late; a replay does not.
---
---   rooflua check @FILE@                        counts the requests that the file has
---   rooflua run @FILE@ --html report.html       the answer with charts
---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  title = "Recorded traffic, replayed",
  seed = 1,
  model = "llama-3.1-8b", -- rooflua list models
  hardware = "h200-sxm", -- rooflua list hardware
  engine = "vllm 0.24", -- rooflua list engines
  steps = require "steps.kernels" {},
  scheduler = require "schedulers.vllm_v1" {},
  workload = require "workloads.trace" { path = "@STEM@.csv" }, -- looked for beside this file
  slo = { ttft_s = 0.5, tpot_s = 0.05 },

  vary = {
    ["workload.time_scale"] = {
      { label = "as recorded", value = 1 }, { label = "2 times", value = 1 / 2 }, { label = "4 times", value = 1 / 4 },
    },
  },
}
return scenario
