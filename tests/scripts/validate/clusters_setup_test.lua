-- A row of a measured cluster as a scenario: engine, router, pools, tiers, loads. Nothing runs here.
local test = dofile "tests/scripts/harness.lua"
local load = require "rooflua.validate.clusters.load"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local rows = require "rooflua.validate.clusters.rows"
local spec = require "rooflua.spec"
local system = require "rooflua.validate.clusters.system"
local transport = require "rooflua.validate.clusters.transport"

local files = dofile "tests/scripts/validate/cluster_files.lua" (test)
local steps = policies.of(Reader.new "test", "steps", nil)

--- The row with these cells, read from a file.
local function row_of(more)
  local row = { load_kind = "poisson", rate_rps = 2, stage_duration_s = 5, prompt_tokens = 100, output_tokens = 8 }
  for name, value in pairs(more) do row[name] = value end
  local _, path = files { row }
  local out = rows.read(path)[1]
  test.check(not out.problem, "%s", out.problem)
  return out
end

local function scenario_of(more)
  local row = row_of(more)
  local about = load.of(row, nil)
  return system.scenario(row, about, about.stages or { about.own }, { steps = steps, seed = 0 })
end

-- Routers ---------------------------------------------------------------------------------------------------------

local function router_of(words, settings, more)
  local cells = { replicas = 4, router = words, router_settings = settings or "" }
  for name, value in pairs(more or {}) do cells[name] = value end
  local scenario, notes = scenario_of(cells)
  local router = scenario.router
  return router, router and policy.parameters(router), table.concat(notes, "\n")
end

test("words of routers become policies, and settings their parameters", function()
  test.equal(router_of("kubernetes service").name, "random")
  test.equal(router_of("random").name, "random")
  test.equal(router_of("round robin").name, "round_robin")
  local router, own, _ = router_of("weighted sum, approximate prefix index",
    "prefix=3 kv=1 queue=1 no-hit-lru=2; lruCapacityPerServer=500 maxPrefixTokensToMatch=9000")
  test.equal(router.name, "llm_d")
  test.equal(("%g %g %g %g %g"):format(own.prefix, own.kv, own.queue, own.no_hit_lru, own.affinity_threshold),
    "3 1 1 2 0")
  test.equal(own.index .. own.lru_blocks .. " " .. own.max_prefix_tokens, "approximate500 9000")
  _, own = router_of("weighted sum, precise prefix index from KV events", "prefix=2")
  test.equal(("%s %g %g"):format(own.index, own.prefix, own.queue), "precise 2 0")
  _, own = router_of("prefix affinity filter + token load", "peakPrefillThroughput=1000 maxTTFTPenaltyMs=500")
  test.equal(("%g %g %g %g"):format(own.affinity_threshold, own.max_penalty_tokens, own.token_load, own.prefix),
    "0.8 500 1 0")
  _, own = router_of("prefix affinity filter + active requests", "affinityThreshold=0.9")
  test.equal(("%g %g %g"):format(own.affinity_threshold, own.active, own.token_load), "0.9 1 0")
  _, own = router_of("weighted sum, no prefix", "queue=1 kv=1; max score")
  test.equal(("%g %g %g"):format(own.prefix, own.queue, own.kv), "0 1 1")
  _, own = router_of("weighted sum", "three scorers, weight 2 each (queue, kv, gpu prefix)")
  test.equal(("%g %g %g"):format(own.prefix, own.queue, own.kv), "2 2 2")
end)

test("the approximate index of 2025 counted characters", function()
  local _, own = router_of("weighted sum, approximate prefix index", "prefix=1; maxPrefixBlocksToMatch=100",
    { client = "a client of 2025-09", engine_version = "" })
  test.equal(own.block_tokens .. " " .. own.max_prefix_tokens, "16 1600")
  _, own = router_of("weighted sum, approximate prefix index", "prefix=1; maxPrefixBlocksToMatch=100")
  test.equal(own.block_tokens .. " " .. own.max_prefix_tokens, "64 6400")
end)

test("what is sent is believed where the row, or llm-d's guide, says so; its score is that of the release", function()
  local words = "weighted sum, precise prefix index"
  local function of(settings, client)
    local _, own, notes = router_of(words, settings, { client = client or "", engine_version = client and "" or nil })
    return ("%g %s %g %s"):format(own.speculative_ttl_s, own.prefix_score, own.most_holders, own.picker), notes
  end
  test.equal(of "prefix=3", "0 share 10 max_score")
  local own, notes = of "guide: prefix=3"
  test.equal(own, "2 share 10 max_score")
  test.check(notes:find "believed for 2 s", notes)
  test.equal(of("guide: prefix=3", "a client of 2025-09"), "0 relative 10 max_score")
  test.equal(of "guide: speculativeIndexing=false", "0 share 10 max_score")
  test.equal(of "speculativeIndexing=true podCacheSize=20; weighted random picker", "2 share 20 weighted_random")
  test.equal(of "speculativeTTL=5s", "5 share 10 max_score")
end)

