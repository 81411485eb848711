--- SGLang: when images, sounds and videos are encoded, and how many bytes of their embeddings are kept. What was used
--- the longest ago goes; a prompt waits for no room.
local embeddings = {}

embeddings.encode_pool = { since = "0.5.7",
  encode = { "--encoder-only", "--encoder-transfer-backend", "zmq_to_scheduler" },
  serve = { "--language-only", "--encoder-urls", "$*{ENCODER_URLS}", "--encoder-transfer-backend", "zmq_to_scheduler" },
  asks = { { "ENCODER_URLS", "addresses of the engines that encode, as http://HOST:30000, with spaces between them" } },
  source = "docs/advanced_features/epd_disaggregation.md, of 2025-12: that 0.5.7 is the first with it follows from the "
    .. "date" }

local elsewhere = "embeddings go over the scenario's network, whatever carries them"

function embeddings.options()
  return {
    { "encoder_only", flag = "--encoder-only", type = "switch", note = "the engine is taken to do all of a request",
      encodes = function(fields) return fields[1] == true end,
      elsewhere = "say encoder = true in an entry of `replicas`", doc = "the engine only encodes" },
    { "language_only", flag = "--language-only", type = "switch", note = elsewhere,
      doc = "embeddings come from other engines" },
    { "encoder_urls", flag = "--encoder-urls", type = "list", note = elsewhere, doc = "addresses of these" },
    { "encoder_transfer_backend", flag = "--encoder-transfer-backend", type = "text", note = elsewhere,
      doc = "what carries embeddings" },
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
