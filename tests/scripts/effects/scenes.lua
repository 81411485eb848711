-- Scenarios in which parameters and keys act, for effects_test.lua.
local require = require
local adapters, clients = dofile "tests/scripts/effects/adapters.lua", dofile "tests/scripts/effects/clients.lua"
local encoders, experts = dofile "tests/scripts/effects/encoders.lua", dofile "tests/scripts/effects/experts.lua"
local fleets = dofile "tests/scripts/effects/fleets.lua"
local frontends = dofile "tests/scripts/effects/frontends.lua"
local gates, links = dofile "tests/scripts/effects/gates.lua", dofile "tests/scripts/effects/links.lua"
local widths = dofile "tests/scripts/effects/widths.lua"
local routers = dofile "tests/scripts/effects/routers.lua"
local tiers = dofile "tests/scripts/effects/tiers.lua"
local based_on = dofile "tests/scripts/scene.lua"
local effects = { folders = { "acceptance", "bucketing", "corrections", "drafters", "lookup", "metrics", "routers",
  "schedulers", "speculators", "steps", "workloads", "power", "objectives", "strategies", "candidates", "tiers",
  "eviction", "deciders", "admission", "clients", "faults", "autoscalers", "balancers" } }

local lengths = { prompt_tokens = { distribution = "uniform", min = 20, max = 3000 },
  output_tokens = { distribution = "uniform", min = 2, max = 120 } }

local function load(more)
  local own = { rate_per_s = 40, num_requests = 40, prompt_tokens = lengths.prompt_tokens,
    output_tokens = lengths.output_tokens }
  for key, value in pairs(more or {}) do own[key] = value end
  return require "workloads.poisson"(own)
end

--- A served scenario: fast, and short of blocks, so that requests wait and are preempted.
local function served(more)
  return based_on({ hardware = "h200", engine = "vllm 0.24", steps = "roofline_v1", workload = load(),
    metrics = { requests = true } }, more)
end

local function priced(more)
  return based_on({ kind = "price", hardware = "h200", engine = "vllm 0.24", price = {
    { prefills = { { new_tokens = 300, context_tokens = 0 }, { new_tokens = 700, context_tokens = 2000 } } },
    { decode_contexts = { 300, 900, 5000 } },
    { prefills = { { new_tokens = 200, context_tokens = 100 } }, decode_contexts = { 300, 900, 5000 } },
    { decodes = 700, decode_context_tokens = 700 * 900 } } }, more)
end

local function speculating(slot)
  return function(instance)
    local group = { speculator = require "speculators.fixed" {}, acceptance = require "acceptance.constant" {},
      drafter = require "drafters.table" {} }
    group[slot] = instance
    return served { model = slot == "drafter" and instance.name == "mtp" and "deepseek-v3" or "llama-3.1-70b",
      deployment = { tp = 8 }, steps = "kernels", speculation = group, workload = load { num_requests = 15 } }
  end
end

local watched = { "h100-sxm", most = 16, price_per_hour = 3 } -- its watts were measured
--- A plan that takes a second.
local function planned(more, plan)
  local out = { kind = "plan", model = "llama-3.1-8b", seed = 1,
    workload = require "workloads.poisson" { prompt_tokens = { distribution = "lognormal", mean = 500, sigma = 0.7 },
      output_tokens = 40 },
    plan = { load = { rate_per_s = 30 }, slo = { ttft_s_p95 = 0.4, tpot_s_p95 = 0.05 }, replicates = 2, requests = 60,
      candidates = require "candidates.ladder" { tp = { 1, 2 }, max_num_seqs = { 32, 128 },
        max_num_batched_tokens = { 1024, 2048 } },
      gpus = { watched, { "l40s", most = 16, price_per_hour = 1 } } } }
  for key, value in pairs(plan or {}) do out.plan[key] = value end
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local function planning(slot, gpus)
  return function(instance) return planned({}, { [slot] = instance, gpus = gpus }) end