test("what is not stated or not read of a router is told; one replica has none", function()
  local _, _, notes = router_of("", "")
  test.check(notes:find "the router is not stated", notes)
  _, _, notes = router_of("weighted sum", "")
  test.check(notes:find "weights of the router are not stated", notes)
  _, _, notes = router_of("weighted sum", "prefix=1 colour=3")
  test.check(notes:find("router_settings: colour is not read", 1, true), notes)
  test.equal((router_of("weighted sum", "", { replicas = 1 })), nil)
end)

-- Engines ---------------------------------------------------------------------------------------------------------

test("an engine without a version is the release of its month; a generation is its last release", function()
  local scenario, notes = scenario_of { engine_version = "", client = "inference-perf 2025-09" }
  test.equal(scenario.engine[1], "vllm 0.10.2")
  test.check(table.concat(notes):find "the release of its month", "note")
  scenario, notes = scenario_of { engine_version = "" }
  test.check(scenario.engine[1] ~= "vllm 0.10.2" and table.concat(notes):find "the newest that is known", "newest")
  scenario, notes = scenario_of { engine_version = "", offload = "cpu",
    offload_connector = "OffloadingConnector", offload_blocks_per_replica = 1000, block_tokens = 16 }
  test.equal(scenario.engine[1], "vllm 0.13.0")
  test.check(table.concat(notes):find "counts the host's memory in blocks", "blocks")
  scenario = scenario_of { engine_version = "0.9.0", other_settings = "V0 engine; chunked prefill off" }
  test.equal(scenario.engine[1], "vllm 0.7.3")
  scenario = scenario_of { other_settings = "chunked prefill off", max_num_seqs = 64, max_model_len = 512 }
  test.equal(scenario.engine.enable_chunked_prefill, false)
  test.equal(scenario.engine.max_num_seqs, 64)
  test.equal(scenario.deployment.max_model_len, 512)
  scenario = scenario_of { kv_tokens_per_replica = 160000, block_tokens = 32, prefix_caching = "off" }
  test.equal(scenario.deployment.kv_blocks, 5000)
  test.equal(scenario.deployment.prefix_caching, false)
end)

test("what a profile states of the way adds to each token of a prompt, of one pool and of two", function()
  local profiles = require "rooflua.validate.clusters.profiles"
  local function token_s(more, stated)
    local text = ('{"kind": "random", "load": {"kind": "poisson"%s}}'):format(stated)
    local folder, path = files({ {} }, { way = text })
    local row = row_of(more)
    local about = load.of(row, profiles.read(profiles.of(folder), "way", path))
    local scenario = system.scenario(row, about, { about.own }, { steps = steps, seed = 0 })
    return scenario.frontend.per_prompt_token_s, table.concat(about.notes, "\n")
  end
  local split = { layout = "1P2D", replicas = "", prefill_tp = 2, decode_tp = 1 }
  for _, more in ipairs { {}, split } do
    local with_s, said = token_s(more, ', "path_prompt_token_s": 25e-6')
    test.near(with_s, token_s(more, "") + 25e-6, 1e-12)
    test.has(said, "25 us on the way")
  end
  test.raises("path_prompt_token_s: expected seconds", function() token_s({}, ', "path_prompt_token_s": 25') end)
end)

test("pools have replicas of their own, a network, and front ends in turn", function()
  local whole = scenario_of {}
  local scenario = scenario_of { layout = "1P2D", replicas = "", prefill_tp = 2, decode_tp = 1,
    transport = "RDMA, about 100 GB/s line rate" }
  test.equal(scenario.replicas[1].role .. scenario.replicas[1].count .. scenario.replicas[1].deployment.tp, "prefill12")
  test.equal(scenario.replicas[2].role .. scenario.replicas[2].count .. scenario.replicas[2].deployment.tp, "decode21")
  test.near(scenario.links.wire.bytes_per_s, 72e9, 1e-9)
  test.equal(scenario.links.wire.per .. scenario.network.path[1], "replicawire", "a replica has one wire")
  test.near(scenario.frontend.base_s, 3 * whole.frontend.base_s, 1e-9, "a proxy, and both engines in turn")
  test.near(scenario.frontend.per_prompt_token_s, 2 * whole.frontend.per_prompt_token_s, 1e-9, "both read the text")
  scenario = scenario_of { layout = "1P1D", replicas = "", prefill_tp = 2, decode_tp = 1, router = "llm-d" }
  test.near(scenario.frontend.base_s, 2 * whole.frontend.base_s, 1e-9, "llm-d's proxy costs next to nothing")
  scenario = scenario_of { layout = "1P1D", replicas = "", prefill_tp = 2, decode_tp = 1, engine = "sglang",
    engine_version = "0.5.9" }
  test.near(scenario.frontend.base_s, 2 * whole.frontend.base_s, 1e-9, "a proxy, and both engines at once")
  test.near(scenario.frontend.per_prompt_token_s, whole.frontend.per_prompt_token_s, 1e-9)
end)

