--- KV outside of the GPU as SGLang's command says it: HiCache. What an engine's `tiers` returns: docs/ENGINES.md.
--- Source: docs/advanced_features/hicache_design.md, "Related Parameters"; python/sglang/srt/server_args.py,
--- python/sglang/srt/mem_cache/memory_pool_host.py.
local json = require "rooflua.json"

local tiers = {}

--- The least ratio of the host's pool to that of the GPU, and the one by default.
local default_ratio = 2

local function extra_of(text)
  if text == nil then return {} end
  local ok, value = pcall(json.decode, text)
  if not ok or type(value) ~= "table" then
    error("hicache_storage_backend_extra_config: expected a document of JSON", 0)
  end
  return value
end

--- Bytes of the host's memory: --hicache-size GB of each rank, else --hicache-ratio times the pool of the GPU.
local function bytes_of(options, about)
  local size = options.hicache_size or 0
  if size > 0 then return size * 1e9 * about.ranks end
  return (options.hicache_ratio or default_ratio) * about.kv_bytes
end

--- @param options table by name, those that are stated
--- @param about table {ranks, bytes_per_token, block_size, kv_bytes}
--- @return table? tiers, string[]? sentences
function tiers.of(options, about)
  local told = {}
  if not options.enable_hierarchical_cache then
    for _, option in ipairs(tiers.options) do
      if option[1]:find "^hicache_" and options[option[1]] ~= nil then told[#told + 1] = option.flag end
    end
    local text = table.concat(told, ", ")
    return nil, text ~= "" and { text .. ": no effect without --enable-hierarchical-cache" } or nil
  end
  if options.hicache_storage_backend then
    told[1] = ("--hicache-storage-backend: nothing says how fast %s is, so KV is kept in the host's memory alone; say "
      .. "`tiers`"):format(options.hicache_storage_backend)
  end
  local extra = extra_of(options.hicache_storage_backend_extra_config)
  return { policy = "hicache", parameters = { write_policy = options.hicache_write_policy,
      prefetch_policy = options.hicache_storage_prefetch_policy, prefetch_threshold = extra.prefetch_threshold,
      prefetch_timeout_base_s = extra.prefetch_timeout_base,
      prefetch_timeout_per_ki_token_s = extra.prefetch_timeout_per_ki_token },
    stores = { { name = "host", capacity_bytes = bytes_of(options, about) } } }, told
end

--- The options that keep KV in so many bytes of the host's memory, as whole GB of each rank.
function tiers.host_memory(bytes, ranks)
  local size = math.floor(bytes / ranks / 1e9 + 1e-9)
  if size == 0 then error(("--hicache-size counts whole GB of each of %d ranks; give more"):format(ranks), 0) end
  return { enable_hierarchical_cache = true, hicache_size = size }
end

local rate = "copies are as fast as the link to the host, whatever the layout"

tiers.options = {
  { "enable_hierarchical_cache", flag = "--enable-hierarchical-cache", type = "switch", read_by = "applied.tiers",
    doc = "KV is kept in the host's memory" },
  { "hicache_ratio", flag = "--hicache-ratio", type = "number", min = 0, read_by = "applied.tiers",
    doc = "KV in the host's memory to that of the GPU" },
  { "hicache_size", flag = "--hicache-size", type = "integer", min = 0, read_by = "applied.tiers",
    doc = "GB of the host's memory of each rank; 0: by the ratio" },
  { "hicache_write_policy", flag = "--hicache-write-policy", type = "text", read_by = "applied.tiers",
    values = { "write_back", "write_through", "write_through_selective" }, doc = "when KV is copied to the host" },
  { "hicache_storage_backend", flag = "--hicache-storage-backend", type = "text", read_by = "applied.tiers",
    doc = "storage behind the host's memory" },
  { "hicache_storage_prefetch_policy", flag = "--hicache-storage-prefetch-policy", type = "text",
    read_by = "applied.tiers", values = { "best_effort", "wait_complete", "timeout" },
    doc = "how long a request waits for storage" },
  { "hicache_storage_backend_extra_config", flag = "--hicache-storage-backend-extra-config", type = "text",
    read_by = "applied.tiers", doc = "JSON of the storage, with the limits of prefetching" },
  { "hicache_io_backend", flag = "--hicache-io-backend", type = "text", note = rate, idle = { "kernel" } },
  { "hicache_mem_layout", flag = "--hicache-mem-layout", type = "text", note = rate },
}

return tiers