end

effects.scenes = {
  acceptance = { speculating "acceptance" }, speculators = { speculating "speculator" },
  drafters = { speculating "drafter" },
  bucketing = { function(one) return priced { steps = require "steps.roofline_v2" { bucketing = one } } end },
  corrections = { function(one) return priced { corrections = { one }, deployment = { tp = 2 } } end,
    function(one) return priced { model = "qwen3-30b-a3b", corrections = { one } } end,
    function(one) return priced { mfu = { tables = false }, corrections = { one } } end },
  lookup = { function(one) return priced { mfu = { lookup = one } } end },
  metrics = { function(one) return served { metrics = { own = one } } end },
  routers = { function(one)
    return served { replicas = 3, router = one, deployment = { kv_blocks = 900 },
      workload = load { num_requests = 150, prefix_groups = 4, prefix_tokens = 200 } }
  end },
  schedulers = {
    function(one) return served { scheduler = one, deployment = { kv_blocks = 500, max_model_len = 6000 } } end,
    function(one)
      return served { scheduler = one, deployment = { kv_blocks = 3000, max_model_len = 6000 },
        workload = load { num_requests = 60, prefix_groups = 3, prefix_tokens = 50, max_output_tokens = 400 } }
    end,
    function(one)
      return served { model = "qwen3-30b-a3b", scheduler = one, deployment = { dp = 2, ep = 2, max_model_len = 6000 },
        engine = one.name == "trtllm" and "trtllm" or "vllm 0.24" }
    end,
    function(one)
      return served { model = "qwen3-next-80b-a3b", scheduler = one,
        deployment = { tp = 4, kv_blocks = 3000, block_size = 64, prefix_caching = true },
        workload = load { num_requests = 40, prefix_groups = 3, prefix_tokens = 300 } }
    end },
  steps = { function(one) return priced { steps = one } end,
    function(one) return priced { steps = one, deployment = { tp = 2 } } end,
    function(one) return priced { steps = one, model = "qwen3-30b-a3b", deployment = { tp = 2, ep = 2 } } end,
    function(one) return priced { steps = one, mfu = { tables = false } } end,
    function(one) return priced { steps = one, engine = "sglang 0.5.9" } end,
    function(one) return priced { steps = one, model = "deepseek-v3", deployment = { tp = 8, ep = 8 } } end,
    function(one)
      return priced { steps = one, model = "deepseek-v3.2", deployment = { tp = 8 }, mfu = { tables = false } }
    end,
    function(one)
      return priced { steps = one, model = "qwen3-next-80b-a3b", deployment = { tp = 4 }, mfu = { tables = false } }
    end,
    function(one) return priced { steps = one, model = "nemotron-h-56b", deployment = { tp = 8 } } end,
    function(one)
      return served { model = "qwen3-30b-a3b", steps = one, deployment = { dp = 2, ep = 2 },
        workload = load { num_requests = 12 } }
    end,
    function(one) return served { steps = one, async_depth = 1, workload = load { num_requests = 12 } } end },
  workloads = { function(one)
    return served { workload = one, scheduler = require "schedulers.orca" { max_output_tokens = 300 } }
  end },
  tiers = tiers.scenes(served), eviction = tiers.evictions(served), deciders = links.deciders(served),
  clients = clients.scenes(served), faults = clients.faults(served),
  admission = gates.scenes(served), autoscalers = fleets.scenes(served),
  power = { planning "power" }, objectives = { planning "objective" }, strategies = { planning "strategy" },
  candidates = { planning "candidates" },
}

local function static(one)
  return { kind = "static", model = "qwen3-30b-a3b", hardware = "h20", steps = one, deployment = { tp = 2 } }
end

