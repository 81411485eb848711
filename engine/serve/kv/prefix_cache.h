#pragma once
// Real blocks for workloads that share prefixes: which of them each request holds, and which
// prefixes it could hit. Chained hashes say what blocks contain (block_hashes.h);
// where they are, by extents of them (block_extents.h).
//
// Content that only one request can ask for (private tokens, and every token after them) is indexed
// when that request is preempted. When it ends, such blocks only keep their place in the queue.
// Where blocks are written to stores it is indexed as all other content is, so that pin() finds it.
//
// Blocks differ only by their content and their place in the queue. So blocks without content are
// counted: those that decoding requests take together, and are given to single requests only when
// they get content or are released.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "serve/contract/request.h"
#include "serve/kv/block_extents.h"
#include "serve/kv/partial_blocks.h"

namespace rooflua {

class PrefixCache {
 public:
  PrefixCache() = default;
  PrefixCache(std::int32_t total_blocks, std::int32_t block_size)
      : block_size_(block_size), blocks_(total_blocks) {}

  /// From now on `holders` knows which first blocks this replica has. @pre no block has content, or
  /// `holders` is a copy of the index that knew them
  void tell(PrefixHolders* holders, std::int32_t replica) { blocks_.tell(holders, replica); }

  /// A hit is of use only where recurrent states were kept: after the last block of a prompt's
  /// chunk, or of a request. From now on hits end there.
  /// @param drops_last    a hit loses its last block, and ends at a state in front of that
  /// @param state_blocks  free blocks that a state takes: it is content like that of other blocks,
  ///                      and so is the state of each block that an answer fills. 0: states are
  ///                      kept elsewhere, and for ever
  /// @source vLLM v1/core/single_type_kv_cache_manager.py (MambaManager); SGLang
  /// srt/mem_cache/mamba_radix_cache.py
  void keep_states(bool drops_last, std::int32_t state_blocks) {
    keeps_states_ = true;
    drops_last_ = drops_last;
    state_blocks_ = state_blocks;
  }

  /// From now on hits end inside of blocks: the tokens that the block after the hit has in common
  /// with a cached one are hit as well, and copied into a block of the request's own. The last
  /// block of a request, which is not full, is cached, too.
  void hit_parts() {
    parts_.emplace();
    blocks_.keep_forgotten();
  }

  void prefetch(std::uint64_t hash, BlockExtents::Part part) const { blocks_.prefetch(hash, part); }

  struct Hit {
    std::int32_t blocks = 0;
    std::int32_t free = 0;
    bool last_is_free = false;  // the last of them is in the free queue
    std::int32_t part = 0;      // tokens after them, in a block that is copied
    std::int32_t growing = 0;   // blocks that are cached, be there a state or not
  };
  /// The first block's hash of a request's sequence; 0: no other request can have cached it, or the
  /// sequence ends with this block.
  std::uint64_t first_hash(const Request& request, const Progress& progress,
                           std::int32_t tokens) const;
  /// The hash of the first full block within `tokens` tokens that is not cached, and not among the
  /// first `known` ones; 0: there is none, or no other request can ask for it.
  std::uint64_t first_missing(std::int32_t slot, const Request& request, const Progress& progress,
                              std::int32_t tokens, std::int32_t known) const;
  /// Longest cached prefix within `tokens` tokens. The answer is remembered until forget().
  Hit lookup(std::int32_t slot, const Request& request, const Progress& progress,
             std::int32_t tokens) const;
  /// The same in whole blocks, not remembered: for requests that may never come to this replica.
  Hit peek(const Request& request, const Progress& progress, std::int32_t tokens) const;
  void seat(std::int32_t slot, const Request& request, const Progress& progress,
            std::int32_t hit_blocks, std::int32_t fresh);
  void grow(std::int32_t slot, std::int32_t more);
  void take(std::int32_t more);
  /// Whether content that leaves is kept for take_lost().
  void tell_lost(bool tells) { tells_lost_ = tells; }
  /// Content that left since the last call (BlockExtents::pop).
  LostRuns take_lost() { return std::exchange(lost_, {}); }
  /// Private content too is found from now on, for pin().
  void keep_private() { keeps_private_ = true; }
  bool shares_output(const Request& request, const Progress& progress) const;
  /// @param free  blocks in the free queue, of which a state that is kept takes some
  void remember(std::int32_t slot, const Request& request, const Progress& progress,
                std::int32_t full, std::int32_t free);
  std::int32_t remembered(std::int32_t slot) const { return chain(slot).remembered; }
  /// @param rest  tokens in the block after the first `full` ones that are content; read where
  ///              parts of blocks are hit
  /// @pre blocks after these got their content from the plan at hand, or have none
  /// @param free  as in remember()
  /// @returns how many blocks became free
  std::int32_t release(std::int32_t slot, const Request& request, const Progress& progress,
                       std::int32_t held, std::int32_t full, bool returns, std::int32_t rest,
                       std::int32_t free);
  void forget(std::int32_t slot);
  /// Holds the cached ones of the first `blocks` blocks of a sequence, under a name that is no
  /// slot. @returns how many of them were free
  std::int32_t pin(std::int32_t name, const Request& request, const Progress& progress,
                   std::int32_t blocks);
  /// @returns how many blocks became free
  std::int32_t unpin(std::int32_t name);
  /// All blocks lose their content. @pre all are free
  void lose_content(std::int32_t blocks);

