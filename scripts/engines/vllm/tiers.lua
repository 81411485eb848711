--- KV outside of the GPU as vLLM's command says it: CPU memory by --kv-offloading-size or by the OffloadingConnector of
--- --kv-transfer-config, and LMCache. What an engine's `tiers` returns: docs/ENGINES.md.
--- Source: vllm/config/cache.py, kv_offloading_size and kv_offloading_backend; vllm/config/vllm.py,
--- _post_init_kv_transfer_config; docs/features/kv_offloading_usage.md, kv_connector_extra_config.
local json = require "rooflua.json"
local lmcache = require "engines.rules.lmcache"

local gib = 2 ^ 30

local tiers = {}

--- The document of --kv-transfer-config as a table; nil where it is none.
local function document_of(text)
  local ok, value = pcall(json.decode, text or "")
  return ok and type(value) == "table" and value or nil
end

local connectors = { OffloadingConnector = "native", LMCacheConnectorV1 = "lmcache", LMCacheConnector = "lmcache",
  LMCacheMPConnector = "lmcache" }

--- Which cache a connector of --kv-transfer-config is: "native", "lmcache", or nil where it is another one.
function tiers.backend_of(text)
  local document = document_of(text)
  return document and connectors[document.kv_connector]
end

local known = { spec_name = true, block_size = true, blocks_per_chunk = true, cpu_bytes_to_use = true,
  num_cpu_blocks = true, kv_bytes_per_rank = true, eviction_policy = true, store_threshold = true,
  offload_prompt_only = true }

--- num_cpu_blocks had to be stated before, and is not read since: cpu_bytes_to_use took its place.
--- Source: vllm pull request 24498, merged in January 2026, after 0.13.
tiers.blocks_before = "0.14"

--- How often the CPU's memory of a token is the KV that grows with it, of a model with recurrent states. A slot has
--- room for a block of every group of layers; a state is stored seldom. Layers with windows are groups as well, but
--- measured fleets of such models do not show it (docs/records/decisions.md).
--- Source: vllm issue 56871, pull request 56953 (open); groups since pull request 36610.
---@param kinds table of native.rank_counts
---@param before fun(release: string): boolean
function tiers.slot_factor(kinds, before)
  local size, groups, growing, has_states = math.huge, 0, 0, false
  for _, kind in ipairs(kinds) do size = math.min(size, kind.layers) end
  for _, kind in ipairs(kinds) do
    local own = math.ceil(kind.layers / size)
    groups, growing = groups + own, growing + (kind.growing_bytes > 0 and own or 0)
    has_states = has_states or kind.state_elements > 0
  end
  return has_states and growing > 0 and not before "0.18" and groups / growing or 1
end

--- How many ranks keep the same KV in the CPU's memory: latent KV is whole on each rank of tp that dcp does not divide.
--- From 0.27 on a model whose layers are all of that kind has it once, where ranks of tp alone divide it.
--- Source: vllm/v1/kv_offload/cpu/spec.py, num_copies, replicated_layout; pull requests 48906 and 50301.
---@param about table {kinds, before, tp, pp, dcp}
function tiers.copies(about)
  local is_latent, is_pure = false, true
  for _, kind in ipairs(about.kinds) do
    local latent = kind.kind:find "^latent" ~= nil or kind.kind == "compressed"
    is_latent, is_pure = is_latent or latent, is_pure and kind.kind == "latent"
  end
  local is_shared = is_pure and about.pp == 1 and about.dcp == 1 and not about.before "0.27"
  return is_latent and not is_shared and about.tp / about.dcp or 1
end

--- A number of the extra configuration; nil where it says none.
local function number(extra, name, least)
  local value = extra[name]
  if value ~= nil and (type(value) ~= "number" or value < least) then
    error(("kv_transfer_config.kv_connector_extra_config.%s: expected a number of at least %g"):format(name, least), 0)
  end
  return value
end

--- Bytes of the CPU's memory for all ranks; releases say them in three ways. Blocks are those of a rank.
local function bytes_of(extra, chunk_tokens, about)
  local bytes = number(extra, "cpu_bytes_to_use", 0)
  if bytes then return bytes end
  local of_rank = number(extra, "kv_bytes_per_rank", 0)
  if of_rank then return of_rank * about.ranks end
  local blocks = number(extra, "num_cpu_blocks", 0)
  if blocks then return blocks * chunk_tokens * about.bytes_per_token * tiers.copies(about) end
  error("kv_transfer_config.kv_connector_extra_config.cpu_bytes_to_use: is missing, as in 100000000000", 0)
end

--- Whether answers are stored. Before pull request 43797 (28 May 2026, offload_prompt_only with its default true) they
--- are where nothing is said; with asynchronous scheduling blocks of answers were lost until pull request 33881
--- (March 2026; pull request 36052 describes it).
--- Source: vllm/distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py.
local function stores_answers(extra, about)
  if extra.offload_prompt_only ~= nil then return extra.offload_prompt_only == false end
  return about.before "0.23" and not (about.is_async and about.before "0.18")
