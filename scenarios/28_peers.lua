--- What does KV in the memory of other replicas bring?
---
--- Setup     Llama-3.1-8B, bf16, four replicas on one H100 each, each on a node of its own with a network of 400 Gb/s
---           and 100 GB of its host's memory for KV. Conversations of eight turns.
--- Method    The router sends a turn to the next replica in turn, so that three of four turns find nothing in their own
---           host. KV of other hosts is not read; or read where it adds 2,048 tokens; or one pool over the network
---           holds all; or the router sends a turn where its history is.
--- Measures  TTFT, which part of the prompts is computed, what comes from peers, how busy the network is.
--- Expect    In turn, four fifths of the prompts are computed again. Peers halve that, and TTFT with it; the network is
---           hardly busy. One pool of 400 GB does better still, because it keeps nothing twice. A router that sends a
---           turn where its history is needs no network, computes as much as with peers, and its TTFT p99 is twice as
---           high: some replicas get more than others.
--- Limits    Lookups in other hosts take no time; no replica fails.
local function hosts(peers, policy)
  return { policy = policy or require "tiers.vllm_cpu" {},
    stores = { { name = "cpu", capacity_bytes = 100e9, peers = peers } } }
end

local pool = { policy = require "tiers.vllm_cpu" {},
  stores = { { name = "pool", capacity_bytes = 400e9, per = "cluster", read = { "nic" } } } }

local function case(label, tiers, more)
  local set = { tiers = tiers, router = require "routers.round_robin" {} }
  for key, value in pairs(more) do set[key] = value end
  return { label = label, set = set }
end

local network = { links = { nic = { bytes_per_s = 50e9 } } }

return {
  rooflua = 1,
  title = "KV of other replicas",
  seed = 4,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  replicas = 4,
  workload = require "workloads.multi_turn" {
    sessions = 500,
    session_rate_per_s = 3,
    turns = 8,
    think_time_s = 20,
    prompt_tokens = 1500,
    output_tokens = 150,
  },
  vary = { tiers = { case("own host", hosts(), {}), case("peers", hosts({ "nic" }, require "tiers.peer" {}), network),
    case("one pool", pool, network),
    case("own host, router by prefix", hosts(), { router = require "routers.prefix_affinity" {} }) } },
  report = function(results)
    local rows = { { "KV", "TTFT p50 ms", "TTFT p99 ms", "TPOT p99 ms", "computed %", "from peers %",
      "network busy %" } }
    for _, result in ipairs(results) do
      local s, busy = result.summary, 0
      for _, link in ipairs(s.links) do if link.name == "nic" then busy = 100 * link.busiest_frac end end
      rows[#rows + 1] = { result.name:match "=(.*)", s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000, s.tpot_s.p99 * 1000,
        100 - 100 * s.cached_tokens / s.prompt_tokens, 100 * s.tiers[1].peer_hit_tokens / s.prompt_tokens, busy }
    end
    return rows
  end,
}
