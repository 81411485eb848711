-- Options of launch commands that keep KV outside of the GPU: the tiers that they stand for, what is told, what is
-- refused.
local test = dofile "tests/scripts/harness.lua"
local applied = require "rooflua.applied.launch"
local pieces = require "rooflua.serving.pieces"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"

local gib = 2 ^ 30

local function copy(given, more)
  local out = {}
  for key, value in pairs(given) do out[key] = value end
  for key, value in pairs(more or {}) do out[key] = value end
  return out
end

local base = { model = "llama-3.1-8b", hardware = "h100-sxm", workload = "poisson" }

--- The pieces of a scenario whose engine is that of a command.
local function of_command(text, more)
  local reader = Reader.new "scenario"
  return pieces.check(reader, applied.scenario(reader, copy(base, more), { text = text }))
end

local function of_engine(engine, more)
  return pieces.check(Reader.new "scenario", copy(copy(base, { engine = engine }), more))
end

local function vllm(words) return of_command("vllm serve meta-llama/Llama-3.1-8B " .. words) end
local function sglang(words)
  return of_command("python3 -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B " .. words)
end
local function connector(text) return "--kv-transfer-config '" .. text .. "'" end

local function store(all) return all.tiers.config.stores[1] end
local function said(all, name) return policy.parameters(all.tiers.policies[1])[name] end
local function told(all) return table.concat(all.replicas[1].prepared.engine_notes, "; ") end

test("without such options there are no tiers", function()
  for _, all in ipairs { vllm "", sglang "", vllm "--kv-offloading-size 0", of_engine "trtllm",
    of_engine { "trtllm", ["kv_cache_config.host_cache_size"] = 0 } } do
    test.equal(all.tiers, nil)
  end
end)

test("vLLM's --kv-offloading-size is GiB of all ranks", function()
  local all = vllm "--kv-offloading-size 100 -tp 2"
  test.equal(all.tiers.policies[1].name, "vllm_cpu")
  test.equal(store(all).capacity_bytes, 100 * gib)
  test.equal(store(all).chunk_tokens, 16)
  test.check(told(all):find("--kv-offloading-size: KV is kept in cpu 819,200 tokens", 1, true), "%s", told(all))
end)

test("the same option stands in a scenario's engine", function()
  test.equal(store(of_engine { "vllm 0.24", kv_offloading_size = 10 }).capacity_bytes, 10 * gib)
  test.equal(store(of_engine { "sglang", enable_hierarchical_cache = true, hicache_size = 20 }).capacity_bytes, 20e9)
  test.equal(store(of_engine { "trtllm", ["kv_cache_config.host_cache_size"] = 3e9 }).capacity_bytes, 3e9)
end)

test("vLLM's OffloadingConnector says bytes, chunk, order and threshold", function()
  local all = vllm(connector [[{"kv_connector":"OffloadingConnector","kv_role":"kv_both","kv_connector_extra_config":
    {"cpu_bytes_to_use":1e11,"block_size":64,"eviction_policy":"arc","store_threshold":2}}]])
  test.equal(store(all).capacity_bytes, 1e11)
  test.equal(store(all).chunk_tokens, 64)
  test.equal(store(all).eviction, "arc")
  test.equal(said(all, "store_threshold"), 2)
  test.equal(said(all, "outputs"), false)
end)

test("vLLM's older names and parts after dots mean the same", function()
  local front = "--kv-transfer-config.kv_connector OffloadingConnector --kv-transfer-config.kv_connector_extra_config."
  test.equal(store(vllm(front .. "num_cpu_blocks 1000")).capacity_bytes, 1000 * 16 * 131072)
  test.equal(store(vllm("-tp 2 " .. front .. "kv_bytes_per_rank 3000000000")).capacity_bytes, 6e9)
  test.equal(store(vllm(front .. "cpu_bytes_to_use 3000000000 --kv-transfer-config.kv_connector_extra_config."
    .. "blocks_per_chunk 4")).chunk_tokens, 64)
end)

