--- What is it worth to send KV before its prompt is computed, where replicas share their network interfaces?
---
--- Setup     Llama-3.1-8B, bf16, eight H200: four prefill replicas on one node, four decode replicas on another. Each
---           node has one network interface of 200 Gb/s.
--- Method    The same 600 requests, Poisson at 20 per second, prompts of 8,192 tokens: 1.07 GB of KV each, 21 GB/s of
---           25. Prompts are computed in chunks of 2,048 tokens. Their KV sets off at the end, with the end of each
---           chunk, or layer by layer with its start.
--- Measures  TTFT; from the computed prompt to its KV at the decode replica; blocks of computed prompts that prefill
---           replicas keep, times seconds.
--- Expect    The interface carries the same bytes. At the end the KV of a prompt takes 43 ms alone, and nearly three
---           times that beside others. By chunks three quarters of it have gone before the prompt is computed: the
---           wait falls to a seventh, and prefill replicas keep blocks for a seventh of the time. By layers nothing
---           is left to wait for. TTFT p50 falls by 8 and 18 %. Its p99 hardly falls: it is the queue in front of
---           the prefill.
--- Limits    Transfers share bandwidth in equal parts. Blocks at the decode replica are taken when the first KV sets
---           off, so they are taken for longer.
local function push(when) return { label = when, value = when } end

return {
  rooflua = 1,
  title = "KV that is pulled, and KV that is pushed, over shared interfaces",
  seed = 6,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  scheduler = require "schedulers.vllm_v1" { max_num_batched_tokens = 2048 },
  router = require "routers.least_outstanding" {},
  replicas = { { role = "prefill", count = 4, node = 1 }, { role = "decode", count = 4, node = 2 } },
  links = { nic = { bytes_per_s = 25e9 } },
  network = { path = { "nic" }, alpha_s = 0.0004 },
  disaggregation = { push = "end" },
  workload = require "workloads.poisson" {
    rate_per_s = 20,
    num_requests = 600,
    prompt_tokens = 8192,
    output_tokens = 128,
  },
  vary = { ["disaggregation.push"] = { push "end", push "chunks", push "layers" } },
  report = function(results)
    local rows = { { "push", "TTFT p50 ms", "TTFT p99 ms", "wait for KV p50 ms", "stretch", "block-s kept" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local split = s.disaggregation
      rows[#rows + 1] = { result.name:match "=(.*)", s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000,
        split.kv_wait_s.p50 * 1000, split.stretch_mean, split.kept_block_s }
    end
    return rows
  end,
}
