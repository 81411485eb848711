#pragma once
// The form of a release's events of blocks in its KV cache. Which release has which form is said
// in the engine's file (scripts/engines/vllm/kv_events.lua); here is what can be said.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace rooflua::emulate {

/// A field of BlockStored or BlockRemoved.
enum class KvField : std::int32_t {
  block_hashes,
  parent_block_hash,  // of the block in front of the first one; null at the beginning of a prompt
  token_ids,          // of all blocks of the event
  block_size,         // tokens
  lora_id,            // null
  medium,             // "GPU"
  lora_name,          // null
  extra_keys,         // null for each block
  group_idx,          // 0
  kv_cache_spec_kind,
};

struct KvForm {
  bool chains_64_bits = false;   // each hash is cut to 64 bits before the next one is computed
  bool events_are_maps = false;  // from names to values, with the event's name as `type`; else a
                                 // list of the name and the values in the order of the fields
  std::vector<KvField> stored, removed;
  std::string kind;  // kv_cache_spec_kind
};

/// The name of a field, as engines write it.
const char* name(KvField field);

/// @param given  {hash, events, stored, removed, kind}
/// @throws Error for a word that is unknown
KvForm kv_form(const Json& given);

}  // namespace rooflua::emulate
