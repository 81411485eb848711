#pragma once
// What replicas report of their caches, on its way to a router: blocks that got content, and blocks
// that lost it. One event is a run of blocks of one replica.
// @source vLLM v1/core/block_pool.py: BlockStored and BlockRemoved, without an answer; an event
// that is lost is not sent again

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "serve/contract/clock.h"

namespace rooflua {

class KvEvents {
 public:
  struct Event {
    Picoseconds time = 0;  // when it happened
    std::int32_t replica = -1;
    bool kept = false;  // else lost
    std::vector<std::uint64_t> hashes;
  };

  KvEvents() = default;
  /// @param loss  the share of events that never arrive, by a stream of this seed
  KvEvents(double loss, std::uint64_t seed);

  /// Whose time events have. To be called again after a copy.
  void read(const Picoseconds* clock) { clock_ = clock; }
  void tell(std::int32_t replica, bool kept, std::span<const std::uint64_t> hashes);
  /// Events that have not been taken, as they happened.
  std::deque<Event>& pending() { return pending_; }

 private:
  const Picoseconds* clock_ = nullptr;
  double loss_ = 0;
  std::uint64_t key_ = 0, told_ = 0;
  std::deque<Event> pending_;
};

}  // namespace rooflua
