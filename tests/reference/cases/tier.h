#pragma once
// Stores outside the GPUs, as a random question states them. A token of KV is a byte.

#include <vector>

#include "serve/stores/config.h"
#include "tests/reference/plain.h"

namespace rooflua::reference {

struct StoreCase {
  int chunk_tokens = 16;
  int chunks = 1;  // for which one instance has room
  Eviction eviction = Eviction::lru;
  Ps alpha = 0;
  bool per_node = false;  // one instance for all replicas, which are in one node; else one each
};

/// One link per replica, which all stores are read and written over.
struct TierCase {
  std::vector<StoreCase> stores;  // in the order of lookup; none: there are no tiers
  bool promotes = false;          // what comes from a later store is put into the first one as well
  bool writes_back = false;       // what leaves the GPU is stored then, and nothing before
  bool last_chunk = false;        // the chunk of the last token is loaded as well
  bool outputs = false;           // answers are stored as they fill chunks
  bool shares_loads = false;      // a request waits while another one loads what it would load
  bool flushes = false;           // blocks of a preempted request are free while they are written
  Ps link_alpha = 0, link_token = 1;
  bool duplex = true;
};

}  // namespace rooflua::reference
