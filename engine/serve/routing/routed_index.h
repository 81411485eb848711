#pragma once
// Which blocks of prompts each of several replicas is believed to have: of each replica the blocks
// that were added last, as many as the capacity allows. It stands for the index of a router, not
// for a cache: what a replica has evicted stays here until it is forgotten, and what was not added
// is not here.
//
// Blocks are chained hashes (kv/block_hashes.h). Blocks that no other prompt can have take room and
// have no hash. Where a block has a limit of holders, one more holder ends the one that was added
// the longest ago.
//
// @source llm-d-inference-scheduler approximateprefix/indexer.go: an LRU of hashes per server, and
// for each hash the servers that have it

#include <cstdint>
#include <span>
#include <vector>

#include "serve/contract/clock.h"
#include "serve/contract/policy.h"
#include "serve/kv/hash_map.h"

namespace rooflua {

class RoutedIndex {
 public:
  /// @param rules  capacity_blocks >= 1, ttl_s, deepest_first and most_holders count here
  /// @param kinds  1; or 2, where a replica may have a block for two reasons at a time. The
  ///   replica is then second() for the other one
  RoutedIndex(const RouterIndex& rules, std::size_t replicas, std::int32_t kinds = 1);
  /// What stands for a replica in add(), remove() and blocks() for the second reason.
  std::int32_t second(std::int32_t replica) const { return replica + replicas_; }

  /// A prompt goes to a replica: its blocks with a hash, and so many after them without one.
  void add(std::int32_t replica, std::span<const std::uint64_t> hashes, std::int32_t others,
           Picoseconds now);
  /// The replica has these no longer. Those that are not here are left out.
  void remove(std::int32_t replica, std::span<const std::uint64_t> hashes);
  /// The replica has nothing any more.
  void lose(std::int32_t replica);

  /// How many leading blocks of a prompt each replica has. @returns the replicas that have any, in
  /// increasing order. Valid until the next call
  std::span<const std::int32_t> match(std::span<const std::uint64_t> hashes, Picoseconds now);
  /// What the last match() found.
  std::int32_t matched(std::int32_t replica) const {
    return matched_[static_cast<std::size_t>(replica)];
  }
  /// Different blocks that are remembered of any replica.
  std::size_t remembered() const { return blocks_.size() - spare_blocks_.size(); }
  /// Blocks of a replica that are remembered.
  std::int64_t blocks(std::int32_t replica) const {
    return lists_[static_cast<std::size_t>(replica)].blocks;
  }

 private:
  struct Entry {                            // of one replica, in the order of their last use
    std::int32_t block = -1;                // -1: blocks without a hash
    std::int32_t replica = -1, blocks = 0;  // how many
    std::int32_t next = -1, previous = -1;
  };
  struct Holder {
    std::int32_t replica = -1, entry = -1;
    Picoseconds used = 0;
    std::uint64_t order = 0;  // of its last use among those of all holders
  };
  struct Block {
    std::uint64_t hash = 0;
    std::vector<Holder> holders;  // by replica
  };
  struct List {
    std::int32_t first = -1, last = -1;  // of entries: used the longest ago, and last
    std::int64_t blocks = 0;
  };

  Entry& entry(std::int32_t i) { return entries_[static_cast<std::size_t>(i)]; }
  Block& block(std::int32_t i) { return blocks_[static_cast<std::size_t>(i)]; }
  List& list(std::int32_t replica) { return lists_[static_cast<std::size_t>(replica)]; }
  bool holds(const Holder& holder, Picoseconds now) const {
    return ttl_ == 0 || now - holder.used < ttl_;
  }
  void use(std::int32_t replica, std::uint64_t hash, Picoseconds now);
  void add_others(std::int32_t replica, std::int32_t blocks);
  std::int32_t append(std::int32_t replica, std::int32_t block, std::int32_t blocks);
  void link(std::int32_t id);
  void unlink(std::int32_t id);
  void drop(std::int32_t id);
  void shrink(std::int32_t replica);
  void limit_holders(std::int32_t block);
  Holder* find_holder(std::int32_t block, std::int32_t replica);

  std::int32_t replicas_;
  std::int64_t capacity_;
  Picoseconds ttl_;
  bool deepest_first_;
  std::size_t most_holders_;  // of a block; 0: all
  std::uint64_t uses_ = 0;
  HashMap index_;  // places in blocks_
  std::vector<Block> blocks_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> spare_blocks_, spare_entries_;
  std::vector<List> lists_;  // by replica
  // the last question
  std::vector<std::int32_t> matched_;  // by replica
  std::vector<std::int32_t> holders_;
};

}  // namespace rooflua
