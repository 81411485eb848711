--- What do stores of KV cost in time on long prompts, by the size of their chunks?
---
--- Setup     As tests/bench/mooncake.lua, and 100 GB of the host's memory for each replica; tiers/vllm_cpu.
--- Method    /usr/bin/time -f '%U s %M KB' build/release/bin/rooflua run tests/bench/mooncake_tiers.lua --quiet
---           and the same with --set tiers.stores.1.chunk_tokens=256
--- Measures  User CPU time and memory of the process.
--- Expect    Less than three times that of tests/bench/mooncake.lua, also with chunks of one block.
return {
  rooflua = 1,
  title = "Mooncake's conversations on eight replicas with memory of the host",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 8192 },
  replicas = 8,
  router = require "routers.prefix_affinity" {},
  workload = require "workloads.trace" { path = "../shared/data/traces/mooncake_conversation.jsonl" },
  tiers = {
    policy = require "tiers.vllm_cpu" {},
    stores = { { name = "cpu", capacity_bytes = 100e9 } },
  },
}