test("a release keeps nothing without a back end before 0.14, and has no connector before 0.11", function()
  local all = of_engine { "vllm 0.13", kv_offloading_size = 10 }
  test.equal(all.tiers, nil)
  test.check(told(all):find("before 0.14 nothing is kept without", 1, true), "%s", told(all))
  all = of_engine { "vllm 0.13", kv_offloading_size = 10, kv_offloading_backend = "native" }
  test.equal(store(all).capacity_bytes, 10 * gib)
  test.raises("has no OffloadingConnector", function()
    of_engine { "vllm 0.10.2", kv_transfer_config = [[{"kv_connector":"OffloadingConnector","kv_connector_extra_config":
      {"cpu_bytes_to_use":1e9}}]] }
  end)
end)

test("LMCache is what its variables say, or what vLLM hands on to it", function()
  local front = "LMCACHE_CHUNK_SIZE=512 LMCACHE_MAX_LOCAL_CPU_SIZE=50 LMCACHE_SAVE_DECODE_CACHE=True "
    .. "LMCACHE_CACHE_POLICY=LFU LMCACHE_USE_LAYERWISE=true LMCACHE_BLOCKING_TIMEOUT_SECS=3 "
  local all = of_command(front .. "vllm serve meta-llama/Llama-3.1-8B -tp 2 "
    .. connector [[{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}]])
  test.equal(store(all).chunk_tokens, 512)
  test.equal(store(all).capacity_bytes, 2 * 50 * gib)
  test.equal(store(all).eviction, "lfu")
  test.equal(said(all, "outputs"), true)
  test.equal(said(all, "blocking_timeout_s"), 3)
  test.equal(all.tiers.config.overlap, "layers")
  all = vllm(connector [[{"kv_connector":"LMCacheConnectorV1","kv_connector_extra_config":{"lmcache.chunk_size":64}}]])
  test.equal(store(all).chunk_tokens, 64)
  test.equal(store(all).capacity_bytes, 5 * gib)
  all = vllm "--kv-offloading-size 80 --kv-offloading-backend lmcache"
  test.equal(store(all).capacity_bytes, 80 * gib)
  test.equal(store(all).chunk_tokens, 256)
end)

test("HiCache is as large as its ratio to the GPU's pool, or as its size of each rank", function()
  local all = sglang "--enable-hierarchical-cache --hicache-ratio 3"
  local deployment = all.replicas[1].deployment
  test.near(store(all).capacity_bytes, 3 * deployment.kv_blocks * deployment.block_size * 131072, 1e-12)
  test.equal(all.tiers.config.overlap, "layers")
  test.equal(all.tiers.config.prefetch, true)
  test.equal(store(sglang "--enable-hierarchical-cache --hicache-size 30 --tp 2").capacity_bytes, 60e9)
  all = sglang("--enable-hierarchical-cache --hicache-write-policy write_through_selective "
    .. "--hicache-storage-prefetch-policy timeout --hicache-storage-backend-extra-config "
    .. [['{"prefetch_threshold":512,"prefetch_timeout_base":2}']])
  test.equal(said(all, "write_policy"), "write_through_selective")
  test.equal(said(all, "prefetch_policy"), "timeout")
  test.equal(said(all, "prefetch_threshold"), 512)
  test.equal(said(all, "prefetch_timeout_base_s"), 2)
  all = sglang "--enable-hierarchical-cache --hicache-write-policy write_back"
  test.equal(said(all, "write_policy"), "write_back")
  test.equal(all.tiers.policies[1].write_back, true)
end)

