--- A server whose host is slower than any that was measured: does its own data say so?
---
--- Setup     Llama-3.1-8B on one H100 under vLLM 0.10.2, 32 seats; chats at 5 requests/s. The host takes 4 ms a step in
---           place of what the engine's rules say.
--- Method    This scenario stands for the machine. What a person would hold of it is written, and read again:
---             rooflua emulate scenarios/49_attach.lua --startup-log server.log --port 0     (Ctrl-C)
---             rooflua run scenarios/49_attach.lua --requests bench.json
---             rooflua attach server.log bench.json --hardware h100-sxm --write server.lua
--- Measures  TTFT, TPOT, E2E and tokens/s of the machine; what `attach` finds of its host.
--- Expect    The files name every setting but the host's time. A calibration finds it to 2 %; with asynchronous
---           scheduling the GPU would not wait for this host.
--- Limits    One unknown. Several that act alike cannot be told apart, which the answer says.
return {
  rooflua = 1,
  title = "A slow host",
  seed = 49,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = { "vllm 0.10.2", max_num_seqs = 32, max_model_len = 8192 },
  steps = require "steps.kernels" { host_step_s = 4e-3 },
  workload = require "workloads.poisson" {
    rate_per_s = 5,
    num_requests = 300,
    prompt_tokens = { distribution = "lognormal", mean = 700, sigma = 0.6, max = 4000 },
    output_tokens = { distribution = "lognormal", mean = 100, sigma = 0.6, max = 1000 },
  },
}
