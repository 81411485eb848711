--- SGLang: when images, sounds and videos are encoded, and how many bytes of their embeddings are kept. What was used
--- the longest ago goes; a prompt waits for no room.
local encoders = require "engines.sglang.encoders"

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
    { "mm_feature_transport", since = "0.5.16", flag = "--mm-feature-transport", type = "text",
      values = { "cpu", "cuda_ipc", "cuda_vmm" }, read_by = "encoder_reserve_bytes",
      doc = "pixels go to the engine through memory of the host or of the GPU" },
    { "keep_mm_feature_on_device", flag = "--keep-mm-feature-on-device", type = "switch",
      read_by = "encoder_reserve_bytes", doc = "pixels stay on the GPU; from 0.5.16 on cuda_ipc above" },
    { "SGLANG_USE_CUDA_IPC_TRANSPORT", variable = true, type = "text", read_by = "encoder_reserve_bytes",
      doc = "1: the same, before there was a flag" },
    { "SGLANG_MM_FEATURE_CACHE_MB", variable = true, type = "text", read_by = "encoder_reserve_bytes",
      doc = "MiB of the GPU for pixels that go to the engine" },
  }
end

local function bytes_of(own, name, by_default)
  local text = own[name] or by_default
  local mib = tonumber(text)
  if not (mib and mib >= 0 and mib < 1e9) then
    error(("%s: expected MiB from 0 on, found '%s'"):format(name, text), 0)
  end
  return mib * 2 ^ 20
end

local function kept_bytes(_, own) return bytes_of(own, "SGLANG_VLM_CACHE_SIZE_MB", "100") end

--- What is allocated after the KV cache: embeddings, and pixels where they go through the GPU.
local function reserved_bytes(facts, own)
  if not encoders.is_loaded(facts) then return 0 end
  local is_shared = own.keep_mm_feature_on_device or own.SGLANG_USE_CUDA_IPC_TRANSPORT == "1"
  local way = own.mm_feature_transport or is_shared and "cuda_ipc" or "cpu"
  return kept_bytes(facts, own) + (way == "cpu" and 0 or bytes_of(own, "SGLANG_MM_FEATURE_CACHE_MB", "1024"))
end

embeddings.rules = {
  code = "python/sglang/srt/managers/mm_schedule.py: embedding_cache", seen = "0.5.18",
  { encoder_whole = true, encoder_pins = false, encoder_shares = true, encoder_cache_bytes = 0,
    source = "pull request 6355 of 2025-05 adds the cache" },
  { since = "0.4.7", encoder_cache_bytes = kept_bytes,
    source = "pull request 6355: all images of a prompt are one entry; SGLANG_VLM_CACHE_SIZE_MB, 100 by default" },
  { since = "0.5.11", encoder_whole = false,
    source = "pull request 22038 of 2026-04: an entry per image, and a chunk encodes those that it meets" },
  { before = "0.5.18", encoder_reserve_bytes = 0, source = "they are in the part that mem_fraction_static leaves" },
  { since = "0.5.18", encoder_reserve_bytes = reserved_bytes,
    code = "python/sglang/srt/mem_cache/kv_cache_configurator.py: mm_runtime_reservation_gb",
    source = "pull request 34141 of 2026-08-12; that cuda_vmm is the default of some models on several nodes with "
      .. "GB200 or GB300 is left out" },
}

return embeddings