test("what is left out is told", function()
  for _, each in ipairs {
    { vllm(connector [[{"kv_connector":"NixlConnector","kv_role":"kv_both"}]]), "its connector is not modelled" },
    { vllm(connector [[{"kv_connector":"OffloadingConnector","kv_connector_extra_config":{"cpu_bytes_to_use":1e9,
      "secondary_tiers":[{"type":"fs"}]}}]]), "secondary_tiers: nothing says how fast" },
    { vllm(connector [[{"kv_connector":"OffloadingConnector","kv_connector_extra_config":{"cpu_bytes_to_use":1e9,
      "eviction_policy":"Mine"}}]]), "not as Mine says" },
    { vllm(connector [[{"kv_connector":"OffloadingConnector","kv_connector_extra_config":{"cpu_bytes_to_use":1e9,
      "no_such_key":1}}]]), "no_such_key: not read" },
    { of_command("LMCACHE_LOCAL_CPU=false vllm serve meta-llama/Llama-3.1-8B "
      .. connector [[{"kv_connector":"LMCacheConnectorV1"}]]), "LMCACHE_LOCAL_CPU is false" },
    { of_command("LMCACHE_REMOTE_URL=lm://a:1 vllm serve meta-llama/Llama-3.1-8B "
      .. connector [[{"kv_connector":"LMCacheConnectorV1"}]]), "LMCACHE_REMOTE_URL: nothing says how fast" },
    { sglang "--enable-hierarchical-cache --hicache-storage-backend mooncake", "nothing says how fast mooncake is" },
    { sglang "--hicache-ratio 3", "no effect without --enable-hierarchical-cache" },
    { of_engine { "trtllm", ["kv_cache_config.host_cache_size"] = 3e9 }, "not when it leaves the GPU" },
  } do
    test.check(told(each[1]):find(each[2], 1, true), "%s is not in: %s", each[2], told(each[1]))
  end
end)

test("commands are written with whole numbers in full", function()
  local command = require "rooflua.applied.command"
  local found = command.read("vllm serve m --max-num-batched-tokens 20000000", {})
  test.check(command.write(found):find("--max-num-batched-tokens 20000000", 1, true), "%s", command.write(found))
end)

test("a scenario that states tiers as well, and options that contradict each other, are refused", function()
  local own = { tiers = { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 1e9 } } } }
  test.raises("--kv-offloading-size: the scenario states tiers as well", function()
    of_engine({ "vllm 0.24", kv_offloading_size = 10 }, own)
  end)
  test.raises("give one of them", function()
    vllm("--kv-offloading-size 10 " .. connector [[{"kv_connector":"OffloadingConnector"}]])
  end)
  test.raises("cpu_bytes_to_use: is missing", function()
    vllm(connector [[{"kv_connector":"OffloadingConnector","kv_role":"kv_both"}]])
  end)
  test.raises("LMCACHE_CHUNK_SIZE: expected a number", function()
    of_command("LMCACHE_CHUNK_SIZE=big vllm serve meta-llama/Llama-3.1-8B "
      .. connector [[{"kv_connector":"LMCacheConnectorV1"}]])
  end)
  test.raises("different stores", function()
    of_engine(nil, { replicas = { { engine = { "vllm", kv_offloading_size = 10 } }, { engine = "vllm" } } })
  end)
  test.raises("kv_offloading_backend", function() of_engine { "vllm", kv_offloading_backend = "mine" } end)
end)

test("a slot of vLLM's connector has room for all groups of layers of a hybrid", function()
  local native, spec = require "rooflua.native", require "rooflua.spec"
  local release = require "rooflua.engines.release"
  local function factor(model, version)
    return require("engines.vllm.tiers").slot_factor(native.rank_counts(spec.model(model), {}).kinds,
      function(name) return release.earlier(version, name) end)
  end
  test.equal(factor("llama-3.1-8b", "0.24.0"), 1)
  test.equal(factor("qwen3.5-35b-a3b", "0.24.0"), 4, "10 layers of attention, 30 with states: four groups")
  test.equal(factor("gpt-oss-20b", "0.24.0"), 1, "windows")
  test.equal(factor("qwen3.5-35b-a3b", "0.17.0"), 1, "one group before")
end)

test.finish()
