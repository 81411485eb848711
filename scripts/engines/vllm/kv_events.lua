--- How vLLM tells of the blocks in its KV cache (--kv-events-config, publisher "zmq"), by release: what `rooflua
--- emulate --kv-events` sends. Rows {since, before, NAME = value..., seen_without, seen_with, source}; later rows go
--- first. Names:
---   hash      what names a block: SHA-256 of the CBOR of (hash in front, tokens, extra keys), cut to 64 bits before it
---             is chained ("sha256_cbor_64bit") or only where an option asks for it ("sha256_cbor")
---   events    each event is an "array" or a "map"; the batch [ts, events, data_parallel_rank] is an array
---   stored    a field more of BlockStored; removed: of BlockRemoved; cleared: of AllBlocksCleared, which has none
---   kind      what kv_cache_spec_kind says of the only group of layers that is emulated
---   seen_without, seen_with   the last release in which the row was seen not to hold, and the first in which it was
---             seen to hold. Between them `since` is assumed from the day of the change, and every output says so.
---   seen_until   the last release of which anything was seen
-- What is hashed: hash_block_tokens of vllm/v1/core/kv_cache_utils.py; in front of the first block stands the hash of
-- the text PYTHONHASHSEED (init_none_hash), and the extra keys of a plain prompt are null. Events have the low 64 bits
-- as a number: VLLM_KV_EVENTS_USE_INT_BLOCK_HASHES is 1 (maybe_convert_block_hash). Read at commit 001cabc1.
-- Seen were, of vLLM's documentation, which shows the source: 0.9.0, 0.11.2 and 0.15.0 of
-- api/vllm/distributed/kv_events, 0.9.2 of examples/online_serving/kv_events_subscriber, and 0.10.2 of
-- api/vllm/config/cache. Of others: the messages that 0.26.0 sent (volcano-sh/kthena issue 1535), and that 0.24.0 and
-- 0.29.0 have the same form (verl-project/uni-agent pull request 216). vllm-project/vllm at commit 0181ea31 has the
-- batch as a map, too: no release was seen to send that.
local utils = "vllm/v1/core/kv_cache_utils.py, vllm/utils/hashing.py: "
local events = "vllm/distributed/kv_events.py: "
local first = events .. "documentation of 0.9.0"

return {
  { seen_until = "0.29.0", source = "verl-project/uni-agent pull request 216" },
  { since = "0.10.0", before = "0.10.2", hash = "sha256_cbor_64bit", seen_without = "0.9.2",
    source = utils .. "pull request 20511 of 2025-07; no release was read" },
  { since = "0.10.2", hash = "sha256_cbor", seen_without = "0.9.2", seen_with = "0.10.2",
    source = utils .. "pull request 23673 of 2025-09; documentation of 0.10.2 names no other CBOR" },
  { before = "0.24.0", events = "array", source = first },
  { since = "0.24.0", events = "map", seen_without = "0.15.0", seen_with = "0.24.0",
    source = events .. "pull request 42892 of 2026-06" },
  { stored = "block_hashes", source = first },
  { stored = "parent_block_hash", source = first },
  { stored = "token_ids", source = first },
  { stored = "block_size", source = first },
  { stored = "lora_id", source = first },
  { since = "0.10.2", stored = "medium", seen_without = "0.9.2", seen_with = "0.11.2",
    source = events .. "pull request 19737" },
  { since = "0.14.0", stored = "lora_name", seen_without = "0.11.2", seen_with = "0.15.0",
    source = events .. "pull request 27577" },
  { since = "0.17.0", stored = "extra_keys", seen_without = "0.15.0", seen_with = "0.26.0",
    source = events .. "pull request 33304 of 2026-02" },
  { since = "0.21.0", stored = "group_idx", seen_without = "0.15.0", seen_with = "0.26.0",
    source = events .. "pull request 37688 of 2026" },
  { since = "0.22.0", stored = "kv_cache_spec_kind", kind = "full_attention", seen_without = "0.15.0",
    seen_with = "0.26.0", source = events .. "pull request 40984 of 2026-05" },
  { removed = "block_hashes", source = first },
  { since = "0.10.2", removed = "medium", seen_without = "0.9.2", seen_with = "0.11.2",
    source = events .. "pull request 19737" },
  { since = "0.21.0", removed = "group_idx", seen_without = "0.15.0", seen_with = "0.26.0",
    source = events .. "pull request 37688 of 2026" },
}
