#pragma once
// The paged KV cache of one replica: how many blocks are free, who holds how many, and which free
// blocks still carry content that a request could hit.
//
// Free blocks form one queue. Blocks are taken from its head, which forgets their content. Freed
// blocks without content go to the head (reused first), those with content to the tail, deepest
// block of the request first. That is LRU by the time of the release.   @source SERVING A1.5: vLLM
//
// Only full blocks carry content; a hit is the longest cached prefix, whole blocks only, at most
// num_tokens - 1 tokens. Of several blocks with the same content the one that got it first is hit.
//
// Three indices, same answers where they apply:
//   none     prefix caching off: three counters
//   own      no two requests share tokens: a request hits only what it left behind when it was
//            preempted; runs of blocks in the queue (extents), O(1) per operation
//   shared   real blocks with chained 64-bit hashes (PrefixCache)

#include <cstdint>
#include <memory>
#include <vector>

#include "serve/prefix_cache.h"
#include "serve/request.h"

namespace rooflua {

enum class PrefixIndex : std::int32_t { none, own, shared };

/// Blocks needed for so many tokens.
constexpr std::int32_t blocks_for(std::int64_t tokens, std::int32_t block_size) {
  return static_cast<std::int32_t>((tokens + block_size - 1) / block_size);
}

class KvCache {
 public:
  KvCache(std::int32_t total_blocks, std::int32_t block_size, PrefixIndex index);

  std::int32_t total_blocks() const { return total_; }
  std::int32_t free_blocks() const { return free_; }
  std::int32_t used_blocks() const { return total_ - free_; }
  PrefixIndex index() const { return index_; }

  /// Cached prefix of a waiting request: `blocks` of it, `free` of them in the free queue (taking
  /// these consumes free blocks too).
  struct Hit {
    std::int32_t blocks = 0;
    std::int32_t free = 0;
  };
  Hit lookup(std::int32_t slot, const Request& request, const Progress& progress) const;

  /// Takes the hit blocks and `fresh` new ones for a request that is being seated.
  void seat(std::int32_t slot, Hit hit, std::int32_t fresh);
  /// `more` blocks for a seated request. @pre more <= free_blocks()
  void grow(std::int32_t slot, std::int32_t more);
  /// `more` blocks for decoding requests together; who gets which block makes no difference.
  void take(std::int32_t more);
  /// Whether others may ask for what the request generates: then each block counts as soon as its
  /// last token is known and scheduled.
  bool shares_output(const Request& request, const Progress& progress) const;
  /// The first `full` blocks of the request carry content from now on (as soon as scheduled).
  void remember(std::int32_t slot, const Request& request, const Progress& progress,
                std::int32_t full);
  /// Gives back all `held` blocks, of which the first `full` carry content. `returns`: the
  /// request will be back (preempted).
  void release(std::int32_t slot, const Request& request, const Progress& progress,
               std::int32_t held, std::int32_t full, bool returns);
  /// The request in this slot is gone for good; what it left in the queue stays as dead content.
  void forget(std::int32_t slot);

 private:
  struct Extent {  // blocks [low, high) of one request's sequence, next to each other in the queue
    std::int32_t owner = -1;  // slot; -1 = nobody will ask for it
    std::int32_t low = 0, high = 0;
    std::int32_t next = -1, previous = -1;  // in the queue
    std::int32_t next_own = -1;             // of the same owner, in order of release
  };
  std::int32_t new_extent();
  void pop(std::int32_t count);
  void append(std::int32_t owner, std::int32_t blocks);
  void unlink(std::int32_t extent);
  void remove_own(std::int32_t extent);
  void touch(std::int32_t slot, std::int32_t blocks);
  void cut(std::int32_t extent, std::int32_t low, std::int32_t high);
  std::int32_t first_own(std::int32_t slot) const;

  std::int32_t total_, block_size_, free_;
  PrefixIndex index_;
  // own
  std::int32_t blank_;  // free blocks without content, all at the head of the queue
  std::int32_t head_ = -1, tail_ = -1;
  std::vector<Extent> extents_;
  std::vector<std::int32_t> spare_extents_;
  std::vector<std::int32_t> own_;  // per slot: its first extent
  // shared
  PrefixCache prefixes_;
};

}  // namespace rooflua