 private:
  /// So many blocks of an extent and of what was cut off after it since.
  struct Hold {
    std::int32_t extent = -1;
    std::int32_t blocks = 0;
  };
  struct Chain {                  // of a request that is or was here
    std::vector<Hold> holds;      // its blocks with content, from the left
    std::int32_t remembered = 0;  // how many these are
    std::int32_t state_at = 0;    // blocks in front of the last state that was kept or hit
    std::int32_t rest = 0;        // tokens of the last of them, if it is cached in part; else 0
    std::int32_t blocks = 0;      // held in all; without those of decodes, which are in loose_
    std::int64_t version = -1;    // of the index, for which `hit` holds
    std::int32_t hit_tokens = -1;
    Hit hit;
  };
  Chain& chain(std::int32_t slot) const;
  void own_loose(Chain& own, std::int32_t blocks);
  void pop(std::int32_t blocks);
  void index_blocks(std::int32_t slot, const Request& request, const Progress& progress,
                    std::int32_t full);
  void index_tokens(std::int32_t slot, const Request& request, const Progress& progress,
                    std::int64_t tokens);
  void index_rest(std::int32_t slot, const Request& request, const Progress& progress,
                  std::int32_t rest);
  void note_parts(const Request& request, const Progress& progress, std::int32_t from,
                  std::int32_t to);
  void forget_parts();
  bool blank_from(Chain& own, std::int32_t full);
  std::int32_t part_after(const Hit& hit, const Request& request, const Progress& progress,
                          std::int32_t tokens) const;
  void add_content(Chain& own, std::span<const std::uint64_t> hashes);
  Hit hit_of(std::span<const std::uint64_t> known) const;
  Hit with_state(Hit hit, std::span<const std::uint64_t> known) const;
  std::span<const std::uint64_t> state_hashes(std::uint64_t block) const;
  bool has_state(std::uint64_t block) const;
  void keep_state(std::int32_t slot, const Request& request, const Progress& progress,
                  std::int32_t full, std::int32_t free);
  void use_state(std::uint64_t block);
  std::int32_t askable_blocks(const Request& request, const Progress& progress,
                              std::int32_t tokens) const;
  bool settle_last(Chain& own);
  std::int32_t release_content(Chain& own, std::int32_t full);

  std::int32_t block_size_ = 16;
  bool keeps_private_ = false, tells_lost_ = false;
  LostRuns lost_;
  std::int64_t version_ = 0;
  BlockExtents blocks_;
  std::int32_t loose_ = 0;
  mutable std::vector<Chain> chains_;
  mutable std::vector<std::int32_t> spare_chains_;
  mutable HashMap chain_of_;            // by slot
  std::optional<PartialBlocks> parts_;  // where parts of blocks are hit
  mutable std::vector<BlockRun> runs_;
  bool keeps_states_ = false, drops_last_ = false;
  std::int32_t state_blocks_ = 0;
  mutable std::vector<std::uint64_t> state_hashes_;
  HashMap states_;  // hashes of blocks after which a state was kept; where it takes no blocks
};

}  // namespace rooflua
