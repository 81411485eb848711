--- Load KV from a disk, or compute it again?
---
--- Setup     Llama-3.1-8B, bf16, on an L40S, an H100 and a B200, each beside SSDs that read 6 GB/s. 48 documents of
---           8,192 tokens are asked about again and again; the GPU's cache is cut to 12 of them.
--- Method    One client, so that the GPU is idle in between, and 16 clients, so that it is busy. Documents are computed
---           again; or loaded whenever the disk has them; or loaded where that gains time (break_even).
--- Measures  TTFT of one client, and requests per second of sixteen.
--- Expect    A token takes 22 us from the disk. An L40S computes it in 83 us, an H100 in 25, a B200 in 15. So an idle
---           L40S gains threefold, an idle H100 a tenth, and an idle B200 is better off without. With 16 clients the
---           disk limits to 5.8 requests/s what always loads. A mixture of both is the fastest on H100 and B200: the
---           disk works while the GPU computes.
--- Limits    A disk that reads as fast in every pattern, and does not wear.
local function tiers(name, policy)
  return { label = name, set = policy and { links = { ssd = { bytes_per_s = 6e9 } },
    tiers = { policy = policy, stores = { { name = "ssd", capacity_bytes = 4e12, per = "node", read = { "ssd" } } } } }
    or {} }
end

return {
  rooflua = 1,
  title = "KV from a disk, or computed again",
  seed = 2,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  deployment = { kv_blocks = 12 * 512, max_model_len = 16384 },
  workload = require "workloads.closed_loop" {
    clients = 1,
    num_requests = 300,
    distinct_prompts = 48,
    prompt_tokens = 8192,
    output_tokens = 16,
  },
  vary = {
    hardware = { "l40s", "h100-sxm", "b200" },
    ["workload.clients"] = { 1, 16 },
    tiers = { tiers("computed", nil), tiers("disk", require "tiers.vllm_cpu" {}),
      tiers("gain", require "tiers.break_even" {}) },
  },
  report = function(results)
    local rows, by_case = { { "GPU", "KV", "1 client: TTFT p50 ms", "16 clients: requests/s", "from the disk %" } }, {}
    for _, result in ipairs(results) do
      local gpu, kv, clients = result.name:match "hardware=(.-), tiers=(.-), clients=(%d+)"
      local s = result.summary
      local row = by_case[gpu .. kv]
      if not row then
        row = { gpu, kv, 0, 0, 0 }
        by_case[gpu .. kv], rows[#rows + 1] = row, row
      end
      if clients == "1" then
        row[3] = s.ttft_s.p50 * 1000
      else
        row[4], row[5] = s.requests_per_s, s.tiers and 100 * s.tiers[1].hit_frac or 0
      end
    end
    return rows
  end,
}
