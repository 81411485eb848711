#pragma once
// Which events of KV caches are sent, and where.

#include <cstdint>
#include <string>

#include "emulate/kv/form.h"

namespace rooflua::emulate {

struct KvRules {
  KvForm form;
  std::string seed;                  // of the names of blocks: PYTHONHASHSEED
  std::int32_t block_tokens = 16;    // of a block of every replica, and of a segment of a prompt
  bool replicas_are_engines = true;  // each has rank 0; else they are the ranks of one
};

struct KvServed {
  KvRules rules;
  std::string events;  // a port or tcp://HOST:PORT, of the first replica
  std::string replay;  // the same; empty: none is sent again
  std::string topic;   // may hold %replica
};

/// @param given  {events, replay?, topic, seed, block_tokens, form}
KvServed kv_served(const Json& given, bool replicas_are_engines);

}  // namespace rooflua::emulate
