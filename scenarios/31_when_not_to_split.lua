--- When had a decode replica better compute a prompt itself?
---
--- Setup     Llama-3.1-8B, bf16, four H200: one prefill replica and three decode replicas, KV over 100 Gb/s each.
--- Method    The same conversations: a document of 6,000 tokens, then questions about it. From the second turn on the
---           decode replica that served the first has nearly all of the prompt cached. The router keeps a conversation
---           where its prefix is. A prompt is always split; or not if fewer than 512 tokens of it are not cached
---           there; or as Dynamo decides; or also not while the prefill replica is busy.
--- Measures  TTFT and the gap between tokens; how many prompts are split; KV that is sent.
--- Expect    The decode replica pulls what it has not cached: the document once, and each question. The trip through
---           two replicas costs more than the question: TTFT p50 falls from 30 to 17 ms where only first turns are
---           split. All clients begin at once, so the first documents queue at the prefill replica for up to 3 s.
---           Where the decode replicas take what it has no time for, they wait for a second at most, and the gaps
---           between tokens grow.
--- Limits    With KV that sets off by chunks all of it would be sent (docs/DISAGGREGATION.md).
local function decider(label, value) return { label = label, value = value } end

return {
  rooflua = 1,
  title = "Prompts that are split, and prompts that are not",
  seed = 7,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  router = require "routers.prefix_affinity" {},
  replicas = { { role = "prefill" }, { role = "decode", count = 3 } },
  network = { bytes_per_s = 12.5e9, alpha_s = 0.0004 },
  disaggregation = { order = "decode_first" },
  workload = require "workloads.conversations" {
    conversations = 60,
    clients = 24,
    num_requests = 600,
    turns = 6,
    private_tokens = 6000,
    prompt_tokens = 200,
    output_tokens = 150,
    pause_s = 2,
  },
  vary = { ["disaggregation.decider"] = {
    decider("always", require "deciders.always" {}),
    decider("uncached < 512", require "deciders.uncached" { uncached_tokens = 512 }),
    decider("isl_bounding", require "deciders.isl_bounding" {}),
    decider("or busy", require "deciders.either" {}) } },
  report = function(results)
    local rows = { { "decider", "split %", "KV sent GB", "TTFT p50 ms", "TTFT p99 ms", "gap p99 ms" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", 100 * s.disaggregation.split_frac,
        s.disaggregation.kv_bytes / 1e9, s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000, s.itl_s.p99 * 1000 }
    end
    return rows
  end,
}
