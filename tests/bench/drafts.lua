--- How long does the simulator take for one step of decodes that bring drafts?
---
--- Setup     Llama-3.1-8B, bf16, one H200; every step takes 10 ms, so that pricing is left out; schedulers/vllm_v1.
--- Method    256 seats decode with 3 drafts each. --set speculation.speculator.draft_tokens=0 is the same without
---           drafts; --set steps=steps.kernels adds the price of each step.
--- Measures  User CPU time per step, and instructions per step (valgrind --tool=callgrind), from outside.
--- Expect    Under 6 us a step on an idle machine.
--- Limits    The KV cache is larger than any GPU has, so that no request is preempted.
local policy = require "rooflua.policy"

local Constant = policy.define { name = "constant", doc = "Every step takes 10 ms." }

function Constant:time() return 0.010 end

return {
  rooflua = 1,
  title = "Nothing but steps that verify drafts",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  deployment = { prefix_caching = false, kv_blocks = 30000000 },
  steps = Constant {},
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 8192 },
  speculation = {
    speculator = require "speculators.fixed" { draft_tokens = 3 },
    acceptance = require "acceptance.per_position" { rates = { 0.6, 0.36, 0.17 } },
    drafter = require "drafters.free" {},
  },
  workload = require "workloads.closed_loop" {
    clients = 256,
    num_requests = 256,
    prompt_tokens = 16,
    output_tokens = 20000,
  },
}