test("words of a transport are a way, a rate and cards; a note says where nothing states it", function()
  local hardware, model = spec.hardware "h100-sxm", spec.model "llama-3.1-8b"
  local about = { hardware = hardware, model = model, tp = 4, block_tokens = 16,
    token_bytes = model:kv_bytes_per_token "bf16" }
  local card = hardware.network_bytes_per_s
  local function rate_of(text)
    local notes = {}
    return transport.of(text, about, notes).bytes_per_s, #notes
  end
  for text, expected in pairs { ["RDMA, about 100 GB/s line rate"] = 72e9, ["RoCE, 8 x 400 Gb/s"] = 0.72 * 400e9,
    ["mooncake RDMA, one NIC (mlx5_0)"] = 0.72 * card, ["RDMA over 8 RoCE ports"] = 0.72 * 8 * card,
    ["InfiniBand"] = 0.72 * 4 * card, ["NIXL over TCP"] = 0.5e9, ["NIXL pull without RDMA"] = 0.5e9,
    ["NIXL push without RDMA"] = 49e9 } do
    local rate, notes = rate_of(text)
    test.near(rate, expected, 1e-9, text)
    test.equal(notes, 0, text)
  end
  local rate, notes = rate_of ""
  test.near(rate, 0.72 * 4 * card, 1e-9)
  test.equal(notes, 1, "nothing is stated")
  -- A piece of a layer's keys at one of four ranks: 16 tokens of two heads of 128 in bf16 are 8 KiB, 2.1 us each.
  test.near(rate_of "NVLink", 4 * 8192 / (8192 / hardware.link_bytes_per_s + 2.1e-6), 1e-9)
end)

-- Tiers -----------------------------------------------------------------------------------------------------------

local token_bytes = spec.model "llama-3.1-8b":kv_bytes_per_token "bf16"

local function tiers_of(more)
  local cells = { offload = "cpu", replicas = 2, router = "random", offload_connector = "OffloadingConnector" }
  for name, value in pairs(more) do cells[name] = value end
  local scenario = scenario_of(cells)
  return scenario.tiers, scenario.links
end

test("capacities are blocks, else bytes, else tokens, else what a remark says", function()
  local stated = { block_tokens = 16, offload_blocks_per_replica = 1000, offload_bytes_per_replica = 5e9,
    offload_tokens_per_replica = 7000, offload_basis = "about 100 GB" }
  local function capacity() return tiers_of(stated).stores[1].capacity_bytes end
  test.near(capacity(), 16000 * token_bytes, 1e-12)
  stated.offload_blocks_per_replica = ""
  test.equal(capacity(), 5e9)
  stated.offload_bytes_per_replica = ""
  test.near(capacity(), 7000 * token_bytes, 1e-12)
  stated.offload_tokens_per_replica = ""
  test.equal(capacity(), 100e9)
  stated.offload_basis = "(guide: 2 GiB)"
  test.equal(capacity(), 2 * 2 ^ 30)
end)

test("the connector chooses the policy, an arm that pulls has peers, parts of `offload` are stores", function()
  local about = { offload_bytes_per_replica = 1e11 }
  test.equal(tiers_of(about).policy.name, "vllm_cpu")
  test.equal(tiers_of({ offload_bytes_per_replica = 1e11, offload_connector = "LMCache" }).policy.name, "lmcache")
  local tiers, links = tiers_of { offload_bytes_per_replica = 1e11, router = "load + peer pull",
    router_settings = "minCachedTokenDelta=512" }
  test.equal(tiers.policy.name .. policy.parameters(tiers.policy).min_tokens, "peer512")
  test.equal(tiers.stores[1].peers[1], "nic")
  test.check(links.nic.bytes_per_s > 0, "nic")
  tiers, links = tiers_of { offload_bytes_per_replica = 1e11, offload = "cpu+fs+nvme" }
  test.equal(tiers.policy.name, "vllm_tiered")
  test.equal(tiers.stores[2].name .. tiers.stores[2].per .. tiers.stores[2].read[1], "fsclusterfiles")
  test.equal(tiers.stores[3].name .. tiers.stores[3].per .. tiers.stores[3].read[1], "nvmenodedrive")
  test.check(links.files and links.drive and not links.nic, "links")
  test.equal((tiers_of { offload = "none" }), nil)
end)

-- Loads -----------------------------------------------------------------------------------------------------------