--- A speculating scenario on experts, with another drafter or scheduler.
local function drafting(more)
  return function(one)
    local out = { model = "qwen3-30b-a3b", steps = "kernels", async_depth = 1,
      speculation = { speculator = require "speculators.fixed" {}, acceptance = require "acceptance.constant" {},
        drafter = require "drafters.free" {} }, workload = load { num_requests = 12 } }
    more(out, one)
    return served(out)
  end
end

local function with_steps(out, one) out.steps = one end
local function with_scheduler(out, one) out.scheduler = one end

--- Drafters whose host time is on the path, in front of a model that they fit.
local function drafted(one)
  return served { model = one.name == "mtp" and "deepseek-v3" or "llama-3.1-70b", deployment = { tp = 4 },
    hardware = one.name == "mtp" and { from = "h200", memory_bytes = 1e12, usable_memory_bytes = 1e12 } or "h200",
    steps = "kernels", async_depth = 1, workload = load { num_requests = 12 },
    speculation = { speculator = require "speculators.fixed" {}, acceptance = require "acceptance.constant" {},
      drafter = one } }
end

--- A replica whose cache is short: prompts in chunks, and requests lose their seats.
local function cramped(more)
  return function(one)
    local out = { scheduler = one, deployment = { kv_blocks = 250, max_model_len = 3500 },
      workload = load { num_requests = 40, max_output_tokens = 300 } }
    for key, value in pairs(more or {}) do out[key] = value end
    return served(out)
  end
end

local function ranks_of_trtllm(one)
  return served { model = "qwen3-30b-a3b", engine = "trtllm", scheduler = one,
    deployment = { dp = 2, ep = 2, max_model_len = 6000 }, workload = load { rate_per_s = 100, num_requests = 60 } }
end

local function traced(one)
  return served { workload = one, replicas = 1, deployment = { kv_blocks = 4000 } }
end

local function long_speculation(slot)
  return function(one)
    local scene = speculating(slot)(one)
    scene.workload = load { num_requests = 60, rate_per_s = 15 }
    return scene
  end
end

local function well_guessed(one)
  local scene = speculating "speculator"(one)
  scene.speculation.acceptance = require "acceptance.constant" { rate = 0.95 }
  scene.workload = load { num_requests = 6, rate_per_s = 1, output_tokens = 400 }
  return scene
end

local function infersim(more)
  return function(one)
    local out = { steps = one, mfu = { default_mfu = 0.4 } }
    for key, value in pairs(more or {}) do out[key] = value end
    return priced(out)
  end
end

local function foretold(one) return dofile "tests/scripts/effects/foretold.lua"(served, one) end

