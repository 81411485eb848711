--- How much network do prefill and decode need between them, and what goes wrong with less?
---
--- Setup     Llama-3.1-8B, bf16, eight H200: four prefill replicas on one node, four decode replicas on another.
--- Method    The same 800 requests, Poisson at 36 per second, prompts of 4,096 tokens: 537 MB of KV each, 19 GB/s in
---           all. Each node has one network interface that its replicas share: of 400, 200 and 100 Gb/s. For comparison
---           each transfer has 100 Gb/s of its own, as if nobody else sent.
--- Measures  TTFT, how much longer a transfer takes than it would alone (stretch), and the share of time in which the
---           interface is busy.
--- Expect    With 400 Gb/s the interface is busy 37 % of the time, and transfers take half as long again. With
---           200 Gb/s it is busy three quarters of the time, and transfers take nearly three times as long.
---           100 Gb/s carry less than what is computed: transfers pile up for as long as requests come, and prefill
---           replicas fill up with KV that has not left. A wire of its own for each transfer hides that: 100 Gb/s
---           look as if they cost 43 ms.
--- Limits    Transfers share bandwidth in equal parts. Packets, switches between nodes and congestion control are not
---           modelled.
local function interface(gbit_per_s)
  return { label = ("%d Gb/s, shared"):format(gbit_per_s), set = {
    links = { nic = { bytes_per_s = gbit_per_s / 8 * 1e9 } },
    network = { path = { "nic" }, alpha_s = 0.0004 } } }
end

return {
  rooflua = 1,
  title = "Prefill and decode behind one network interface each",
  seed = 5,
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  router = require "routers.least_outstanding" {},
  replicas = { { role = "prefill", count = 4, node = 1 }, { role = "decode", count = 4, node = 2 } },
  workload = require "workloads.poisson" {
    rate_per_s = 36,
    num_requests = 800,
    prompt_tokens = 4096,
    output_tokens = 128,
  },
  vary = { network = { interface(400), interface(200), interface(100),
    { label = "100 Gb/s, own", set = { network = { bytes_per_s = 12.5e9, alpha_s = 0.0004 },
      replicas = { { role = "prefill", count = 4 }, { role = "decode", count = 4 } } } } } },
  report = function(results)
    local rows = { { "network", "TTFT p50 ms", "TTFT p99 ms", "stretch", "interface busy %" } }
    for _, result in ipairs(results) do
      local s = result.summary
      local link = s.links and s.links[1]
      rows[#rows + 1] = { result.name:match "=(.*)", s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000,
        link and link.stretch_mean or 1, link and 100 * link.busiest_frac or "-" }
    end
    return rows
  end,
}
