-- Keys and policies of KV tiers: what scenes.lua has of them.
local tiers = {}

--- Conversations that the GPU's cache does not hold, on two replicas that take turns.
local function conversations(served, more)
  local out = { deployment = { kv_blocks = 450, max_model_len = 6000 }, replicas = 2, router = "round_robin",
    workload = require "workloads.multi_turn" { sessions = 24, session_rate_per_s = 6, turns = 4, think_time_s = 0.4,
      system_tokens = 128, output_tokens = 40, prompt_tokens = { distribution = "uniform", min = 100, max = 900 } },
    links = { pcie = { bytes_per_s = 4e9, per = "replica" }, nvme = { bytes_per_s = 2e9 },
      nic = { bytes_per_s = 1e9 } } }
  for key, value in pairs(more or {}) do out[key] = value end
  return served(out)
end

local function stores(more)
  local cpu = { name = "cpu", capacity_bytes = 8e8, peers = { "nic" } }
  for key, value in pairs(more or {}) do cpu[key] = value end
  return { cpu, { name = "ssd", capacity_bytes = 4e9, per = "node", read = { "nvme", "pcie" },
    write = { "pcie", "nvme" } } }
end

--- A scenario with these tiers.
function tiers.with_policy(served, one, more)
  return conversations(served, { tiers = { policy = one, stores = stores(more) } })
end

--- Two replicas that ask for the same documents, which one slow pool holds: content is still arriving when it is asked
--- for, and loads take long.
local function pooled(served, one)
  local pool = { name = "pool", capacity_bytes = 4e9, per = "cluster", read = { "nic" } }
  local small = { name = "small", capacity_bytes = 4e7, read = { "nic" } }
  local stores_in_first = one.name == "vllm_cpu" or one.name == "peer"
  return served { deployment = { kv_blocks = 450, max_model_len = 6000 }, replicas = 2, router = "round_robin",
    workload = require "workloads.closed_loop" { clients = 8, num_requests = 80, distinct_prompts = 6,
      prompt_tokens = 1500, output_tokens = 10 },
    links = { nic = { bytes_per_s = 4e8 } },
    tiers = { policy = one, stores = stores_in_first and { pool } or { small, pool } } }
end

--- One host, for what writes into no other store.
local function with_host(served, one)
  return conversations(served, { tiers = { policy = one, stores = { { name = "cpu", capacity_bytes = 8e8 } } } })
end

--- Scenes of a policy.
function tiers.scenes(served)
  return { function(one) return tiers.with_policy(served, one) end, function(one) return pooled(served, one) end,
    function(one) return with_host(served, one) end }
end

--- Requests of two classes that ask for documents again, alternately.
local function of_classes()
  local sent = 0
  return function()
    sent = sent + 1
    if sent <= 60 then
      local document = sent % 10
      return 0.2 * sent, 800, 10, { class = document % 2, content = { { 1 + document, 800 } } }
    end
  end
end

--- A store that cannot hold them all, with this eviction.
local function classes(served, one)
  local Classes = require("rooflua.policy").define { name = "classes", doc = "Documents of two classes." }
  function Classes.requests()
    return { next = of_classes(), shares_content = true }
  end
  return served { deployment = { kv_blocks = 120, max_model_len = 1800 }, workload = Classes {},
    links = { pcie = { bytes_per_s = 4e9, per = "replica" } },
    tiers = { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 6e8, eviction = one } } } }
end

--- Scenes of an eviction.
function tiers.evictions(served)
  return { function(one)
    return conversations(served, { tiers = { policy = "vllm_cpu", stores = stores { eviction = one } } })
  end, function(one) return classes(served, one) end }
end

--- Other parameters that those that are tried need, values to try, and parameters that change nothing.
function tiers.declare(effects)
  effects.needs["tiers.hicache.selective_uses"] = { write_policy = "write_through_selective" }
  effects.needs["tiers.hicache.prefetch_timeout_base_s"] = { prefetch_policy = "timeout",
    prefetch_timeout_per_ki_token_s = 0 }
  effects.needs["tiers.hicache.prefetch_timeout_per_ki_token_s"] = { prefetch_policy = "timeout",
    prefetch_timeout_base_s = 0 }
  effects.values["tiers.hicache.prefetch_timeout_base_s"] = { 0, 0.1 }
  effects.values["tiers.hicache.prefetch_timeout_per_ki_token_s"] = { 0, 0.05 }
  effects.needs["eviction.ttl.ttl_s"] = { class_ttl_s = { [1] = 8 } }
  effects.values["tiers.break_even.gpu_weight"] = { 0, 50 }
  effects.values["tiers.hicache.load_back_threshold"] = { 1000 }
  effects.values["tiers.lmcache.min_retrieve_tokens"] = { 1000 }
  effects.values["eviction.ttl.class_ttl_s"] = { { [1] = 0 }, { [0] = 0 } }
  effects.without["tiers.vllm_tiered.store_threshold"] = "0 and 1 both mean at once, and it refuses more"
end

--- Adds the keys of tiers: values that change a result.
function tiers.add(add, served)
  add(function() return tiers.with_policy(served, require "tiers.vllm_tiered" {}) end, {
    ["tiers.policy"] = { "vllm_cpu" }, ["tiers.overlap"] = { "layers" }, ["tiers.prefetch"] = { true },
    ["tiers.bytes_per_token"] = { 50000 }, ["tiers.stores.cpu.capacity_bytes"] = { 2e8 },
    ["tiers.stores.cpu.name"] = { "memory" }, ["tiers.stores.ssd.per"] = { "cluster" },
    ["tiers.stores.cpu.chunk_tokens"] = { 64 }, ["tiers.stores.cpu.alpha_s"] = { 0.05 },
    ["tiers.stores.cpu.read"] = { { "nvme" } }, ["tiers.stores.cpu.write"] = { { "nvme" } },
    ["tiers.stores.cpu.peers"] = { { "nvme" } }, ["tiers.stores.cpu.eviction"] = { "fifo", "lfu", "arc" },
    ["tiers.stores"] = { { { name = "cpu", capacity_bytes = 8e8 } } },
    ["links.pcie.bytes_per_s"] = { 1e8 } })
  add(function()
    return conversations(served, { hardware = { from = "h200" }, links = {},
      tiers = { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 8e8 } } } })
  end, { ["hardware.host_bytes_per_s"] = { 1e9 } })
end

return tiers
