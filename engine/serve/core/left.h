#pragma once
// What is left of a request that was aborted (loop/request.cpp).

#include <cstdint>

namespace rooflua {

/// A request that was told done and still has a seat, or blocks for KV that is on its way.
struct Left {
  std::int32_t slot = -1;
  std::int32_t replica = -1;        // of the seat; -1: its KV is on its way
  std::int32_t unknown_tokens = 0;  // of its context, as ReplicaState::evict()
};

}  // namespace rooflua
