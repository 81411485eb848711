-- KV outside of the GPU: the key `tiers` of a scenario, as the engine gets it.
local core = require "rooflua.base.core"
local engine_tiers = require "rooflua.serving.engine_tiers"
local links = require "rooflua.serving.links"
local native = require "rooflua.native"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local tiers = {}

local orders = { "lru", "fifo", "lfu", "arc" } -- of the engine

--- The replicas that compute prompts, which have tiers, by their place in the list.
local function computing(reader, list)
  local out = {}
  for i, each in ipairs(list) do
    if each.config.role ~= "decode" then out[#out + 1] = { place = i, replica = each } end
  end
  if #out == 0 then reader:fail("tiers", "no replica computes prompts; tiers hold what is in front of a prompt") end
  for _, each in ipairs(out) do
    if each.replica.config.prefix_caching == false then
      reader:fail("tiers", "deployment.prefix_caching is false, and what stores hold is found by its prefix")
    end
    for _, key in ipairs { "cp", "dcp" } do
      if each.replica.deployment[key] > 1 then
        reader:fail("tiers", "with deployment.%s > 1 is not modelled; leave one of them out", key)
      end
    end
  end
  return out
end

--- What a replica keeps of a token in layers that keep all of them.
local function kept_bytes(replica)
  return native.kv_of_prompts(replica.prepared.model, replica.deployment).bytes_per_token
end

--- Bytes per token of a replica. Stores hold content of any replica, so all of them lay it out alike.
local function bytes_per_token(reader, given, list)
  local first = list[1].replica
  local bytes = given or kept_bytes(first)
  if given == 0 then reader:fail("bytes_per_token", "found 0; a number above 0 is right") end
  if bytes == 0 then
    reader:fail("bytes_per_token", "the layers of %s keep nothing that grows with the prompt, so stores hold nothing",
      first.prepared.model.name)
  end
  for _, each in ipairs(list) do
    local own, block_size = given or kept_bytes(each.replica), each.replica.config.block_size
    if own ~= bytes or block_size ~= first.config.block_size then
      reader:fail("stores", "replica %d keeps %.14g bytes of a token in blocks of %d, and replica %d keeps %.14g in "
        .. "blocks of %d; tiers need replicas of one layout", each.place, own, block_size, list[1].place, bytes,
        first.config.block_size)
    end
  end
  return bytes
end

--- Bytes per second between all GPUs of a replica and their host.
local function host_bytes_per_s(replica)
  return replica.deployment.tp * replica.deployment.pp * replica.prepared.hardware.host_bytes_per_s
end

--- The links with the one between GPUs and their host.
local function with_default(reader, key, declared, list)
  for _, each in ipairs(declared) do
    if each.name == links.to_host then return declared end
  end
  local first, out = list[1].replica, core.copy(declared)
  local bytes_per_s = host_bytes_per_s(first)
  if bytes_per_s == 0 then
    reader:fail(key, "is missing, and %s states no bandwidth to its host (host_gb_per_s in hardware.toml); name links",
      first.prepared.hardware.name)
  end
  for _, each in ipairs(list) do
    if host_bytes_per_s(each.replica) ~= bytes_per_s then
      reader:fail(key, "is missing, and replicas have different bandwidths to their hosts; say links.%s with "
        .. "per = \"replica\"", links.to_host)
    end
  end
  out[#out + 1] = { name = links.to_host, bytes_per_s = bytes_per_s, per = "replica" }
  table.sort(out, function(a, b) return a.name < b.name end)
  return out
end

--- The links that content takes from a store to the GPU and back.
local function paths_of(reader, store, declared)
  if links.is_to_host(store) then return { links.to_host }, { links.to_host } end
  if store.read == nil and store.write == nil then
    reader:fail("read", "is missing; name the links from a store of a %s to the GPU, as in read = { \"nic\" }",
      store.per)
  end
  local read, write = links.names(reader, "read", store.read, declared), links.names(reader, "write", store.write,
    declared)
  if store.read == nil then return write, write end
  return read, store.write == nil and read or write
end

--- Names of links over which other instances of a store are read.
local function peers_of(reader, store, declared)
  if store.peers ~= nil and store.per == "cluster" then
    reader:fail("peers", "a store of the cluster has one instance, so it has no peers; leave it out")
  end
  return links.names(reader, "peers", store.peers, declared)
end

local function chunk_of(reader, store, instance, block_size)
  local given = store.chunk_tokens
  local key = given == nil and type(instance.chunk_tokens) == "number" and "policy" or "chunk_tokens"
  local tokens = given or type(instance.chunk_tokens) == "number" and instance.chunk_tokens or block_size
  if tokens % block_size ~= 0 then
    reader:fail("chunk_tokens", "found %d%s; a multiple of deployment.block_size = %d is right, such as %d", tokens,
      key == "policy" and " of the policy " .. instance.name or "", block_size,
      math.max(1, math.floor(tokens / block_size + 0.5)) * block_size)
  end
  return tokens
end

local function default_of(name) return schema.entry("tiers.stores[]." .. name).default end

--- One store as the engine has it, without its eviction.
local function store_of(reader, store, known)
  if type(store.name) ~= "string" or not store.name:match "^[%a_][%w_]*$" then
    reader:fail("name", store.name == nil and "is missing; for example \"cpu\""
      or "expected a name such as \"cpu\", found %s", core.describe(store.name))
  end
  if store.capacity_bytes == nil then reader:fail("capacity_bytes", "is missing; for example 100e9") end
  if store.capacity_bytes == 0 then
    reader:fail("capacity_bytes", "found 0; leave the store out, or all of tiers where there is no other")
  end
  local read, write = paths_of(reader, store, known.links)
  local out = { name = store.name, capacity_bytes = store.capacity_bytes, per = store.per or default_of "per",
    alpha_s = store.alpha_s or default_of "alpha_s", read = read, write = write,
    chunk_tokens = chunk_of(reader, store, known.policy, known.block_size),
    peers = peers_of(reader, store, known.links) }
  local chunk_bytes = out.chunk_tokens * known.bytes_per_token
  if out.capacity_bytes < chunk_bytes then
    reader:fail("capacity_bytes", "found %.14g, less than one chunk of %d tokens, %.14g bytes", out.capacity_bytes,
      out.chunk_tokens, chunk_bytes)
  end
  return out
end

--- The stores, checked; names are all different.
local function stores_of(reader, given, known)
  local out, seen = {}, {}
  for i, store in ipairs(given) do
    local inside = reader:child(("stores[%d]"):format(i))
    out[i] = store_of(inside, store, known)
    if seen[store.name] then
      inside:fail("name", "stores[%d] is called '%s' as well; every store has a name of its own", seen[store.name],
        store.name)
    end
    seen[store.name] = i
  end
  return out
end

--- Answers of policies that the engine reads once: whether answers are stored, uses are counted, content is
--- promoted, and written when it leaves the GPU.
local function settle(reader, own)
  for _, field in ipairs { "outputs", "counts", "promote", "write_back", "as_filled", "last_chunk", "shares_loads",
    "flush" } do
    local value = own[field]
    if type(value) == "function" then value = value(own) end
    if value ~= nil and type(value) ~= "boolean" then
      reader:fail("policy", "%s: %s: expected true or false, found %s", own.name, field, core.describe(value))
    end
    rawset(own, field, value == true)
  end
  return own
end

--- A new instance that knows what it is for, in tables of its own.
local function bound(reader, key, instance, context)
  local own, stores = policy.fresh(instance), {}
  if type(own.bind) ~= "function" then return own end
  for i, store in ipairs(context.stores) do stores[i] = core.copy(store) end
  reader:at(key, own.bind, own, core.copy(context, { stores = stores }))
  return own
end

--- The policy of the tiers: one with both methods.
local function policy_of(reader, given)
  if given == nil then
    reader:fail("policy", "is missing; for example require \"tiers.vllm_cpu\" {}")
  end
  policies.with_method(reader, "policy", given, "load")
  return policies.with_method(reader, "policy", given, "store")
end

--- The order of a store's evictions: the engine's by its name, or "keyed" and an instance.
local function eviction_of(reader, given, context)
  local instance = policies.of(reader, "eviction", given or schema.entry("tiers.stores[].eviction").default)
  local name = instance.native
  if name ~= nil and not core.is_among(name, orders) then
    reader:fail("eviction", "%s: native: %s", instance.name, native.unknown_name("order", tostring(name), orders))
  end
  if name then return name, false end
  if type(instance.key) ~= "function" then reader:fail("eviction", "%s has no key method", tostring(instance.name)) end
  return "keyed", bound(reader, "eviction", instance, context)
end

--- How loads and steps stand in time. Layers that are in several stages of pp each wait for their own part of a load,
--- which is not simulated: a request waits for all of it, and a note says so.
local function overlap_of(wanted, list)
  if wanted == "none" then return wanted end
  for _, each in ipairs(list) do
    if each.replica.deployment.pp > 1 then
      engine_tiers.tell(each.replica, { "tiers.overlap: layer by layer is not simulated with stages of pp, so a "
        .. "request waits until all of its KV has come" })
      return "none"
    end
  end
  return wanted
end

--- The tiers of a scenario: {config, policies, evictions, links}. `config` is what the engine reads, `policies` one
--- instance per replica (false for those that compute no prompts), `evictions` one per store (false: the engine's own
--- order), `links` all links of the run. nil where the scenario has none.
---@param list table of replicas.of
---@param declared table of links.of
function tiers.of(reader, given, list, declared)
  if given == nil then return nil end
  local inside, group = reader:child "tiers", schema.check_group(reader, "tiers", given)
  local chosen = policy_of(inside, group.policy)
  local stores = schema.check_list(inside, "tiers.stores", group.stores)
  if #stores == 0 then
    inside:fail("stores", "is missing; for example { { name = \"cpu\", capacity_bytes = 100e9 } }")
  end
  local at_work = computing(reader, list)
  local first = at_work[1].replica
  for i, store in ipairs(stores) do
    if links.is_to_host(store) then
      declared = with_default(inside, ("stores[%d].read"):format(i), declared, at_work)
    end
  end
  local bytes = bytes_per_token(inside, group.bytes_per_token, at_work)
  local made = stores_of(inside, stores,
    { links = declared, policy = chosen, block_size = first.config.block_size, bytes_per_token = bytes })
  local context = { stores = made, bytes_per_token = bytes, model = first.prepared.model,
    hardware = first.prepared.hardware, deployment = first.deployment }
  local evictions, own = {}, {}
  for i, store in ipairs(stores) do
    local at = inside:child(("stores[%d]"):format(i))
    made[i].eviction, evictions[i] = eviction_of(at, store.eviction, context)
  end
  for i, each in ipairs(list) do
    own[i] = each.config.role ~= "decode" and settle(inside, bound(inside, "policy", chosen, context))
  end
  local prefetch = group.prefetch
  if prefetch == nil then prefetch = chosen.prefetch == true end
  return { policies = own, evictions = evictions, links = declared, config = { stores = made, bytes_per_token = bytes,
    overlap = overlap_of(group.overlap or chosen.overlap or "none", at_work), layers = first.prepared.model.layers,
    prefetch = prefetch } }
end

return tiers
