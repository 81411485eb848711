#pragma once
// Real blocks for workloads that share prefixes: reference counts, chained 64-bit hashes, and the
// free queue of kv_cache.h as a linked list of blocks.
//
//     hash(block j) = H(hash(block j-1), the (content, offset) runs of its tokens)
//
// Content that only one request can ask for (private tokens, and every token after them) is indexed
// when that request is preempted. When it ends, such blocks only keep their place in the queue.
//
// Blocks differ only by their content and their place in the queue. So blocks that decoding
// requests take are counted together, and are given to single requests only when they get content
// or are released.

#include <cstdint>
#include <vector>

#include "serve/request.h"
#include "serve/routing/prefix_holders.h"

namespace rooflua {

/// hash -> block that got this content first; open addressing. Grows with its entries.
class BlockMap {
 public:
  BlockMap();
  std::int32_t find(std::uint64_t hash) const;  // -1: none
  void set(std::uint64_t hash, std::int32_t block);
  void erase(std::uint64_t hash);
  /// Brings the entry into the processor's cache.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&entries_[place(hash)]); }

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::int32_t block = -1;  // -1: empty
  };
  std::size_t place(std::uint64_t hash) const { return (hash * 0x9E3779B97F4A7C15ull) >> shift_; }
  void resize(std::size_t size);
  std::vector<Entry> entries_;
  std::size_t count_ = 0;
  int shift_ = 0;
};

class PrefixCache {
 public:
  PrefixCache() = default;
  PrefixCache(std::int32_t total_blocks, std::int32_t block_size);

  /// From now on `holders` knows which first blocks this replica has. @pre no block has content, or
  /// `holders` is a copy of the index that knew them
  void tell(PrefixHolders* holders, std::int32_t replica) {
    holders_ = holders;
    replica_ = replica;
  }

  struct Hit {
    std::int32_t blocks = 0;
    std::int32_t free = 0;
    bool last_is_free = false;  // the last of them is in the free queue
  };
  /// The first block's hash of a request's sequence; 0: no other request can have cached it, or the
  /// sequence ends with this block.
  std::uint64_t first_hash(const Request& request, const Progress& progress,
                           std::int32_t tokens) const;
  /// Longest cached prefix within `tokens` tokens. The answer is remembered until forget().
  Hit lookup(std::int32_t slot, const Request& request, const Progress& progress,
             std::int32_t tokens) const;
  /// The same, not remembered: for requests that may never come to this replica.
  Hit peek(const Request& request, const Progress& progress, std::int32_t tokens) const;
  void seat(std::int32_t slot, const Request& request, const Progress& progress,
            std::int32_t hit_blocks, std::int32_t fresh);
  void grow(std::int32_t slot, std::int32_t more);
  void take(std::int32_t more);
  bool shares_output(const Request& request, const Progress& progress) const;
  void remember(std::int32_t slot, const Request& request, const Progress& progress,
                std::int32_t full);
  /// @returns how many blocks became free
  std::int32_t release(std::int32_t slot, const Request& request, const Progress& progress,
                       std::int32_t held, std::int32_t full, bool returns);
  void forget(std::int32_t slot);

 private:
  struct Block {
    std::uint64_t hash = 0;          // 0 = no content; 1 = content that no request will ask for
    std::uint32_t is_first : 1 = 0;  // of a sequence
    std::uint32_t references : 31 = 0;
    std::int32_t next = -1, previous = -1;  // in the free queue
    std::int32_t twin = -1;                 // the next block with the same content
  };
  struct Chain {                       // of a request that is or was here
    std::vector<std::int32_t> blocks;  // held, from the left; those of decodes are in loose_
    std::int32_t remembered = 0;       // the first so many of `blocks` carry content
    std::int64_t version = -1;         // of the index, for which `hit` holds
    std::int32_t hit_tokens = -1;
    Hit hit;
  };
  Chain& chain(std::int32_t slot) const;
  void index_blocks(std::int32_t slot, const Request& request, const Progress& progress,
                    std::int32_t full);
  std::int32_t public_blocks(const Progress& progress) const;
  std::int32_t askable_blocks(const Request& request, const Progress& progress,
                              std::int32_t tokens) const;
  const std::vector<std::uint64_t>& hashes(const Request& request, const Progress& progress,
                                           std::int32_t blocks) const;
  std::int32_t next_of(std::int32_t block) const {
    return blocks_[static_cast<std::size_t>(block)].next;
  }
  std::int32_t pop();
  void add_next_block(std::int32_t untouched);
  void push_head(std::int32_t block);
  void push_tail(std::int32_t block);
  void leave_queue(std::int32_t block);
  void add_content(std::int32_t block, std::uint64_t hash, bool is_first);
  void drop_content(std::int32_t block);

  std::int32_t block_size_ = 16;
  std::int32_t total_blocks_ = 0;
  std::int32_t head_ = -1, tail_ = -1;
  std::int64_t version_ = 0;
  PrefixHolders* holders_ = nullptr;  // null: no router asks
  std::int32_t replica_ = 0;          // what the holders call this one
  // Blocks that were never taken stand next to each other in the queue. The first of them is the
  // last of `blocks_`; the others do not exist yet.
  std::vector<Block> blocks_;
  std::vector<std::int32_t> loose_;
  mutable std::vector<Chain> chains_;
  mutable std::vector<std::int32_t> spare_chains_;
  mutable std::vector<std::int32_t> chain_of_;  // by slot; -1: none
  BlockMap index_;
};

}  // namespace rooflua
