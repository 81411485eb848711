--- What does prefix_affinity cost on long prompts that share their beginnings?
---
--- Setup     Llama-3.1-8B, bf16, eight H200; steps/kernels; schedulers/vllm_v1; prefix_affinity.
--- Method    Replay of Mooncake's conversation trace: 12,031 requests, 13,000 tokens each.
---           /usr/bin/time -f '%U s %M KB' build/release/bin/rooflua run tests/bench/mooncake.lua --quiet
--- Measures  User CPU time and memory of the process.
--- Expect    0.5 s.
--- Limits    Each prompt has 800 blocks: most of the time goes into taking, hashing and dropping them.
return {
  rooflua = 1,
  title = "Mooncake's conversations on eight replicas",
  seed = 1,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 256, max_num_batched_tokens = 8192 },
  replicas = 8,
  router = require "routers.prefix_affinity" {},
  workload = require "workloads.trace" { path = "../shared/data/traces/mooncake_conversation.jsonl" },
}
