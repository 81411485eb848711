#pragma once
// Which replicas have the first block of a prompt cached. A router that looks for cached prefixes
// asks these alone: a replica without the first block has no prefix of the prompt.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "serve/routing/kv_events.h"

namespace rooflua {

class PrefixHolders {
 public:
  /// Replicas that have it, by index. @param hash  of the first block (kv/block_hashes.h)
  std::span<const std::int32_t> of(std::uint64_t hash) const;
  void add(std::uint64_t hash, std::int32_t replica);
  void remove(std::uint64_t hash, std::int32_t replica);

  /// Where caches report every block; null: no router listens.
  void tell(KvEvents* events) { events_ = events; }
  /// The same for a reader outside of the simulation; null: there is none.
  void publish(KvEvents* events) { published_ = events; }
  void kept(std::span<const std::uint64_t> hashes, std::int32_t replica) {
    if (events_ != nullptr) events_->tell(replica, true, hashes);
    if (published_ != nullptr) published_->tell(replica, true, hashes);
  }
  void lost(std::span<const std::uint64_t> hashes, std::int32_t replica) {
    if (events_ != nullptr) events_->tell(replica, false, hashes);
    if (published_ != nullptr) published_->tell(replica, false, hashes);
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> holders_;  // never walked
  KvEvents* events_ = nullptr;
  KvEvents* published_ = nullptr;
};

}  // namespace rooflua
