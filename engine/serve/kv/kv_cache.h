#pragma once
// The paged KV cache of one replica: how many blocks are free, how many each request holds, and
// which free blocks still carry content that a request could hit.
//
// Free blocks form one queue. A block that is taken from its head loses its content. Freed blocks
// without content go to the head (reused first). Those with content go to the tail, the deepest
// block of the request first. That is LRU by the time of the release.   @source SERVING A1.5: vLLM
//
// Only full blocks carry content. A hit is the longest cached prefix in whole blocks, at most
// num_tokens - 1 tokens. Of several blocks with the same content the first to get it is hit.
//
// Three indices give the same answers where each applies:
//   none     prefix caching is off: three counters
//   own      no two requests share tokens: a request hits only blocks that it released when it was
//            preempted; kept as runs of blocks in the queue (extents), O(1) per operation
//   shared   real blocks with chained 64-bit hashes (PrefixCache)

#include <cstdint>
#include <memory>
#include <vector>

#include "serve/contract/request.h"
#include "serve/kv/prefix_cache.h"

namespace rooflua {

enum class PrefixIndex : std::int32_t { none, own, shared };

/// Blocks needed for so many tokens.
constexpr std::int32_t blocks_for(std::int64_t tokens, std::int32_t block_size) {
  return static_cast<std::int32_t>((tokens + block_size - 1) / block_size);
}

class KvCache {
 public:
  /// @param drops_last_hit  a hit loses its last block (a drafter needs the states of that block)
  /// @param hits_parts      PrefixCache::hit_parts
  KvCache(std::int32_t total_blocks, std::int32_t block_size, PrefixIndex index,
          bool drops_last_hit = false, bool hits_parts = false);

  std::int32_t total_blocks() const { return total_; }
  std::int32_t free_blocks() const { return free_; }
  std::int32_t used_blocks() const { return total_ - free_; }

  /// Brings the counters into the processor's cache.
  void prefetch() const {
    __builtin_prefetch(this);
    __builtin_prefetch(&own_);
  }

  /// The same for what a hit of a prompt reads (BlockExtents::prefetch).
  void prefetch(std::uint64_t first_hash, BlockExtents::Part part) const {
    prefixes_.prefetch(first_hash, part);
  }

  /// Cached prefix of a waiting request: `blocks` of it, `free` of them in the free queue (taking
  /// these consumes free blocks too).
  struct Hit {
    std::int32_t blocks = 0;
    std::int32_t free = 0;
    std::int32_t part = 0;  // tokens after them, that are copied into a block of its own
    std::int32_t growing = 0;  // blocks of the layers that grow, be there a state or not
    std::int32_t tokens(std::int32_t block_size) const { return blocks * block_size + part; }
  };
  Hit lookup(std::int32_t slot, const Request& request, const Progress& progress) const;
  /// The same for a request that has not been at this replica. Leaves nothing to forget().
  Hit peek(const Request& request, const Progress& progress) const;

  /// PrefixCache::first_missing of the whole sequence; 0 where requests share nothing.
  std::uint64_t first_missing(std::int32_t slot, const Request& request, const Progress& progress,
                              std::int32_t known) const;

  /// For routers that look for cached prefixes; nothing but PrefixIndex::shared needs them.
  void tell(PrefixHolders* holders, std::int32_t replica) { prefixes_.tell(holders, replica); }
  /// PrefixCache::keep_states; nothing but PrefixIndex::shared needs it.
  void keep_states(std::int32_t state_blocks) {
    keeps_states_ = true;
    prefixes_.keep_states(drops_last_hit_, state_blocks);
  }
  /// PrefixCache::first_hash; 0 where requests share nothing.
  std::uint64_t first_hash(const Request& request, const Progress& progress) const;

  /// Takes the hit blocks and `fresh` new ones for a request that is being seated.
  void seat(std::int32_t slot, const Request& request, const Progress& progress, Hit hit,
            std::int32_t fresh);
  /// `more` blocks for a seated request. @pre more <= free_blocks()
  void grow(std::int32_t slot, std::int32_t more);
  /// `more` blocks for decoding requests together; it makes no difference which request gets which.
  void take(std::int32_t more);
  /// Whether others may ask for what the request generates. Then each of its blocks carries content
  /// as soon as the block's last token is known and scheduled.
  bool shares_output(const Request& request, const Progress& progress) const;
  /// The first `full` blocks of the request carry content from now on, when they are scheduled.
  void remember(std::int32_t slot, const Request& request, const Progress& progress,
                std::int32_t full);
  /// Blocks that the request holds and that carry content which others may ask for.
  std::int32_t remembered(std::int32_t slot) const {
    return index_ == PrefixIndex::shared ? prefixes_.remembered(slot) : 0;
  }
  /// Gives back all `held` blocks, of which the first `full` carry content, and the one after them
  /// `rest` tokens of it. `returns`: the request was preempted and will ask for them again.
  void release(std::int32_t slot, const Request& request, const Progress& progress,
               std::int32_t held, std::int32_t full, bool returns, std::int32_t rest = 0);
  /// All content is lost. @pre no block is in use
  void lose_content();
  /// The request in this slot is over: no request will hit its blocks, which keep their place in
  /// the queue.
  void forget(std::int32_t slot);
  /// Blocks with content that something else than a request needs: those of the first `blocks` of
  /// a sequence that are cached. `name`: of the pin. @pre PrefixIndex::shared
  void pin(std::int32_t name, const Request& request, const Progress& progress,
           std::int32_t blocks) {
    free_ -= prefixes_.pin(name, request, progress, blocks);
  }
  void keep_private() { prefixes_.keep_private(); }
  /// PrefixCache::tell_lost. @pre PrefixIndex::shared
  void tell_lost(bool tells) { prefixes_.tell_lost(tells); }
  LostRuns take_lost() { return prefixes_.take_lost(); }
  void unpin(std::int32_t name) { free_ += prefixes_.unpin(name); }

 private:
  struct Extent {  // blocks [low, high) of one request's sequence, next to each other in the queue
    std::int32_t owner = -1;  // slot; -1 = no request will ask for it
    std::int32_t low = 0, high = 0;
    std::int32_t next = -1, previous = -1;  // in the queue
    std::int32_t next_own = -1;             // of the same owner, in order of release
    std::int32_t rest = 0;  // > 0: it is one block, of which so many tokens are content
  };
  Hit kept_of(const PrefixCache::Hit& hit) const;
  std::int32_t new_extent();
  void pop(std::int32_t count);
  void append(std::int32_t owner, std::int32_t low, std::int32_t high, std::int32_t rest = 0);
  void unlink(std::int32_t extent);
  void remove_own(std::int32_t extent);
  void touch(std::int32_t slot, std::int32_t blocks);
  void cut(std::int32_t extent, std::int32_t low, std::int32_t high);
  std::int32_t first_own(std::int32_t slot) const;

  std::int32_t total_, block_size_, free_;
  PrefixIndex index_;
  bool drops_last_hit_, hits_parts_, keeps_states_ = false;
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
