#include "serve/kv/kv_cache.h"

#include <algorithm>

#include "base/error.h"

namespace rooflua {

KvCache::KvCache(std::int32_t total_blocks, std::int32_t block_size, PrefixIndex index,
                 bool drops_last_hit, bool hits_parts)
    : total_(total_blocks),
      block_size_(block_size),
      free_(total_blocks),
      index_(index),
      drops_last_hit_(drops_last_hit),
      hits_parts_(hits_parts),
      blank_(total_blocks) {
  if (index_ != PrefixIndex::shared) return;
  prefixes_ = PrefixCache(total_blocks, block_size);
  if (hits_parts) prefixes_.hit_parts();
}

/// The blocks of a hit that are used.
KvCache::Hit KvCache::kept_of(const PrefixCache::Hit& hit) const {
  if (keeps_states_ && index_ == PrefixIndex::shared) return {hit.blocks, hit.free, 0, hit.growing};
  if (!drops_last_hit_ || hit.blocks == 0) return {hit.blocks, hit.free, hit.part};
  return {hit.blocks - 1, hit.free - (hit.last_is_free ? 1 : 0), 0};
}

KvCache::Hit KvCache::lookup(std::int32_t slot, const Request& request,
                             const Progress& progress) const {
  const std::int32_t tokens = request.prompt_tokens + request.emitted_tokens;
  if (index_ == PrefixIndex::shared) {
    return kept_of(prefixes_.lookup(slot, request, progress, tokens - 1));
  }
  if (first_own(slot) < 0) return {};
  std::int32_t covered = 0;
  for (std::int32_t e = first_own(slot); e >= 0;) {
    const Extent& extent = extents_[static_cast<std::size_t>(e)];
    if (extent.rest == 0 && extent.low <= covered && covered < extent.high) {
      covered = extent.high;
      e = first_own(slot);
    } else {
      e = extent.next_own;
    }
  }
  covered = std::min(covered, (tokens - 1) / block_size_);
  std::int32_t part = 0;
  for (std::int32_t e = first_own(slot); hits_parts_ && e >= 0;) {
    const Extent& extent = extents_[static_cast<std::size_t>(e)];
    const bool is_next = extent.low <= covered && covered < extent.high;
    if (is_next) part = std::max(part, extent.rest > 0 ? extent.rest : block_size_);
    e = extent.next_own;
  }
  part = std::min(part, tokens - 1 - covered * block_size_);
  return kept_of({covered, covered, true, part});
}

std::uint64_t KvCache::first_missing(std::int32_t slot, const Request& request,
                                     const Progress& progress, std::int32_t known) const {
  if (index_ != PrefixIndex::shared) return 0;
  return prefixes_.first_missing(slot, request, progress,
                                 request.prompt_tokens + request.emitted_tokens, known);
}

KvCache::Hit KvCache::peek(const Request& request, const Progress& progress) const {
  if (index_ != PrefixIndex::shared) return {};
  const std::int32_t tokens = request.prompt_tokens + request.emitted_tokens;
  return kept_of(prefixes_.peek(request, progress, tokens - 1));
}

std::uint64_t KvCache::first_hash(const Request& request, const Progress& progress) const {
  if (index_ != PrefixIndex::shared) return 0;
  return prefixes_.first_hash(request, progress,
                              request.prompt_tokens + request.emitted_tokens - 1);
}

void KvCache::seat(std::int32_t slot, const Request& request, const Progress& progress, Hit hit,
                   std::int32_t fresh) {
  free_ -= hit.free + fresh;
  if (index_ == PrefixIndex::shared)
    return prefixes_.seat(slot, request, progress, hit.blocks, fresh);
  if (index_ == PrefixIndex::none) return;
  if (hit.blocks > 0) touch(slot, hit.blocks);
  pop(fresh);
}

void KvCache::grow(std::int32_t slot, std::int32_t more) {
  if (more == 0) return;
  free_ -= more;
  if (index_ == PrefixIndex::shared) return prefixes_.grow(slot, more);
  if (index_ == PrefixIndex::own) pop(more);
}

void KvCache::take(std::int32_t more) {
  if (more == 0) return;
  free_ -= more;
  if (index_ == PrefixIndex::shared) return prefixes_.take(more);
  if (index_ == PrefixIndex::own) pop(more);
}

bool KvCache::shares_output(const Request& request, const Progress& progress) const {
  return index_ == PrefixIndex::shared && prefixes_.shares_output(request, progress);
}

void KvCache::remember(std::int32_t slot, const Request& request, const Progress& progress,
                       std::int32_t full) {
  if (index_ == PrefixIndex::shared) prefixes_.remember(slot, request, progress, full, free_);
}

void KvCache::release(std::int32_t slot, const Request& request, const Progress& progress,
                      std::int32_t held, std::int32_t full, bool returns, std::int32_t rest) {
  if (index_ == PrefixIndex::shared) {
    free_ += prefixes_.release(slot, request, progress, held, full, returns, rest, free_);
    return;
  }
  free_ += held;
  if (index_ == PrefixIndex::none) return;
  const std::int32_t owner = returns ? slot : -1;
  const bool in_part = hits_parts_ && rest > 0;
  blank_ += held - full - (in_part ? 1 : 0);
  if (in_part) append(owner, full, full + 1, rest);
  if (full > 0) append(owner, 0, full);
}

void KvCache::lose_content() {
  ROOFLUA_ASSERT(free_ == total_);
  if (index_ == PrefixIndex::shared) return prefixes_.lose_content(total_);
  if (index_ == PrefixIndex::none) return;
  pop(total_);
  blank_ = total_;
}

void KvCache::forget(std::int32_t slot) {
  if (index_ == PrefixIndex::shared) return prefixes_.forget(slot);
  if (first_own(slot) < 0) return;
  for (std::int32_t e = own_[static_cast<std::size_t>(slot)]; e >= 0;) {
    Extent& extent = extents_[static_cast<std::size_t>(e)];
    extent.owner = -1;
    e = extent.next_own;
    extent.next_own = -1;
  }
  own_[static_cast<std::size_t>(slot)] = -1;
}

std::int32_t KvCache::first_own(std::int32_t slot) const {
  return static_cast<std::size_t>(slot) < own_.size() ? own_[static_cast<std::size_t>(slot)] : -1;
}

std::int32_t KvCache::new_extent() {
  if (spare_extents_.empty()) {
    extents_.emplace_back();
    return static_cast<std::int32_t>(extents_.size()) - 1;
  }
  const std::int32_t e = spare_extents_.back();
  spare_extents_.pop_back();
  extents_[static_cast<std::size_t>(e)] = Extent{};
  return e;
}

/// Takes blocks from the head of the queue: blocks without content, then the deepest blocks of the
/// oldest extent.
void KvCache::pop(std::int32_t count) {
  const std::int32_t blanks = std::min(count, blank_);
  blank_ -= blanks;
  count -= blanks;
  while (count > 0) {
    ROOFLUA_ASSERT(head_ >= 0);
    Extent& extent = extents_[static_cast<std::size_t>(head_)];
    const std::int32_t taken = std::min(count, extent.high - extent.low);
    extent.high -= taken;
    count -= taken;
    if (extent.high == extent.low) unlink(head_);
  }
}

void KvCache::append(std::int32_t owner, std::int32_t low, std::int32_t high, std::int32_t rest) {
  if (owner < 0 && tail_ >= 0 && extents_[static_cast<std::size_t>(tail_)].owner < 0) {
    // Without an owner only the count matters.
    extents_[static_cast<std::size_t>(tail_)].high += high - low;
    return;
  }
  const std::int32_t e = new_extent();
  Extent& extent = extents_[static_cast<std::size_t>(e)];
  extent.owner = owner;
  extent.low = low;
  extent.high = high;
  extent.rest = rest;
  extent.previous = tail_;
  (tail_ >= 0 ? extents_[static_cast<std::size_t>(tail_)].next : head_) = e;
  tail_ = e;
  if (owner < 0) return;
  if (static_cast<std::size_t>(owner) >= own_.size())
    own_.resize(static_cast<std::size_t>(owner) + 1, -1);
  std::int32_t* last = &own_[static_cast<std::size_t>(owner)];
  while (*last >= 0) last = &extents_[static_cast<std::size_t>(*last)].next_own;
  *last = e;
}

void KvCache::unlink(std::int32_t e) {
  Extent& extent = extents_[static_cast<std::size_t>(e)];
  (extent.previous >= 0 ? extents_[static_cast<std::size_t>(extent.previous)].next : head_) =
      extent.next;
  (extent.next >= 0 ? extents_[static_cast<std::size_t>(extent.next)].previous : tail_) =
      extent.previous;
  if (extent.owner >= 0) remove_own(e);
  spare_extents_.push_back(e);
}

void KvCache::remove_own(std::int32_t e) {
  const Extent& extent = extents_[static_cast<std::size_t>(e)];
  std::int32_t* at = &own_[static_cast<std::size_t>(extent.owner)];
  while (*at != e) at = &extents_[static_cast<std::size_t>(*at)].next_own;
  *at = extent.next_own;
}

/// Takes blocks [0, blocks) of the request out of the queue: of each, the copy that was cached
/// first.
void KvCache::touch(std::int32_t slot, std::int32_t blocks) {
  for (std::int32_t low = 0; low < blocks;) {
    std::int32_t high = blocks;
    std::int32_t e = first_own(slot);
    for (; e >= 0; e = extents_[static_cast<std::size_t>(e)].next_own) {
      const Extent& extent = extents_[static_cast<std::size_t>(e)];
      if (extent.rest > 0) continue;
      if (extent.low <= low && low < extent.high) break;
      if (extent.low > low) high = std::min(high, extent.low);
    }
    ROOFLUA_ASSERT(e >= 0);
    high = std::min(high, extents_[static_cast<std::size_t>(e)].high);
    cut(e, low, high);
    low = high;
  }
}

/// Removes [low, high) from an extent. The parts that are left keep its place, the deeper first.
void KvCache::cut(std::int32_t e, std::int32_t low, std::int32_t high) {
  const Extent whole = extents_[static_cast<std::size_t>(e)];
  if (whole.low == low && whole.high == high) return unlink(e);
  if (whole.low == low) {
    extents_[static_cast<std::size_t>(e)].low = high;
    return;
  }
  if (whole.high == high) {
    extents_[static_cast<std::size_t>(e)].high = low;
    return;
  }
  const std::int32_t lower = new_extent();
  extents_[static_cast<std::size_t>(lower)] = {whole.owner, whole.low, low,
                                               whole.next,  e,         whole.next_own, 0};
  (whole.next >= 0 ? extents_[static_cast<std::size_t>(whole.next)].previous : tail_) = lower;
  Extent& upper = extents_[static_cast<std::size_t>(e)];
  upper.low = high;
  upper.next = lower;
  upper.next_own = lower;
}

}  // namespace rooflua
