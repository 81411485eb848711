--- Must a router know exactly what replicas have cached, where caches lose it all the time?
---
--- Setup     Llama-3.1-8B, bf16, eight replicas on one H100 each, with 40,000 tokens of KV each. 120 groups of prompts
---           with 2,400 common tokens and 200 of their own: all caches together hold 130 groups and little else.
--- Method    Routers that differ only in how they know prefixes: not at all, from what they sent (half as many blocks
---           as a cache has, as many, ten times as many), from events of the caches at once, late by 2 s and 30 s, and
---           with a half of the events lost.
--- Measures  Which part of the prompts is found in caches, TTFT.
--- Expect    Without knowledge a prompt in ten finds its beginning; with exact knowledge four fifths. What was sent is
---           as good if the router remembers as much as a cache holds, and nearly as good if it remembers more: a
---           prompt that returns to where it was renews what was lost there. Half as much is much worse, and so are
---           events that are 2 s late, because prompts that follow each other within 2 s go to different places.
--- Limits    Every group is asked for equally often. Lookups take no time. One router; with several each knows a part.
local affinity = require "routers.prefix_affinity"

local function case(label, router) return { label = label, set = { router = router } } end

local function sent(blocks)
  return affinity { slack = 16, index = "approximate", block_tokens = 16, lru_blocks = blocks }
end

return {
  rooflua = 1,
  title = "How routers know prefixes",
  seed = 6,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  deployment = { kv_blocks = 2500, max_model_len = 8192 },
  replicas = 8,
  workload = require "workloads.poisson" {
    rate_per_s = 60,
    num_requests = 4000,
    prompt_tokens = 200,
    output_tokens = 60,
    prefix_groups = 120,
    prefix_tokens = 2400,
  },
  vary = { router = {
    case("no index", require "routers.least_outstanding" {}),
    case("sent, half a cache", sent(1250)),
    case("sent, as a cache", sent(2500)),
    case("sent, ten caches", sent(25000)),
    case("events", affinity { slack = 16 }),
    case("events, 2 s late", affinity { slack = 16, lag_s = 2 }),
    case("events, 30 s late", affinity { slack = 16, lag_s = 30 }),
    case("events, half of them", affinity { slack = 16, loss = 0.5 }),
  } },
  report = function(results)
    local rows = { { "index", "cached %", "TTFT p50 ms", "TTFT p99 ms" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", 100 * s.cached_tokens / s.prompt_tokens, s.ttft_s.p50 * 1000,
        s.ttft_s.p99 * 1000 }
    end
    return rows
  end,
}
