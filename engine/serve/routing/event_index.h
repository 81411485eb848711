#pragma once
// Which blocks of prompts replicas are believed to have, by their events, and by what was sent to
// them a short while ago.
//
//     confirmed     by an event that the block is kept, until one that it is lost: lag_s late
//     speculative   by a prompt that was sent to the replica, for speculative_s: its events come
//                   later. A second prompt does not prolong what a first one began.
//
// A block has most_holders entries at most, of both kinds together. So a block that more replicas
// have loses some of them, and with them what follows it: a prefix is held from its first block on.
//
// @source llm-d-kv-cache pkg/kvcache/kvblock/in_memory.go (podCacheSize: an LRU of entries for each
// block, renewed by additions alone), kvblock_scorer.go; llm-d-router 0.9
// dataproducer/preciseprefixcache/prerequest.go (speculativeTTL)

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "serve/contract/clock.h"
#include "serve/contract/policy.h"
#include "serve/routing/kv_events.h"
#include "serve/routing/routed_index.h"

namespace rooflua {

class EventIndex {
 public:
  /// @param rules  lag_s, loss, seed, most_holders, speculative_s and capacity_blocks count here
  EventIndex(const RouterIndex& rules, std::size_t replicas);

  /// What caches report.
  KvEvents& events() { return events_; }
  bool speculates() const { return speculative_ > 0; }
  /// A prompt with these blocks goes to the replica. @pre speculates(), and `now` was heard
  void speculate(std::int32_t replica, std::span<const std::uint64_t> hashes, Picoseconds now);
  /// All that has come until now, in the order of time.
  void hear(Picoseconds now);

  /// How many leading blocks of a prompt each replica has. @returns the replicas that have any, in
  /// increasing order. Valid until the next call
  std::span<const std::int32_t> match(std::span<const std::uint64_t> hashes, Picoseconds now) {
    return index_.match(hashes, now);
  }
  /// What the last match() found.
  std::int32_t matched(std::int32_t replica) const { return index_.matched(replica); }

 private:
  struct Speculation {
    Picoseconds end = 0;
    std::int32_t replica = -1;
    std::vector<std::uint64_t> hashes;
  };
  void apply(const KvEvents::Event& event);

  KvEvents events_;
  RoutedIndex index_;
  Picoseconds lag_, speculative_;
  std::deque<Speculation> speculations_;  // by their end
};

}  // namespace rooflua
