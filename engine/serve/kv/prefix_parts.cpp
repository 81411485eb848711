// Hits that end inside of a block, and the first block that is not hit.

#include <algorithm>
#include <span>

#include "serve/kv/block_hashes.h"
#include "serve/kv/prefix_cache.h"

namespace rooflua {

namespace {

/// The hash in front of a block of the request's sequence, which is known.
std::uint64_t hash_before(std::int32_t block, const Request& request, const Progress& progress,
                          std::int32_t block_size) {
  if (block == 0) return root_hash(progress);
  return block_hashes(request, progress, block_size, block)[static_cast<std::size_t>(block) - 1];
}

}  // namespace

std::uint64_t PrefixCache::first_missing(std::int32_t slot, const Request& request,
                                         const Progress& progress, std::int32_t tokens,
                                         std::int32_t known_blocks) const {
  const std::int32_t whole = std::min(tokens / block_size_, public_blocks(progress, block_size_));
  if (whole == 0) return 0;
  std::int32_t cached =
      std::max(known_blocks, lookup(slot, request, progress, tokens - 1).blocks);
  if (cached >= whole) return 0;
  const std::span<const std::uint64_t> known(block_hashes(request, progress, block_size_, whole));
  if (cached == (tokens - 1) / block_size_)  // a hit leaves a token to be computed
    cached = std::max(cached, hit_of(known.first(static_cast<std::size_t>(whole))).blocks);
  return cached < whole ? known[static_cast<std::size_t>(cached)] : 0;
}

/// Tokens that the block after a hit has in common with a cached one.
std::int32_t PrefixCache::part_after(const Hit& hit, const Request& request,
                                      const Progress& progress, std::int32_t tokens) const {
  if (keeps_states_) return 0;
  const std::int64_t from = std::int64_t{hit.blocks} * block_size_;
  std::int64_t to = std::min<std::int64_t>(tokens, from + block_size_);
  if (request.preemptions == 0) to = std::min(to, public_tokens(progress));
  if (to <= from) return 0;
  block_runs(request, progress, from, to, runs_);
  return parts_->common(hash_before(hit.blocks, request, progress, block_size_), runs_);
}

/// Blocks [from, to) are cached in whole.
void PrefixCache::note_parts(const Request& request, const Progress& progress, std::int32_t from,
                             std::int32_t to) {
  const std::vector<std::uint64_t>& known = block_hashes(request, progress, block_size_, to);
  for (std::int32_t block = from; block < to; ++block) {
    const std::int64_t begin = std::int64_t{block} * block_size_;
    block_runs(request, progress, begin, begin + block_size_, runs_);
    parts_->add(known[static_cast<std::size_t>(block)],
                hash_before(block, request, progress, block_size_), runs_);
  }
}

void PrefixCache::forget_parts() {
  if (!parts_) return;
  for (const std::uint64_t hash : blocks_.take_forgotten()) parts_->erase(hash);
}

/// The first `tokens` of a sequence are content: whole blocks, and a part of the one after them
/// where parts are hit.
void PrefixCache::index_tokens(std::int32_t slot, const Request& request, const Progress& progress,
                               std::int64_t tokens) {
  Chain& own = chain(slot);
  const auto full = static_cast<std::int32_t>(tokens / block_size_);
  const auto rest = static_cast<std::int32_t>(tokens % block_size_);
  if (own.rest > 0) {  // the last of those that are known is cached in part
    if (full < own.remembered && (full + 1 < own.remembered || rest <= own.rest)) return;
    blank_from(own, own.remembered - 1);
  }
  index_blocks(slot, request, progress, full);
  if (parts_ && !tells_lost_ && rest > 0 && own.remembered == full)
    index_rest(slot, request, progress, rest);
}

/// The blocks from `full` on lose their content, and are held on. False: another request holds one
/// of them.
bool PrefixCache::blank_from(Chain& own, std::int32_t full) {
  while (own.remembered > full) {
    settle_last(own);
    const auto [extent, blocks] = own.holds.back();
    if (const std::int32_t start = own.remembered - blocks; start < full) {
      blocks_.cut(extent, full - start);
      continue;
    }
    if (blocks_.extent(extent).references > 1) return false;
    blocks_.blank(extent);
    own.holds.pop_back();
    own.remembered -= blocks;
  }
  own.rest = 0;
  forget_parts();
  return true;
}

void PrefixCache::index_rest(std::int32_t slot, const Request& request, const Progress& progress,
                             std::int32_t rest) {
  Chain& own = chain(slot);
  const std::int32_t block = own.remembered;
  own_loose(own, block + 1);
  const std::int64_t from = std::int64_t{block} * block_size_;
  block_runs(request, progress, from, from + rest, runs_);
  const std::uint64_t parent = hash_before(block, request, progress, block_size_);
  std::uint64_t hash = parent;
  for (const BlockRun& run : runs_) hash = hash_after(hash, run);
  add_content(own, std::span(&hash, 1));
  parts_->add(hash, parent, runs_);
  own.rest = rest;
}

}  // namespace rooflua
