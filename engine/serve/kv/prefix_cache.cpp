#include "serve/kv/prefix_cache.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "serve/kv/block_hashes.h"

namespace rooflua {

namespace {

constexpr std::int32_t first_asked_blocks = 512;

}  // namespace

PrefixCache::Chain& PrefixCache::chain(std::int32_t slot) const {
  const auto key = static_cast<std::uint64_t>(slot);
  if (const std::int32_t place = chain_of_.find(key); place >= 0)
    return chains_[static_cast<std::size_t>(place)];
  auto place = static_cast<std::int32_t>(chains_.size());
  if (spare_chains_.empty()) {
    chains_.emplace_back();
  } else {
    place = spare_chains_.back();
    spare_chains_.pop_back();
  }
  chain_of_.set(key, place);
  return chains_[static_cast<std::size_t>(place)];
}

// --- hits

/// Leading blocks within `tokens` tokens that can be cached here.
std::int32_t PrefixCache::askable_blocks(const Request& request, const Progress& progress,
                                         std::int32_t tokens) const {
  const std::int32_t whole = tokens / block_size_;
  return request.preemptions > 0 ? whole : std::min(whole, public_blocks(progress, block_size_));
}

std::uint64_t PrefixCache::first_hash(const Request& request, const Progress& progress,
                                      std::int32_t tokens) const {
  if (askable_blocks(request, progress, tokens) <= 0) return 0;
  return block_hashes(request, progress, block_size_, 1).front();
}

PrefixCache::Hit PrefixCache::peek(const Request& request, const Progress& progress,
                                   std::int32_t tokens) const {
  const std::int32_t most = askable_blocks(request, progress, tokens);
  if (most <= 0) return {};
  // Hashes cost more than the search: those far after a hit are not needed for it.
  std::span<const std::uint64_t> known;
  std::int32_t asked = 0;
  Hit hit;
  do {
    asked = asked < most / 4 ? std::max(4 * asked, std::min(most, first_asked_blocks)) : most;
    known = block_hashes(request, progress, block_size_, asked);
    known = known.first(static_cast<std::size_t>(asked));
    hit = hit_of(known);
  } while (hit.blocks == asked && asked < most);
  return keeps_states_ ? with_state(hit, known) : hit;
}

/// The longest beginning of these blocks that is cached.
PrefixCache::Hit PrefixCache::hit_of(std::span<const std::uint64_t> known) const {
  Hit hit;
  blocks_.match(known, [&](std::int32_t extent, std::int32_t blocks) {
    hit.last_is_free = blocks_.extent(extent).references == 0;
    hit.blocks += blocks;
    if (hit.last_is_free) hit.free += blocks;
  });
  return hit;
}

PrefixCache::Hit PrefixCache::lookup(std::int32_t slot, const Request& request,
                                     const Progress& progress, std::int32_t tokens) const {
  Chain& own = chain(slot);
  if (own.version == version_ && own.hit_tokens == tokens) return own.hit;
  own.version = version_;
  own.hit_tokens = tokens;
  own.hit = peek(request, progress, tokens);
  if (parts_) own.hit.part = part_after(own.hit, request, progress, tokens);
  return own.hit;
}

// --- blocks are taken

void PrefixCache::seat(std::int32_t slot, const Request& request, const Progress& progress,
                       std::int32_t hit_blocks, std::int32_t fresh) {
  Chain& own = chain(slot);
  ROOFLUA_ASSERT(own.blocks == 0);
  own.state_at = hit_blocks;
  if (hit_blocks > 0) {
    const std::span<const std::uint64_t> known(
        block_hashes(request, progress, block_size_, hit_blocks));
    blocks_.match(known.first(static_cast<std::size_t>(hit_blocks)),
                  [&](std::int32_t extent, std::int32_t blocks) {
                    blocks_.cut(extent, blocks);
                    blocks_.hold(extent);
                    own.holds.push_back({extent, blocks});
                    own.blocks += blocks;
                  });
    ROOFLUA_ASSERT(own.blocks == hit_blocks);
    own.remembered = hit_blocks;
    ++version_;
    // A write reads blocks, and no state.
    if (state_blocks_ > 0 && fresh > 0) use_state(known[static_cast<std::size_t>(hit_blocks) - 1]);
  }
  grow(slot, fresh);
}

void PrefixCache::grow(std::int32_t slot, std::int32_t more) {
  chain(slot).blocks += more;
  pop(more);
}

void PrefixCache::take(std::int32_t more) {
  loose_ += more;
  pop(more);
}

/// Free blocks have a holder now.
void PrefixCache::pop(std::int32_t blocks) {
  if (!blocks_.pop(blocks, tells_lost_ ? &lost_ : nullptr)) return;
  ++version_;
  forget_parts();
}

/// The request holds so many blocks, some of which were counted with those of decodes.
void PrefixCache::own_loose(Chain& own, std::int32_t blocks) {
  if (own.blocks >= blocks) return;
  loose_ -= blocks - own.blocks;
  own.blocks = blocks;
  ROOFLUA_ASSERT(loose_ >= 0);
}

// --- content

bool PrefixCache::shares_output(const Request& request, const Progress& progress) const {
  const std::int64_t open = public_tokens(progress);
  if (state_blocks_ > 0) return true;
  if (parts_ && open > request.prompt_tokens / block_size_ * block_size_) return true;
  return open / block_size_ * block_size_ > request.prompt_tokens;
}

void PrefixCache::remember(std::int32_t slot, const Request& request, const Progress& progress,
                           std::int32_t full, std::int32_t free) {
  if (keeps_states_ && full > 0) keep_state(slot, request, progress, full, free);
  const std::int64_t tokens = std::int64_t{full} * block_size_;
  if (keeps_private_) return index_tokens(slot, request, progress, tokens);
  if (!progress.segments.empty())
    index_tokens(slot, request, progress, std::min(tokens, public_tokens(progress)));
}

/// The last hold is one extent. False: there is none.
bool PrefixCache::settle_last(Chain& own) {
  if (own.holds.empty()) return false;
  while (true) {
    Hold& last = own.holds.back();
    const BlockExtents::Extent& extent = blocks_.extent(last.extent);
    const std::int32_t more = last.blocks - extent.blocks();
    if (more == 0) return true;
    last.blocks -= more;
    own.holds.push_back({extent.deeper, more});
  }
}

void PrefixCache::index_blocks(std::int32_t slot, const Request& request, const Progress& progress,
                               std::int32_t full) {
  Chain& own = chain(slot);
  if (own.remembered >= full) return;
  own_loose(own, full);
  const std::span<const std::uint64_t> known(block_hashes(request, progress, block_size_, full));
  const auto from = static_cast<std::size_t>(own.remembered);
  add_content(own, known.subspan(from, static_cast<std::size_t>(full) - from));
  if (parts_) note_parts(request, progress, static_cast<std::int32_t>(from), full);
}

/// The blocks after those that carry content carry this one.
void PrefixCache::add_content(Chain& own, std::span<const std::uint64_t> hashes) {
  const std::int32_t last = settle_last(own) ? own.holds.back().extent : -1;
  blocks_.add(last, hashes, [&](std::int32_t extent, std::int32_t blocks) {
    if (own.holds.empty() || own.holds.back().extent != extent) own.holds.push_back({extent, 0});
    own.holds.back().blocks += blocks;
  });
  own.remembered += static_cast<std::int32_t>(hashes.size());
  ++version_;
}

// --- blocks are given back

/// Those with content, the deepest first: from block `full` on they lose it, where no other
/// holds them. @returns how many became free
std::int32_t PrefixCache::release_content(Chain& own, std::int32_t full) {
  std::int32_t freed = 0, end = own.remembered;
  while (settle_last(own)) {
    const auto [extent, blocks] = own.holds.back();
    if (const std::int32_t start = end - blocks; start < full && full < end) {
      blocks_.cut(extent, full - start);
      continue;
    }
    if (blocks_.let_go(extent)) {
      freed += blocks;
      end > full ? blocks_.drop(extent) : blocks_.give_back(extent);
    }
    end -= blocks;
    own.holds.pop_back();
  }
  return freed;
}

std::int32_t PrefixCache::release(std::int32_t slot, const Request& request,
                                  const Progress& progress, std::int32_t held, std::int32_t full,
                                  bool returns, std::int32_t rest, std::int32_t free) {
  Chain& own = chain(slot);
  own_loose(own, held);
  ROOFLUA_ASSERT(own.blocks == held);
  // Others may have hit what the plan at hand gives back.
  if (!parts_ || (own.remembered > full && !blank_from(own, full))) rest = 0;
  const std::int64_t whole = std::int64_t{full} * block_size_;
  if (!returns) remember(slot, request, progress, full, free);
  if (returns) {
    index_tokens(slot, request, progress, whole + rest);
  } else if (rest > 0) {
    const std::int64_t open = keeps_private_ ? whole + rest : public_tokens(progress);
    if (open > whole) index_tokens(slot, request, progress, std::min(open, whole + rest));
  }
  // Blocks without content that a request will ask for go to the tail as those with it do, if they
  // are full, or are kept in part.
  const std::int32_t kept = full + (rest > 0 ? 1 : 0);
  const std::int32_t worthless = held - std::max(kept, own.remembered);
  const std::int32_t blank = held - own.remembered;
  blocks_.push_blank_head(worthless);
  blocks_.push_blank_tail(blank - worthless);
  const std::int32_t freed = blank + release_content(own, kept);
  own.blocks = own.remembered = own.rest = own.state_at = 0;
  ++version_;
  forget_parts();
  return freed;
}

std::int32_t PrefixCache::pin(std::int32_t name, const Request& request, const Progress& progress,
                              std::int32_t blocks) {
  std::int32_t hit_blocks = 0, free = 0;
  const std::span<const std::uint64_t> known(block_hashes(request, progress, block_size_, blocks));
  blocks_.match(known.first(static_cast<std::size_t>(blocks)),
                [&](std::int32_t extent, std::int32_t some) {
                  if (blocks_.extent(extent).references == 0) free += some;
                  hit_blocks += some;
                });
  seat(name, request, progress, hit_blocks, 0);
  return free;
}

std::int32_t PrefixCache::unpin(std::int32_t name) {
  Chain& own = chain(name);
  const std::int32_t freed = release_content(own, own.remembered);
  own.blocks = own.remembered = own.rest = 0;
  ++version_;
  forget(name);
  return freed;
}

void PrefixCache::lose_content(std::int32_t blocks) {
  blocks_.pop(blocks, nullptr);
  blocks_.push_blank_head(blocks);
  forget_parts();
  states_ = HashMap();
  ++version_;
}

void PrefixCache::forget(std::int32_t slot) {
  const auto key = static_cast<std::uint64_t>(slot);
  const std::int32_t place = chain_of_.find(key);
  if (place < 0) return;
  chain_of_.erase(key);
  Chain& own = chains_[static_cast<std::size_t>(place)];
  ROOFLUA_ASSERT(own.blocks == 0);
  own.version = -1;
  own.hit_tokens = -1;
  spare_chains_.push_back(place);
}

}  // namespace rooflua
