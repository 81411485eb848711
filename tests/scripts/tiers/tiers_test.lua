-- The key `tiers` of a scenario: what the engine is told of it, what is refused, and what is told to have no effect.
local test = dofile "tests/scripts/harness.lua"
local changes = require "rooflua.applied.changes"
local paths = require "rooflua.scenario.paths"
local pieces = require "rooflua.serving.pieces"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"

local function copy(...)
  local out = {}
  for _, each in ipairs { ... } do
    for key, value in pairs(each) do out[key] = value end
  end
  return out
end

local function scenario(own)
  return copy({ model = "llama-3.1-8b", hardware = "h100-sxm", workload = "poisson",
    tiers = { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 100e9 } } } }, own or {})
end

--- A scenario whose first store, and whose tiers, say more.
local function with_store(store, more, own)
  return scenario(copy({ tiers = copy({ policy = "vllm_cpu",
    stores = { copy({ name = "cpu", capacity_bytes = 100e9 }, store) } }, more or {}) }, own or {}))
end

local function read(given) return pieces.check(Reader.new "scenario", given) end

local nic = { nic = { bytes_per_s = 50e9 } }

test("without tiers nothing is told of any", function()
  local given = scenario()
  given.tiers = nil
  test.equal(read(given).tiers, nil)
end)