end

--- The OffloadingConnector: CPU memory alone, because no command says how fast files and objects are.
local function native_of(extra, about)
  local told = {}
  local chunk_tokens = number(extra, "block_size", 1)
    or about.block_size * (number(extra, "blocks_per_chunk", 1) or 1)
  local eviction = extra.eviction_policy or "lru"
  if eviction ~= "lru" and eviction ~= "arc" then
    told[#told + 1] = ("KV that leaves the CPU's memory is the one used longest ago, not as %s says"):format(eviction)
    eviction = "lru"
  end
  local slots, copies = tiers.slot_factor(about.kinds, about.before), tiers.copies(about)
  if slots > 1 then
    told[#told + 1] = ("each token takes %.3g times its KV in the CPU's memory, as slots have room for all groups of "
      .. "layers"):format(slots)
  end
  if copies > 1 then
    told[#told + 1] = ("each token takes %.3g times its KV in the CPU's memory, as so many ranks keep latent KV")
      :format(copies)
  end
  local names = {}
  for name in pairs(extra) do names[#names + 1] = tostring(name) end
  table.sort(names)
  for _, name in ipairs(names) do
    if name == "secondary_tiers" then
      told[#told + 1] = "kv_connector_extra_config.secondary_tiers: nothing says how fast they are, so they are left "
        .. "out; say `tiers`"
    elseif not known[name] then
      told[#told + 1] = ("kv_connector_extra_config.%s: not read"):format(name)
    end
  end
  return { policy = "vllm_cpu", parameters = { outputs = stores_answers(extra, about),
      store_threshold = number(extra, "store_threshold", 0) or 0,
      drops_last_chunk = about.drops_last_hit and not about.before "0.28" },
    stores = { { name = "cpu", capacity_bytes = bytes_of(extra, chunk_tokens, about) / slots / copies,
      chunk_tokens = chunk_tokens, eviction = eviction } } }, told
end

--- The back end of --kv-offloading-size. The native one is the default since 0.14 (vllm pull request 32421); before,
--- nothing is kept without a name.
local function backend_of_size(options, about)
  return options.kv_offloading_backend or not about.before "0.14" and "native" or nil
end

local function of_size(options, about)
  local size, backend = options.kv_offloading_size, backend_of_size(options, about)
  if backend == nil then
    return nil, { "--kv-offloading-size: before 0.14 nothing is kept without --kv-offloading-backend" }
  end
  if backend == "lmcache" then return lmcache.of(options, about, {}, size * gib) end
  return native_of({ cpu_bytes_to_use = size * gib }, about)
end

--- @param options table by name, those that are stated
--- @param about table of applied/tiers.lua
--- @return table? tiers, string[]? sentences
function tiers.of(options, about)
  local has_size, backend = (options.kv_offloading_size or 0) > 0, tiers.backend_of(options.kv_transfer_config)
  if has_size and backend then
    error("kv_offloading_size: --kv-transfer-config says as well where KV is kept; give one of them", 0)
  end
  if has_size then return of_size(options, about) end
  if not backend then return nil end
  if backend == "native" and about.before "0.11" then -- vLLM blog, 2026-01-08: introduced in 0.11.0
    error("kv_transfer_config.kv_connector: this release has no OffloadingConnector (since 0.11)", 0)
  end
  local extra = document_of(options.kv_transfer_config).kv_connector_extra_config
  extra = type(extra) == "table" and extra or {}
  if backend == "lmcache" then return lmcache.of(options, about, extra) end
  return native_of(extra, about)
end

--- The options that keep KV in so many bytes of the host's memory.
function tiers.host_memory(bytes) return { kv_offloading_size = bytes / gib, kv_offloading_backend = "native" } end

local not_modelled = "the engine is taken to do both parts of a request; its connector is not modelled"

tiers.options = {
  { "kv_transfer_config", parameter = "role", flag = "--kv-transfer-config", type = "json", read_by = "applied.tiers",
    values_of = { prefill = [[{"kv_connector":"NixlConnector","kv_role":"kv_producer"}]],
      decode = [[{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}]] },
    says = function(value) return not tiers.backend_of(value) and not_modelled or nil end,
    elsewhere = function(value) return not tiers.backend_of(value) and "say role in an entry of `replicas`" or nil end,
    doc = "which part of a request an engine does, and where KV is kept outside of the GPU" },
  { "kv_offloading_size", flag = "--kv-offloading-size", type = "number", min = 0, read_by = "applied.tiers",
    doc = "GiB of CPU memory for KV, for all ranks" },
  { "kv_offloading_backend", flag = "--kv-offloading-backend", type = "text", values = { "native", "lmcache" },
    read_by = "applied.tiers", doc = "what keeps KV in CPU memory" },
}
for _, option in ipairs(lmcache.options) do tiers.options[#tiers.options + 1] = option end

return tiers
