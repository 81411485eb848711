-- Parameters of routers: with what else each of them acts.
local routers = {}

--- Prompts of groups, each longer than a block of an index, on caches that lose some.
local function grouped(served, load)
  return function(one)
    return served { replicas = 3, router = one, deployment = { kv_blocks = 900 },
      workload = load { num_requests = 200, rate_per_s = 60, prompt_tokens = 900, prefix_groups = 12,
        prefix_tokens = 700 } }
  end
end

--- Conversations.
local function in_sessions(served)
  return function(one)
    return served { replicas = 3, router = one, deployment = { kv_blocks = 900 },
      workload = require "workloads.multi_turn" { sessions = 30, session_rate_per_s = 10, turns = 4, think_time_s = 0.5,
        prompt_tokens = 200, output_tokens = 30 } }
  end
end

local gateways = { "prefix_affinity", "llm_d", "dynamo_kv", "sglang_cache_aware", "aibrix_prefix_cache", "kv_aware",
  "vllm_dp_load" }

function routers.declare(effects, served, load)
  local groups, sessions = grouped(served, load), in_sessions(served)
  for _, name in ipairs(gateways) do effects.own["routers." .. name] = { groups, sessions } end
  local needs = {
    ["llm_d.max_penalty_tokens"] = { affinity_threshold = 0.1 }, ["llm_d.exploration"] = { affinity_threshold = 0.1 },
    ["llm_d.idle_threshold"] = { active = 5 }, ["llm_d.max_busy_score"] = { active = 5 },
    ["llm_d.ranges"] = { context_length = 5 },
    ["llm_d.context_length"] = { ranges = { { 0, 500 }, { 500, 1000 }, { 1000, 4000 } } },
    ["llm_d.ttft_slo_s"] = { headroom = 9 }, ["llm_d.prefill_tokens_per_s"] = { headroom = 9, ttft_slo_s = 0.1 },
    ["sglang_dp.staleness_s"] = { method = "total_tokens" },
    ["sglang_cache_aware.balance_rel_threshold"] = { balance_abs_threshold = 0 },
    ["sglang_cache_aware.balance_abs_threshold"] = { balance_rel_threshold = 1 },
    ["llm_d.load_aware"] = { queue = 0, kv = 0, prefix = 0 },
    ["llm_d.most_holders"] = { index = "precise", speculative_ttl_s = 2, block_tokens = 16 },
    ["llm_d.speculative_ttl_s"] = { index = "precise", lag_s = 5 },
    ["llm_d.prefix_score"] = { index = "precise" },
    ["llm_d.session"] = { queue = 0, kv = 0, prefix = 0, no_hit_lru = 1 },
    ["kv_aware.lag_s"] = { threshold = 950 }, ["kv_aware.loss"] = { threshold = 950 },
    ["aibrix_prefix_cache.imbalance_factor"] = { imbalance_min_gap = 0 },
    ["aibrix_prefix_cache.imbalance_min_gap"] = { imbalance_factor = 0 },
  }
  local values = {
    ["llm_d.affinity_threshold"] = { 0.1, 0.2 }, ["llm_d.max_penalty_tokens"] = { 1, 100 },
    ["llm_d.most_holders"] = { 0, 1, 2 }, ["llm_d.speculative_ttl_s"] = { 0.5, 5 },
    ["llm_d.ranges"] = { { { 0, 500 }, { 500, 1000 }, { 1000, 4000 } } },
    ["llm_d.max_prefix_tokens"] = { 64, 256 }, ["llm_d.exploration"] = { 0.5, 1 },
    ["sglang_cache_aware.balance_abs_threshold"] = { 0, 1 },
    ["sglang_cache_aware.balance_rel_threshold"] = { 0, 1, 100 },
    ["kv_aware.threshold"] = { 0, 200 }, ["kv_aware.window_s"] = { 0.05, 0.5 }, ["session.window_s"] = { 0.05, 0.5 },
    ["aibrix_prefix_cache.deviation_factor"] = { 0, 0.2 },
    ["aibrix_prefix_cache.imbalance_factor"] = { 0, 0.5 }, ["aibrix_prefix_cache.imbalance_min_gap"] = { 0, 1, 100 },
  }
  for _, name in ipairs { "prefix_affinity", "dynamo_kv", "llm_d" } do
    for _, each in ipairs { "block_tokens", "lru_blocks", "ttl_s" } do
      needs[name .. "." .. each] = { index = "approximate" }
    end
    for _, each in ipairs { "lag_s", "loss" } do needs[name .. "." .. each] = { index = "precise" } end
    values[name .. ".lag_s"], values[name .. ".loss"] = { 0.5, 100 }, { 0.5, 1 }
    values[name .. ".lru_blocks"], values[name .. ".ttl_s"] = { 1, 20, 40 }, { 0.01, 0.5 }
  end
  values["kv_aware.lag_s"], values["kv_aware.loss"] = { 0.5, 100 }, { 0.5, 1 }
  values["aibrix_prefix_cache.lru_blocks"], values["aibrix_prefix_cache.ttl_s"] = { 1, 40 }, { 0.01, 0.5 }
  values["sglang_cache_aware.max_tree_blocks"] = { 1, 40, 100 }
  for _, name in ipairs { "prefix_affinity", "llm_d", "dynamo_kv", "sglang_cache_aware", "aibrix_prefix_cache" } do
    values[name .. ".block_tokens"] = { 1000 } -- longer than what prompts have in common
  end
  for name, given in pairs(needs) do effects.needs["routers." .. name] = given end
  for name, given in pairs(values) do effects.values["routers." .. name] = given end
end

return routers