test("a store has the defaults of its keys, and the link of the GPU to its host", function()
  local all = read(scenario())
  local config = all.tiers.config
  local store = config.stores[1]
  test.equal(store.name, "cpu")
  test.equal(store.capacity_bytes, 100e9)
  test.equal(store.per, "replica")
  test.equal(store.chunk_tokens, 16)
  test.equal(store.alpha_s, 2e-5)
  test.equal(store.read[1], "pcie")
  test.equal(store.write[1], "pcie")
  test.equal(#store.peers, 0)
  test.equal(store.eviction, "lru")
  test.equal(config.bytes_per_token, 131072)
  test.equal(config.layers, 32)
  test.equal(config.overlap, "none")
  test.equal(config.prefetch, false)
  test.equal(#all.links, 1)
  test.equal(all.links[1].bytes_per_s, 55.6e9)
  test.equal(all.links[1].per, "replica")
end)

test("all GPUs of a replica read from their host at once", function()
  test.near(read(scenario { deployment = { tp = 4 } }).links[1].bytes_per_s, 4 * 55.6e9, 1e-12)
  test.near(read(scenario { deployment = { tp = 2, pp = 2 } }).links[1].bytes_per_s, 4 * 55.6e9, 1e-12)
  test.near(read(scenario { hardware = "gh200" }).links[1].bytes_per_s, 450e9, 1e-12)
  test.near(read(scenario { hardware = "l40s" }).links[1].bytes_per_s, 27.8e9, 1e-12)
end)

test("a link that the scenario calls pcie is the one to the host", function()
  local all = read(scenario { links = { pcie = { bytes_per_s = 12e9, per = "node" } } })
  test.equal(#all.links, 1)
  test.equal(all.links[1].bytes_per_s, 12e9)
end)

test("reads and writes take the same links where one of them is named", function()
  local links = { links = copy(nic, { disk = { bytes_per_s = 6e9 } }) }
  local store = read(with_store({ write = { "nic", "disk" } }, nil, links)).tiers.config.stores[1]
  test.equal(table.concat(store.read, " "), "nic disk")
  store = read(with_store({ read = { "disk" }, write = { "nic" } }, nil, links)).tiers.config.stores[1]
  test.equal(table.concat(store.read, " "), "disk")
  test.equal(table.concat(store.write, " "), "nic")
end)

test("KV of a narrower format takes fewer bytes, and what the scenario says holds", function()
  test.equal(read(scenario { deployment = { kv = "fp8" } }).tiers.config.bytes_per_token, 65536)
  test.equal(read(with_store({}, { bytes_per_token = 1000 })).tiers.config.bytes_per_token, 1000)
end)

test("a policy says what holds where the scenario does not", function()
  local config = read(with_store({}, { policy = "hicache" })).tiers.config
  test.equal(config.overlap, "layers")
  test.equal(config.prefetch, true)
  config = read(with_store({}, { policy = "hicache", overlap = "none", prefetch = false })).tiers.config
  test.equal(config.overlap, "none")
  test.equal(config.prefetch, false)
  test.equal(read(with_store({}, { policy = "lmcache" })).tiers.config.stores[1].chunk_tokens, 256)
  test.equal(read(with_store({ chunk_tokens = 64 }, { policy = "lmcache" })).tiers.config.stores[1].chunk_tokens, 64)
end)

test("each replica that computes prompts has a policy of its own", function()
  local own = read(scenario { router = "round_robin",
    replicas = { { role = "prefill", count = 2 }, { role = "decode" } } }).tiers.policies
  test.equal(#own, 3)
  test.check(own[1] ~= own[2] and own[1].name == "vllm_cpu")
  test.equal(own[3], false)
end)

test("the answers of a policy are read once", function()
  local own = read(with_store({}, { policy = require "tiers.vllm_cpu" { store_threshold = 2, outputs = true } }))
    .tiers.policies[1]
  test.equal(rawget(own, "counts"), true)
  test.equal(rawget(own, "outputs"), true)
  test.equal(rawget(own, "promote"), false)
  own = read(scenario()).tiers.policies[1]
  test.equal(rawget(own, "counts"), false)
end)

test("a policy is told the stores, and cannot change them", function()
  local Told = policy.define { name = "told", doc = "Keeps what it is told." }
  function Told:bind(context)
    self.seen = context
    context.stores[1].capacity_bytes = 1
  end
  function Told.load() return 0 end
  function Told.store() end
  local all = read(with_store({}, { policy = Told }))
  test.equal(all.tiers.policies[1].seen.stores[1].name, "cpu")
  test.equal(all.tiers.policies[1].seen.bytes_per_token, 131072)
  test.equal(all.tiers.config.stores[1].capacity_bytes, 100e9)
end)

test("an order of the engine is its name, every other one an instance per store", function()
  local tiers = read(with_store({ eviction = "arc" })).tiers
  test.equal(tiers.config.stores[1].eviction, "arc")
  test.equal(tiers.evictions[1], false)
  tiers = read(with_store({ eviction = require "eviction.ttl" { ttl_s = 5 } })).tiers
  test.equal(tiers.config.stores[1].eviction, "keyed")
  test.equal(tiers.evictions[1].ttl_s, 5)
end)

test("a key path leads to a store by its place and by its name", function()
  local reader = Reader.new "made up"
  for _, path in ipairs { "tiers.stores.1.capacity_bytes", "tiers.stores.cpu.capacity_bytes" } do
    local given = changes.set(reader, scenario(), path, 5e9)
    test.equal(given.tiers.stores[1].capacity_bytes, 5e9)
    test.equal(paths.value(given, path), 5e9)
  end
  test.equal(changes.set(reader, scenario(), "tiers.policy.store_threshold", 2).tiers.policy.store_threshold, 2)
  test.raises("the list has no 'disk'", function() changes.set(reader, scenario(), "tiers.stores.disk.per", "node") end)
end)

local Nothing = policy.define { name = "nothing", doc = "Has no methods." }
local Half = policy.define { name = "half", doc = "Loads only." }
function Half.load() return 0 end
local Wordy = policy.define { name = "wordy", doc = "Says a word.", outputs = "yes" }
function Wordy.load() return 0 end
function Wordy.store() end
local Odd = policy.define { name = "odd", doc = "Names no order.", native = "lrx" }

local wrong = {
  { scenario { tiers = 5 }, "tiers", "expected a table" },
  { scenario { tiers = {} }, "tiers.policy", "is missing" },
  { scenario { tiers = { policy = "vllm_cpu" } }, "tiers.stores", "is missing" },
  { scenario { tiers = { policy = "vllm_cpu", stores = {} } }, "tiers.stores", "is missing" },
  { scenario { tiers = { policy = "vllm_cpu", stores = { "cpu" } } }, "tiers.stores[1]", "expected a table" },
  { scenario { tiers = { policy = "vllm_cpu", stores = { name = "cpu" } } }, "tiers.stores", "found the key" },
  { scenario { tiers = { policy = "vllm_cpu", store = {} } }, "tiers", "did you mean 'stores'" },
  { with_store({}, { policy = "vllm_cpus" }), "tiers.policy", "did you mean 'vllm_cpu'" },
  { with_store({}, { policy = require "routers.random" {} }), "tiers.policy", "random has no load method" },
  { with_store({}, { policy = Nothing }), "tiers.policy", "nothing has no load method" },
  { with_store({}, { policy = Half }), "tiers.policy", "half has no store method" },
  { with_store({}, { policy = Wordy }), "tiers.policy", "outputs: expected true or false" },
  { with_store({}, { overlap = "layer" }), "tiers.overlap", "did you mean 'layers'" },
  { with_store({}, { prefetch = 1 }), "tiers.prefetch", "expected true or false" },
  { with_store({}, { bytes_per_token = 0 }), "tiers.bytes_per_token", "above 0" },
  { with_store { capacity = 5 }, "tiers.stores[1]", "did you mean 'capacity_bytes'" },
  { with_store { capacity_bytes = 0 }, "tiers.stores[1].capacity_bytes", "leave the store out" },
  { with_store { capacity_bytes = -1 }, "tiers.stores[1].capacity_bytes", "expected 0 to 1e+18 bytes" },
  { with_store { capacity_bytes = 1e6 }, "tiers.stores[1].capacity_bytes", "less than one chunk of 16 tokens" },
  { with_store { chunk_tokens = 24 }, "tiers.stores[1].chunk_tokens", "such as 32" },
  { with_store { chunk_tokens = 0.5 }, "tiers.stores[1].chunk_tokens", "whole number" },
  { with_store({}, { policy = require "tiers.lmcache" { chunk_tokens = 100 } }), "tiers.stores[1].chunk_tokens",
    "100 of the policy lmcache" },
  { with_store { alpha_s = -1 }, "tiers.stores[1].alpha_s", "expected 0 to" },
  { with_store { per = "host" }, "tiers.stores[1].per", "unknown per 'host'" },
  { with_store { name = "my cpu" }, "tiers.stores[1].name", "expected a name" },
  { with_store { read = { "nic" } }, "tiers.stores[1].read[1]", "there are no `links`" },
  { with_store({ read = { "nik" } }, nil, { links = nic }), "tiers.stores[1].read[1]", "did you mean 'nic'" },
  { with_store({ write = {} }, nil, { links = nic }), "tiers.stores[1].write", "names no link" },
  { with_store({ per = "node" }, nil, { links = nic }), "tiers.stores[1].read", "is missing; name the links" },
  { with_store({ per = "cluster", read = { "nic" }, peers = { "nic" } }, nil, { links = nic }),
    "tiers.stores[1].peers", "has no peers" },
  { with_store({}, nil, { hardware = "gb10" }), "tiers.stores[1].read", "states no bandwidth to its host" },
  { with_store({}, nil, { replicas = { { hardware = "h100-sxm" }, { hardware = "l40s" } } }),
    "tiers.stores[1].read", "different bandwidths" },
  { with_store { eviction = "lrx" }, "tiers.stores[1].eviction", "did you mean 'lru'" },
  { with_store { eviction = Nothing }, "tiers.stores[1].eviction", "nothing has no key method" },
  { with_store { eviction = Odd }, "tiers.stores[1].eviction", "did you mean 'lru'" },
  { with_store { eviction = require "tiers.peer" {} }, "tiers.stores[1].eviction", "peer has no key method" },
  { scenario { tiers = { policy = "vllm_cpu", stores = { { name = "cpu", capacity_bytes = 1e9 },
    { name = "cpu", capacity_bytes = 2e9 } } } }, "tiers.stores[2].name", "stores[1] is called 'cpu' as well" },
  { scenario { deployment = { prefix_caching = false } }, "tiers", "prefix_caching is false" },
  { scenario { replicas = { { model = "llama-3.1-8b" }, { model = "qwen3-8b" } } }, "tiers.stores",
    "tiers need replicas of one layout" },
  { scenario { replicas = { { deployment = { block_size = 16 } }, { deployment = { block_size = 32 } } } },
    "tiers.stores", "in blocks of 32" },
}

test("what is wrong is named by its key", function()
  for _, each in ipairs(wrong) do
    local ok, problem = pcall(read, each[1])
    test.check(not ok, "%s is accepted: %s", each[2], each[3])
    local text = tostring(problem)
    test.check(text:find(each[2], 1, true) and text:find(each[3], 1, true), "%s, %s: %s", each[2], each[3], text)
  end
end)

test("tiers are checked when a scenario is opened, whatever its kind", function()
  local opening = require "rooflua.runs.opening"
  test.raises("did you mean 'capacity_bytes'", function()
    opening.table(with_store({ capacity = 5 }, nil, { kind = "search", search = { slo = { ttft_s_p99 = 1 } } }))
  end)
end)

local told = test.unread

test("links that no store names are told, and those of stores are not", function()
  test.equal(told(with_store({ read = { "nic" } }, nil, { links = nic })), "")
  test.equal(told(with_store({}, nil, { links = { pcie = { bytes_per_s = 1e9 } } })), "")
  test.equal(told(with_store({ peers = { "nic" } }, nil, { links = nic, replicas = 2 })), "")
  test.equal(told(with_store({}, nil, { links = nic })), "links.nic: no store names it")
  test.equal(told(with_store({}, nil, { links = nic, replicas = { { role = "prefill" }, { role = "decode" } } })),
    "links.nic: neither network.path nor a store names it")
end)

test("nodes decide something where a store or a link of one is of nodes", function()
  local on_nodes = { replicas = { { node = 1 }, { node = 1 } } }
  test.equal(told(with_store({ read = { "nic" } }, nil, copy(on_nodes, { links = nic }))), "")
  test.equal(told(with_store({ per = "node", read = { "disk" } }, nil,
    copy(on_nodes, { links = { disk = { bytes_per_s = 1e9, per = "replica" } } }))), "")
  test.equal(told(with_store({}, nil, on_nodes)), "replicas[1].node: no link of a store is of nodes; "
    .. "replicas[2].node: no link of a store is of nodes")
end)

test("peers of a single replica are told to be none", function()
  test.equal(told(with_store({ peers = { "nic" } }, nil, { links = nic })),
    "tiers.stores[1].peers: there is one replica")
end)

test("a scenario that does not serve says that nothing reads its tiers", function()
  local given = copy(scenario(), { kind = "price", price = { { decodes = 1 } } })
  test.equal(told(given):match "tiers[^;]*", 'tiers: kind "price" does not read it')
end)

test.finish()