--- Keys that no policy declares: {key, values, scene}.
local function keys_of()
  local out = {}
  local function add(scene, keys)
    for key, tried in pairs(keys) do out[#out + 1] = { key = key, values = tried, scene = scene } end
  end
  add(function() return served { steps = "kernels", workload = load { prefix_tokens = 72 } } end, {
    ["deployment.tp"] = { 2 }, ["deployment.pp"] = { 2 }, ["deployment.weights"] = { "fp8" },
    ["deployment.kv"] = { "fp8" }, ["deployment.partial_reuse"] = { true },
    ["deployment.memory_utilization"] = { 0.5 }, ["deployment.max_num_seqs"] = { 3 },
    ["deployment.max_num_batched_tokens"] = { 200 }, ["deployment.block_size"] = { 64 },
    ["deployment.kv_blocks"] = { 400 },
    ["deployment.prefix_caching"] = { false }, ["deployment.max_model_len"] = { 1000 },
    ["deployment.engine"] = { "sglang" },
    ["seed"] = { 5 }, ["async_depth"] = { 1 }, ["replicas"] = { 2 }, ["model"] = { "qwen3-8b" },
    ["hardware"] = { "h100" },
    ["engine"] = { "sglang 0.5.9" }, ["steps"] = { "roofline_v2" }, ["scheduler"] = { "sarathi" },
    ["frontend.base_s"] = { 0.1 }, ["frontend.per_prompt_token_s"] = { 0.001 },
    ["frontend.per_output_token_s"] = { 0.001 },
    ["slo.ttft_s"] = { 0.01 }, ["slo.tpot_s"] = { 0.001 }, ["slo.e2e_s"] = { 0.1 },
    ["slo.classes"] = { { [0] = { ttft_s = 0.001 } } },
    ["metrics.exact_requests"] = { 3 }, ["metrics.utilisation"] = { true }, ["metrics.requests"] = { false },
  })
  frontends.add(add, served)
  widths.add(add, served, load)
  add(function()
    return served { steps = "kernels", speculation = { speculator = require "speculators.fixed" {},
      acceptance = require "acceptance.constant" {} } }
  end, { ["metrics.itl"] = { "token" } })
  links.add(add, served)
  fleets.add(add, served)
  for _, each in ipairs { tiers, adapters, encoders, experts } do each.add(add, served) end
  add(function() return priced() end, { ["mfu.gpu"] = { "l40s" }, ["mfu.engine"] = { "sglang" },
    ["mfu.tables"] = { false },
    ["mfu.lookup"] = { "nearest" }, ["mfu.path"] = { "bench_data/l40s" }, ["mfu.layout"] = { "infersim" },
    ["mfu.hardware"] = { "h20" }, ["mfu.model"] = { { launch_s = 1e-5 } } })
  add(function() return priced { steps = "infersim", mfu = { lookup = "infersim_floor", gpu = "h20" } } end,
    { ["mfu.default_mfu"] = { 0.1 } })
  local changed = { from = "h200" }
  add(function() return served { steps = "kernels", hardware = changed, deployment = { tp = 16 }, model = "deepseek-v3",
    corrections = { "network" }, mfu = { tables = false }, workload = load { num_requests = 8 } } end, {
    ["hardware.peak_flop_per_s"] = { { bf16 = 5e14, fp8 = 1e15 } }, ["hardware.memory_bytes_per_s"] = { 1e12 },
    ["hardware.memory_bytes"] = { 5e11 }, ["hardware.usable_memory_bytes"] = { 1e11 },
    ["hardware.link_bytes_per_s"] = { 5e10 }, ["hardware.domain_gpus"] = { 4 },
    ["hardware.network_bytes_per_s"] = { 1e9 }, ["hardware.sms"] = { 66 }, ["hardware.clock_hz"] = { 1e9 },
    ["hardware.l2_bytes"] = { 1e8 } })
  add(function() return served { steps = "kernels", hardware = { from = "gb200" }, deployment = { tp = 8 } } end,
    { ["hardware.node_gpus"] = { 8 } })
  add(function() return served { steps = "kernels", hardware = changed } end, { ["hardware.tables_from"] = { "l40s" } })
  return out
end

--- What is read of a test: {scenes, own, needs, values, without, keys, hardware_keys}.
function effects.of(test)
  effects.own = {
    ["acceptance.per_position"] = { long_speculation "acceptance" },
    ["acceptance.synthetic"] = { long_speculation "acceptance" },
    ["corrections.expert_imbalance"] = {
      function(one) return priced { model = "qwen3-30b-a3b", steps = "infersim", corrections = { one } } end },
    ["drafters.block_parallel"] = { drafted }, ["drafters.draft_model"] = { drafted }, ["drafters.eagle"] = { drafted },
    ["drafters.mtp"] = { drafted }, ["power.measured"] = { planning("power", { watched }) },
    ["schedulers.vllm_v1.scheduler_reserve_full_isl"] = { cramped() },
    ["schedulers.sjf.scheduler_reserve_full_isl"] = { cramped() },
    ["schedulers.priority.scheduler_reserve_full_isl"] = { cramped() },
    ["schedulers.sglang.max_speculative_seqs"] = { drafting(with_scheduler) },
    ["schedulers.sglang.retract_decode_steps"] = { cramped { engine = "sglang 0.5.9",
      deployment = { kv_blocks = 5000, max_model_len = 3500 }, workload = load { num_requests = 40,
        prompt_tokens = 200, output_tokens = 300, max_output_tokens = 600 } } },
    ["schedulers.trtllm.attention_dp_batching_wait_iters"] = { ranks_of_trtllm },
    ["schedulers.trtllm.attention_dp_timeout_iters"] = { ranks_of_trtllm },
    ["speculators.by_batch"] = { long_speculation "speculator" }, ["speculators.ema"] = { well_guessed },
    ["acceptance.tree"] = { long_speculation "acceptance" }, ["speculators.gate"] = { long_speculation "speculator" },
    ["steps.infersim"] = { static, infersim(), infersim { model = "qwen3-30b-a3b", deployment = { tp = 2 } } },
    ["steps.infersim.hybrid_decode_overhead_s"] = { infersim { model = "qwen3-next-80b-a3b", deployment = { tp = 4 } },
      function(one)
        return { kind = "static", model = "qwen3-next-80b-a3b", hardware = "h20", steps = one, deployment = { tp = 4 } }
      end },
    ["steps.kernels.draft_overlap"] = { drafting(with_steps) }, ["workloads.trace"] = { traced },
    ["schedulers.sjf.output_weight"] = { foretold }, ["schedulers.sjf.unknown_output_tokens"] = { foretold },
    ["steps.roofline_v1.prefill_bw_factor"] = {
      function(one)
        return priced { steps = one, price = { { prefills = { { new_tokens = 2, context_tokens = 0 } } } } }
      end },
    ["steps.kernels.module_eager_s"] = {
      function(one) return priced { steps = one, model = "deepseek-v3.2", deployment = { tp = 8 } } end,
      function(one)
        return priced { steps = one, model = "deepseek-v3.2", hardware = "b200", deployment = { tp = 8 } }
      end },
    ["steps.kernels.largest_prefill_graph"] = {
      function(one)
        return priced { steps = one, price = { { prefills = { { new_tokens = 60, context_tokens = 0 } } } } }
      end,
      function(one) return priced { steps = one, engine = "sglang 0.5.9" } end },
    ["candidates.ladder.prefix_caching"] = { function(one)
      return planned({ workload = require "workloads.poisson" { prompt_tokens = 200, prefix_tokens = 600,
        output_tokens = 20 } }, { candidates = one })
    end },
    ["steps.roofline_v2.decode_mfu_mean"] = { function(one)
      return priced { steps = one, price = { { decode_contexts = { 20, 30000 } } } }
    end },
  }
  local rows = "arrival_s,prompt_tokens,output_tokens,hash_ids\n"
    .. "0,600,9,\"[1, 2]\"\n0.4,700,8,\"[1, 3]\"\n0.5,90,7,[4]\n"
  local config_json = test.file("config.json", [[{ "model_type": "qwen3", "num_hidden_layers": 10, "hidden_size": 2048,
    "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 6144,
    "vocab_size": 151936,
    "max_position_embeddings": 40960, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "rms_norm_eps": 1e-6,
    "hidden_act": "silu" }]])
  local trace = test.file("a.csv", rows)
  effects.needs = {
    ["acceptance.synthetic"] = { length = 2.5 }, ["bucketing.exact"] = { key = "new" },
    ["drafters.draft_model"] = { model = "llama-3.1-8b" },
    ["schedulers.sarathi"] = { enable_dynamic_chunking_schedule = true }, ["schedulers.sarathi.chunk_size"] = {},
    ["schedulers.sglang.random_seed"] = { schedule_policy = "random", max_num_seqs = 4 },
    ["schedulers.sglang.routing_key"] = { schedule_policy = "routing-key", max_num_seqs = 4 },
    ["schedulers.sglang.retract_decode_steps"] = { init_new_token_ratio = 0.01, schedule_conservativeness = 0.1 },
    ["schedulers.sjf.output_weight"] = { unknown_output_tokens = 50 },
    ["schedulers.trtllm.attention_dp_batching_wait_iters"] = { attention_dp_balance = true },
    ["schedulers.trtllm.attention_dp_timeout_iters"] = { attention_dp_balance = true },
    ["schedulers.trtllm.batch_wait_max_tokens_ratio"] = { batch_wait_timeout_iters = 20 },
    ["schedulers.trtllm.batch_wait_timeout_iters"] = { batch_wait_max_tokens_ratio = 0.5 },
    ["schedulers.trtllm.chunk_unit_size"] = { enable_chunked_context = true, max_num_batched_tokens = 1000 },
    ["schedulers.trtllm.context_chunking_policy"] = { enable_chunked_context = true, max_num_batched_tokens = 1000 },
    ["steps.infersim.sm_ratio"] = { enable_tbo = true, enable_deepep = true },
    ["steps.roofline_v2.decode_mfu_mean"] = { decode_context = "per_request" },
    ["speculators.ema.warm_up"] = { every = 1 }, ["speculators.ema.every"] = { warm_up = 0, draft_tokens = 3 },
    ["speculators.gate.threshold"] = { window = 20 },
    ["steps.roofline_v2.decode_mask"] = { attention_flop = "causal_mask" },
    ["steps.roofline_v2.prefill_mask"] = { attention_flop = "causal_mask" },
    ["workloads.shared_prefix_stages.gap_s"] = { stages = { { clients = 2, requests = 5 },
      { clients = 1, requests = 1 } } }, ["workloads.trace"] = { path = trace },
    ["workloads.trace.sort"] = { path = test.file("d.csv", rows .. "0.2,9,9,[5]\n"), sort = true },
    ["workloads.trace.run"] = { path = test.file("runs.json", '{"input_lens": [600, 90], "output_lens": [9, 7], '
      .. '"start_times": [0, 1]}\n{"input_lens": [900, 90], "output_lens": [3, 7], "start_times": [0, 1]}\n'),
      run = "1" },
    ["workloads.vllm_bench.num_special_tokens"] = { random_range_ratio = 0.5, num_prompts = 40 },
    ["workloads.vllm_bench.ramp_up_end_rps"] = { ramp_up_strategy = "linear" },
    ["workloads.vllm_bench.ramp_up_start_rps"] = { ramp_up_strategy = "linear" },
  }
  for _, name in ipairs { "vllm_v1", "sjf", "priority" } do
    effects.needs["schedulers." .. name .. ".scheduler_reserve_full_isl"] = { max_num_batched_tokens = 300 }
    effects.needs["schedulers." .. name .. ".state_margin"] = { align_states = true }
  end
  for _, name in ipairs { "burst", "constant", "diurnal", "gamma", "poisson", "ramp", "weibull" } do
    effects.needs["workloads." .. name .. ".prefix_groups"] = { prefix_tokens = 300, num_requests = 40 }
  end
  effects.values = {
    ["acceptance.per_position.rates"] = { { 0.9, 0.1 } }, ["acceptance.trace.rounds"] = { { { 3, 3, 1 } } },
    ["acceptance.tree.chain"] = { require "acceptance.golden" {} }, ["schedulers.priority.keep_junctions"] = { false },
    ["acceptance.trace.path"] = { test.file("b.csv", "arrival_s,prompt_tokens,output_tokens,rounds\n0,10,9,3 3 3\n") },
    ["drafters.block_parallel.intermediate_size"] = { 8192 }, ["drafters.eagle.intermediate_size"] = { 8192 },
    ["drafters.eagle.kv_heads"] = { 16, 32 }, ["drafters.draft_model.model"] = { "llama-3.1-70b" },
    ["drafters.table.weight_bytes"] = { 1e9 }, ["schedulers.sjf.keep_junctions"] = { false },
    ["schedulers.sjf.unknown_output_tokens"] = { 5000 }, ["schedulers.vllm_v1.keep_junctions"] = { false },
    ["speculators.by_batch.ranges"] = { { { 1, 100, 2 } } },
    ["speculators.ema.ladders"] = { { { from = 1, drafts = { 0, 2 } } } }, ["speculators.gate.threshold"] = { 3, 60 },
    ["speculators.ema.warm_up"] = { 0, 100 }, ["speculators.ema.every"] = { 1, 50 },
    ["workloads.vllm_bench.num_special_tokens"] = { 7 },
    ["steps.infersim.config"] = { config_json }, ["steps.infersim.decode_bs"] = { 16 },
    ["steps.kernels.largest_prefill_graph"] = { 0, 64, 4096 }, ["steps.kernels.module_eager_s"] = { 0, 4e-4 },
    ["steps.kernels.block_gemm"] = { "deepgemm", "own", "cutlass" },
    ["steps.roofline_v2.lookup"] = { "nearest" },
    ["workloads.shared_prefix_stages.stages"] = { { { rate_per_s = 3, duration_s = 20 } } },
    ["workloads.trace.format"] = { "mooncake" }, ["workloads.trace.run"] = { "2" },
    ["workloads.trace.path"] = { test.file("c.csv", rows .. "1,9,9,[5]\n") },
    ["workloads.conversations.max_output_tokens"] = { 20 }, ["workloads.vllm_bench.max_output_tokens"] = { 20 },
    ["workloads.shared_prefix_stages.max_output_tokens"] = { 20 },
    ["candidates.ladder.dp"] = { { 2 } }, ["candidates.ladder.engines"] = { { "sglang" } },
    ["candidates.ladder.ep"] = { { 2 } }, ["candidates.ladder.kv"] = { { "fp8" } },
    ["candidates.ladder.host_memory_gb"] = { { 80 } },
    ["candidates.ladder.max_num_batched_tokens"] = { { 1024 } }, ["candidates.ladder.max_num_seqs"] = { { 16 } },
    ["candidates.ladder.pp"] = { { 2 } }, ["candidates.ladder.prefix_caching"] = { { false } },
    ["candidates.ladder.speculation"] = { { { speculator = require "speculators.fixed" {},
      acceptance = require "acceptance.constant" {} } } },
    ["candidates.ladder.tp"] = { { 2 } }, ["candidates.ladder.weights"] = { { "fp8" } },
    ["candidates.listed.list"] = { { { gpu = 1, tp = 2, max_num_seqs = 64, max_num_batched_tokens = 2048 } } },
  }
  effects.needs["candidates.listed"] = { list = {
    { gpu = 1, tp = 1, max_num_seqs = 64, max_num_batched_tokens = 2048 } } }
  dofile("tests/scripts/effects/users.lua").add(effects)
  effects.without = {}
  for _, name in ipairs { "audits", "growth", "min_requests", "per_family", "reduction_factor" } do
    effects.without["strategies.halving." .. name] = "a search of a few candidates runs each of them in full"
  end
  effects.without["steps.roofline_v2.zero_mfu"] = "no shipped table has an MFU of 0"
  effects.hardware_keys = { "peak_flop_per_s", "memory_bytes_per_s", "memory_bytes", "usable_memory_bytes",
    "link_bytes_per_s", "domain_gpus", "node_gpus", "network_bytes_per_s", "host_bytes_per_s", "sms", "clock_hz",
    "l2_bytes", "tables_from" }
  tiers.declare(effects)
  dofile("tests/scripts/effects/agents.lua").declare(effects, test)
  routers.declare(effects, served, load)
  links.declare(effects, priced)
  widths.declare(effects)
  for _, each in ipairs { clients, encoders, gates, fleets, adapters, experts } do each.declare(effects, served) end
  effects.keys = keys_of()
  return effects
end

function effects.with(given, key, value)
  local changes, Reader = require "rooflua.applied.changes", require "rooflua.scenario.reader"
  return changes.set(Reader.new "made up", given, key, value)
end

return effects
