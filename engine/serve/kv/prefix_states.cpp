// Recurrent states in the prefix cache: where they are kept, and the blocks that they take.
//
// A state that takes blocks is content of its own beside that of the blocks in front of it. It gets
// blocks from the head of the free queue and goes to its tail at once: the request goes on with
// another copy. Where too few blocks are free it is not kept. A hit puts it to the tail again.

#include <algorithm>

#include "serve/kv/block_hashes.h"
#include "serve/kv/prefix_cache.h"

namespace rooflua {

/// Names of the blocks of the state after this block.
std::span<const std::uint64_t> PrefixCache::state_hashes(std::uint64_t block) const {
  constexpr std::uint64_t state = 0x57A7E;
  state_hashes_.clear();
  for (std::int32_t i = 0; i < state_blocks_; ++i)
    state_hashes_.push_back(hash_after(block, {state, i + 1}));
  return state_hashes_;
}

bool PrefixCache::has_state(std::uint64_t block) const {
  if (state_blocks_ == 0) return states_.find(block) >= 0;
  std::int32_t found = 0;
  blocks_.match(state_hashes(block), [&](std::int32_t, std::int32_t some) { found += some; });
  return found == state_blocks_;
}

/// The part of a hit up to the last state that was kept.
PrefixCache::Hit PrefixCache::with_state(Hit hit, std::span<const std::uint64_t> known) const {
  const std::int32_t growing = std::max(0, hit.blocks - (drops_last_ ? 1 : 0));
  auto blocks = static_cast<std::size_t>(growing);
  while (blocks > 0 && !has_state(known[blocks - 1])) --blocks;
  if (static_cast<std::int32_t>(blocks) < hit.blocks) hit = hit_of(known.first(blocks));
  hit.growing = growing;
  return hit;
}

/// The state after the first `full` blocks of a sequence.
void PrefixCache::keep_state(std::int32_t slot, const Request& request, const Progress& progress,
                             std::int32_t full, std::int32_t free) {
  const auto last = static_cast<std::size_t>(full) - 1;
  if (state_blocks_ == 0) {
    // One after private tokens is of no use to other requests.
    if (full <= public_blocks(progress, block_size_) || keeps_private_)
      states_.set(block_hashes(request, progress, block_size_, full)[last], 0);
    return;
  }
  Chain& own = chain(slot);
  if (full <= own.state_at) return;
  own.state_at = full;
  if (free < state_blocks_) return;
  const std::uint64_t block = block_hashes(request, progress, block_size_, full)[last];
  pop(state_blocks_);
  std::vector<std::int32_t> extents;
  blocks_.add_apart(state_hashes(block), [&](std::int32_t extent, std::int32_t) {
    if (extents.empty() || extents.back() != extent) extents.push_back(extent);
  });
  for (auto each = extents.rbegin(); each != extents.rend(); ++each) {
    blocks_.let_go(*each);
    blocks_.give_back(*each);
  }
  ++version_;
}

/// A hit ends at the state after this block.
void PrefixCache::use_state(std::uint64_t block) {
  std::vector<std::int32_t> extents;
  blocks_.match(state_hashes(block),
                [&](std::int32_t extent, std::int32_t) { extents.push_back(extent); });
  for (const std::int32_t each : extents) blocks_.hold(each);
  for (auto each = extents.rbegin(); each != extents.rend(); ++each) {
    blocks_.let_go(*each);
    blocks_.give_back(*each);
  }
}

}  // namespace rooflua
