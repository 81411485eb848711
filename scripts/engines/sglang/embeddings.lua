--- SGLang: when images, sounds and videos are encoded, and how many bytes of their embeddings are kept. What was used
--- the longest ago goes; a prompt waits for no room.
local embeddings = {}

function embeddings.options()
  return {
    { "SGLANG_VLM_CACHE_SIZE_MB", variable = true, type = "text", read_by = "encoder_cache_bytes",
      doc = "MiB of embeddings that are kept" },
  }
end

local function kept_bytes(_, own)
  local text = own.SGLANG_VLM_CACHE_SIZE_MB or "100"
  local mib = tonumber(text)
  if not (mib and mib >= 0 and mib < 1e9) then
    error(("SGLANG_VLM_CACHE_SIZE_MB: expected MiB from 0 on, found '%s'"):format(text), 0)
  end
  return mib * 2 ^ 20
end

embeddings.rules = {
  { encoder_whole = true, encoder_pins = false, encoder_shares = true, encoder_cache_bytes = 0,
    source = "pull request 6355 of 2025-05 adds the cache" },
  { since = "0.4.7", encoder_cache_bytes = kept_bytes,
    source = "pull request 6355: all images of a prompt are one entry; SGLANG_VLM_CACHE_SIZE_MB, 100 by default" },
  { since = "0.5.11", encoder_whole = false,
    source = "pull request 22038 of 2026-04: an entry per image, and a chunk encodes those that it meets" },
}

return embeddings
