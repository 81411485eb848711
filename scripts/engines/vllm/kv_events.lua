--- How vLLM tells of the blocks in its KV cache (--kv-events-config, publisher "zmq"), by release: what `rooflua
--- emulate --kv-events` sends. Rows {since, before, NAME = value..., source}; later rows go first. Names:
---   hash      what names a block: SHA-256 of the CBOR of (hash in front, tokens, extra keys), cut to 64 bits before it
---             is chained ("sha256_cbor_64bit") or only where it is told ("sha256_cbor")
---   events    each event is an "array" or a "map"; the batch [ts, events, data_parallel_rank] is an array
---   stored    a field more of BlockStored; removed: of BlockRemoved; cleared: of AllBlocksCleared, which has none
---   kind      what kv_cache_spec_kind says of the only group of layers that is emulated
-- What is hashed: hash_block_tokens of vllm/v1/core/kv_cache_utils.py; in front of the first block stands the hash of
-- the text PYTHONHASHSEED (init_none_hash), and the extra keys of a plain prompt are null. A release before 0.10.0 has
-- hashes of Python alone. Events have the low 64 bits as a number: VLLM_KV_EVENTS_USE_INT_BLOCK_HASHES is 1.
-- Read were the files of 0.9.0, 0.11.2, 0.15.0 and main in 2026-06, and the events that 0.26.0 sends
-- (volcano-sh/kthena issue 1535). Where a row's release lies between these, it is the first one behind the day on which
-- the change was merged: the release's own file was not read.
local utils = "vllm/v1/core/kv_cache_utils.py, vllm/utils/hashing.py"
local events = "vllm/distributed/kv_events.py"

return {
  -- vllm-project/vllm pull request 20511, 2025-07
  { since = "0.10.0", before = "0.10.2", hash = "sha256_cbor_64bit", source = utils },
  -- pull request 23673, 2025-09
  { since = "0.10.2", hash = "sha256_cbor", source = utils },
  { before = "0.24.0", events = "array", source = events },
  -- pull request 42892 of 2026-06-09; 0.23.1.dev0 and 0.24.0 send maps
  { since = "0.24.0", events = "map", source = events },
  { stored = "block_hashes", source = events },
  { stored = "parent_block_hash", source = events },
  { stored = "token_ids", source = events },
  { stored = "block_size", source = events },
  { stored = "lora_id", source = events },
  -- in 0.11.2, not in 0.9.0
  { since = "0.10.2", stored = "medium", source = events },
  -- pull request 27577; in 0.15.0
  { since = "0.14.0", stored = "lora_name", source = events },
  -- pull request 33304 of 2026-02; not in 0.15.0
  { since = "0.17.0", stored = "extra_keys", source = events },
  { since = "0.21.0", stored = "group_idx", source = events },
  -- pull request 40984 of 2026-05
  { since = "0.22.0", stored = "kv_cache_spec_kind", kind = "full_attention", source = events },
  { removed = "block_hashes", source = events },
  { since = "0.10.2", removed = "medium", source = events },
  { since = "0.21.0", removed = "group_idx", source = events },
}