test("prompts have the length that the row says its tokenizer made", function()
  local row = row_of {}
  row.measured.prompt_tokens_mean = 104.4
  test.equal(load.of(row, nil).prompts.question_tokens, 104)
end)

test("single prompts that are pulled are sent twice, and come to another replica the second time", function()
  local about = load.of(row_of { offload = "cpu", arm = "pull", replicas = 2, load_kind = "single", requests = 4,
    offload_bytes_per_replica = 1e11, output_tokens = "" }, nil)
  test.equal(#about.stages, 2)
  test.equal(about.stages[1].requests % 2, 1)
  test.equal(about.prompts.groups, about.stages[1].requests)
  test.equal(about.prompts.shared_prefix_tokens + about.prompts.question_tokens, 100)
end)

test("pools of a split layout scale, prompts by their backlog and decodes by their KV use", function()
  local cells = { layout = "1P1D", replicas = "", prefill_tp = 1, decode_tp = 1, needs = "replicas autoscale",
    arm = "auto", notes = "peak prefill of one: 20000-22000 tok/s",
    other_settings = "start 1 replica per role, at most 3; triggers: backlog 1.5 s, KV use .8; HPA sync 15 s" }
  local pools = scenario_of(cells).replicas
  for i, role in ipairs { "prefill", "decode" } do
    test.equal(("%s %d %d %d"):format(pools[i].role, pools[i].count, pools[i].min, pools[i].max), role .. " 1 1 3")
  end
  test.equal(policy.parameters(pools[1].autoscaler).metric, "backlog_s")
  test.equal(policy.parameters(pools[2].autoscaler).metric, "kv_used_frac")
  cells.arm = "static"
  test.equal(scenario_of(cells).replicas[1].autoscaler, nil)
end)

test("answers without a length have a default that is said", function()
  local about = load.of(row_of { output_tokens = "" }, nil)
  test.equal(about.prompts.output_tokens .. about.notes[1], "128the length of answers is not stated: 128 tokens")
end)

test("drafts whose number and tokens of a round are stated are simulated; others are said not to be", function()
  local scenario = scenario_of { speculation = "MTP k=3, synthetic acceptance 2.49 tokens per step" }
  test.equal(policy.parameters(scenario.speculation.speculator).draft_tokens, 3)
  local rate = policy.parameters(scenario.speculation.acceptance).rate
  test.near(1 + rate + rate ^ 2 + rate ^ 3, 2.49, 1e-9)
  test.equal(policy.parameters(scenario_of { speculation = "EAGLE, 2 steps", accept_len = 1.5 }
    .speculation.acceptance).rate > 0.3, true)
  local without, notes = scenario_of { speculation = "MTP" }
  test.equal(without.speculation, nil)
  test.check(table.concat(notes, "\n"):find("are not simulated: MTP", 1, true), table.concat(notes, "\n"))
end)

test("a row with a trace replays it: users are lanes, the last file counts, and clients drop what is late", function()
  local row = row_of { kind = "agents", users = 3, first_token_timeout_s = 600, stage_duration_s = 30 }
  local folder = row.path:match "^(.*)/"
  for _, name in ipairs { "own", "shared" } do
    local file = assert(io.open(("%s/%s.jsonl"):format(folder, name), "w"))
    for i = 1, 4 do
      file:write(('{"id": "%d", "steps": [{"input": 100, "new": 100, "output": 5, "gap": 0}, '
        .. '{"input": 150, "new": 50, "output": 5, "gap": 1}]}\n'):format(i))
    end
    file:close()
  end
  row.trace_file = "own.jsonl; shared.jsonl"
  local about = load.of(row, { kind = "trace" })
  test.equal(about.prompts.path .. about.prompts.lanes, folder .. "/shared.jsonl3")
  local scenario = system.scenario(row, about, { about.own }, { steps = steps, seed = 0 })
  test.equal(scenario.client.name .. policy.parameters(scenario.client).first_token_s, "impatient600")
  test.equal(policy.parameters(scenario.workload).seconds, 30)
  local found = require("rooflua.validate.clusters.figures").answer({ members = { { row = row, about = about } },
    stages = { about.own } }, { steps = steps, seed = 0, sessions_s = 150 })
  test.equal(found.rows[1].completed, 8, "two requests of each of four sessions")
  row.trace_file = "gone.jsonl"
  test.raises("trace_file: there is no such file", function() load.of(row, nil) end)
end)

test("distributions of profiles keep their means", function()
  local given = load.length { distribution = "lognormal", mean = 100, std = 100, min = 1, max = 900 }
  test.equal(given.mean, 100)
  test.near(given.sigma, math.sqrt(math.log(2)), 1e-12)
  test.equal(load.length { distribution = "normal", mean = 5, std = 2 }.deviation, 2)
  test.equal(load.length(7), 7)
  test.raises("unknown distribution 'gamma'", function() load.length { distribution = "gamma" } end)
end)

test.finish()
