--- A server for other programs: what do clients meet when its replicas queue, preempt and fail?
---
--- Setup     Llama-3.1-8B, bf16, on two H100 behind a router that knows prefixes; a gate refuses while both are
---           saturated; one of them fails after two minutes, for half a minute.
--- Method    `rooflua emulate scenarios/43_emulated.lua` serves it to clients. `rooflua run` sends the workload.
--- Measures  TTFT and TPOT of the requests that were answered; how many were refused or lost.
--- Expect    The requests of the replica that fails are lost. The other one has all of the load until it is back, its
---           batches grow, and for a moment the gate refuses. Behind HTTP a refused request gets status 429, and a
---           lost one 503 or a stream that breaks off.
--- Limits    Lengths of answers are drawn; clients of `run` do not come back.
return {
  rooflua = 1,
  title = "An emulated server",
  seed = 43,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  replicas = 2,
  router = require "routers.llm_d" {},
  admission = require "admission.saturation" {},
  faults = require "faults.scripted" { list = { { time_s = 120, replica = 1, repair_s = 30 } } },
  workload = require "workloads.poisson" {
    rate_per_s = 24,
    num_requests = 4800,
    prompt_tokens = { distribution = "lognormal", mean = 1024, sigma = 0.6, max = 8000 },
    output_tokens = { distribution = "lognormal", mean = 192, sigma = 0.5, max = 1500 },
  },
}
