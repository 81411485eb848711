--- How many adapters does a GPU serve, and what do they cost?
---
--- Setup     Llama-3.1-8B, bf16, on one H100, and 64 adapters of rank 16 on its attention and MLP, of which the k-th is
---           as popular as 1 / k. They lie on a disk that is read at 2 GB/s; the host keeps as many as there are slots,
---           as vLLM does by default.
--- Method    The same requests, 12 a second, with 1 to 64 slots (vLLM --max-loras), and without adapters.
--- Measures  TTFT and TPOT; different adapters in a step, loads, and requests that waited for a slot.
--- Expect    Adapters cost a quarter of TPOT even where all have slots: their kernels are many. 16 slots serve the
---           load, but a step that reads an adapter from the disk takes 43 ms more, so 32 slots are better on every
---           count. With 8 slots or fewer, requests wait for a slot while seats and blocks are free, and with one slot
---           half of the load is served. Memory is no reason for few slots: 64 take 5.4 of the 59 GB of the KV cache.
--- Limits    One load. What the GEMMs of adapters take is modelled, and no measured run was compared.
return {
  rooflua = 1,
  title = "Adapters of one model",
  seed = 44,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  workload = require "workloads.poisson" {
    rate_per_s = 12,
    num_requests = 1500,
    prompt_tokens = { distribution = "lognormal", mean = 512, sigma = 0.6, max = 4000 },
    output_tokens = { distribution = "lognormal", mean = 160, sigma = 0.5, max = 1000 },
  },
  vary = {
    adapters = (function()
      local out = { { label = "none", set = {} } }
      for _, slots in ipairs { 1, 4, 8, 16, 32, 64 } do
        out[#out + 1] = { label = ("%d slots"):format(slots), set = { adapters = { count = 64, rank = 16, zipf = 1,
          max_loras = slots, store_bytes_per_s = 2e9 } } }
      end
      return out
    end)(),
  },
  report = function(results)
    local rows = { { "adapters", "TTFT p50 ms", "TTFT p99 ms", "TPOT p50 ms", "in a step", "loads", "held" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local own = s.adapters or { adapters_mean = 0, loads = 0, held = 0 }
      rows[#rows + 1] = { result.name:match "=(.*)", s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000, s.tpot_s.p50 * 1000,
        own.adapters_mean, own.loads, own.held }
    end
    return rows
  end,
}
