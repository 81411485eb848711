--- LMCache as its variables and its part of vLLM's extra configuration say it.
--- Source: LMCache docs/source/api_reference/configurations.rst; lmcache/v1/config.py.
local lmcache = {}

local gib = 2 ^ 30

--- What is said of a variable: by the environment, else by "lmcache.chunk_size" of the extra configuration.
local function said(options, extra, name)
  local value = options["LMCACHE_" .. name:upper()]
  if value == nil then value = extra["lmcache." .. name] end
  return value
end

local function number(options, extra, name, default)
  local value = said(options, extra, name)
  if value == nil then return default end
  local found = tonumber(value)
  if not found or not (found >= 0 and found < math.huge) then
    error(("LMCACHE_%s: expected a number from 0 on, found %s"):format(name:upper(), tostring(value)), 0)
  end
  return found
end

local function switch(options, extra, name, default)
  local value = said(options, extra, name)
  if value == nil then return default end
  local word = tostring(value):lower()
  if word == "true" or word == "1" then return true end
  if word == "false" or word == "0" then return false end
  error(("LMCACHE_%s: expected true or false, found %s"):format(name:upper(), tostring(value)), 0)
end

local policies = { lru = true, lfu = true, fifo = true }

--- LMCache's default chunk and sizes; disks and servers are left out, because nothing says how fast they are.
--- @param bytes number? of the CPU's memory for all ranks; else LMCACHE_MAX_LOCAL_CPU_SIZE GiB of each rank (5)
--- @return table? tiers, string[] sentences
function lmcache.of(options, about, extra, bytes)
  local told = {}
  for _, name in ipairs { "local_disk", "remote_url" } do
    if said(options, extra, name) ~= nil then
      told[#told + 1] = ("LMCACHE_%s: nothing says how fast it is, so it is left out; say `tiers`"):format(name:upper())
    end
  end
  if not switch(options, extra, "local_cpu", true) then
    told[#told + 1] = "LMCACHE_LOCAL_CPU is false: no KV is kept in CPU memory"
    return nil, told
  end
  local eviction = tostring(said(options, extra, "cache_policy") or "lru"):lower()
  if not policies[eviction] then
    told[#told + 1] = ("LMCACHE_CACHE_POLICY: %s is not modelled; what was used longest ago leaves"):format(eviction)
    eviction = "lru"
  end
  bytes = bytes or number(options, extra, "max_local_cpu_size", 5) * gib * about.ranks
  return { policy = "lmcache", overlap = switch(options, extra, "use_layerwise", false) and "layers" or "none",
    parameters = { chunk_tokens = number(options, extra, "chunk_size", 256),
      outputs = switch(options, extra, "save_decode_cache", false),
      min_retrieve_tokens = number(options, extra, "min_retrieve_tokens", 0),
      blocking_timeout_s = number(options, extra, "blocking_timeout_secs", 10) },
    stores = { { name = "cpu", capacity_bytes = bytes, eviction = eviction } } }, told
end

local function variable(name, doc)
  return { "LMCACHE_" .. name, variable = true, type = "text", read_by = "applied.tiers", doc = doc }
end

lmcache.options = {
  variable("CHUNK_SIZE", "tokens of a chunk of LMCache"),
  variable("LOCAL_CPU", "whether LMCache keeps KV in CPU memory"),
  variable("MAX_LOCAL_CPU_SIZE", "GiB of CPU memory of each rank for LMCache"),
  variable("LOCAL_DISK", "folder of LMCache on a disk"),
  variable("REMOTE_URL", "server of LMCache"),
  variable("SAVE_DECODE_CACHE", "whether LMCache keeps answers"),
  variable("USE_LAYERWISE", "whether LMCache loads layer by layer"),
  variable("CACHE_POLICY", "what leaves LMCache first"),
  variable("MIN_RETRIEVE_TOKENS", "tokens from which on LMCache is read"),
  variable("BLOCKING_TIMEOUT_SECS", "seconds that a request waits for LMCache"),
  { "LMCACHE_MAX_LOCAL_DISK_SIZE", variable = true, type = "text", note = "disks of LMCache are not modelled" },
  { "LMCACHE_REMOTE_SERDE", variable = true, type = "text", note = "servers of LMCache are not modelled" },
  { "LMCACHE_CONFIG_FILE", variable = true, type = "text", note = "its file is not read; say them as LMCACHE_*" },
  { "LMCACHE_USE_EXPERIMENTAL", variable = true, type = "text", no_effect = true },
  { "LMCACHE_LOG_LEVEL", variable = true, type = "text", no_effect = true },
}

return lmcache
