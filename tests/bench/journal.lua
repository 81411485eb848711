--- What does a step of a live simulation cost, whose journal follows 512 requests?
---
--- build/release/bin/rooflua lua tests/bench/journal.lua     prints us of CPU time per step; a slope between 10,000 and
--- 60,000 steps that decode the same requests, so that the start cancels. Llama-3.1-8B on an H200.
local serve = require("rooflua").serve

local live = serve.open {
  model = "llama-3.1-8b", hardware = "h200-sxm", seed = 1, deployment = { kv_blocks = 4000000, prefix_caching = false },
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 512, max_num_batched_tokens = 16384 },
  workload = require "workloads.closed_loop" {
    clients = 512, num_requests = 512, prompt_tokens = 100, output_tokens = 100000,
  },
}

local function run(steps)
  for _ = 1, steps do live:step() end
end

run(10000)
local before_s = os.clock()
run(50000)
print(("%.2f us per step with 512 in flight"):format((os.clock() - before_s) / 50000 * 1e6))
