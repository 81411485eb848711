--- KV outside of the GPU as TensorRT-LLM says it: kv_cache_config.host_cache_size. What an engine's `tiers` returns is
--- in docs/ENGINES.md. Source: tensorrt_llm/llmapi/llm_args.py, KvCacheConfig; docs/source/features/kvcache.md.
local tiers = {}

--- Blocks are copied when they leave the GPU. Here they are copied as they are computed; nothing waits for room.
--- @param options table by name, those that are stated
--- @param about table {ranks, bytes_per_token, block_size, kv_bytes}
--- @return table? tiers, string[]? sentences
function tiers.of(options, about)
  local bytes = options["kv_cache_config.host_cache_size"] or 0
  if bytes == 0 then return nil end
  return { policy = "trtllm_host",
    stores = { { name = "host", capacity_bytes = bytes * about.ranks } } },
    { "kv_cache_config.host_cache_size: KV is copied to the host as it is computed, not when it leaves the GPU" }
end

--- The options that keep KV in so many bytes of the host's memory.
function tiers.host_memory(bytes, ranks)
  return { ["kv_cache_config.host_cache_size"] = math.floor(bytes / ranks) }
end

tiers.options = {
  { "kv_cache_config.host_cache_size", type = "integer", min = 0, read_by = "applied.tiers",
    doc = "bytes of the host's memory of each rank for KV" },
}

return tiers
