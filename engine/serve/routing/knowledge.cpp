#include "serve/routing/knowledge.h"

#include <algorithm>
#include <utility>

#include "serve/kv/block_hashes.h"

namespace rooflua {

namespace {

std::vector<std::int32_t> each_once(std::vector<std::int32_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace

RouterKnowledge::RouterKnowledge(const RouterIndex& rules, std::vector<std::int32_t> block_sizes)
    : rules_(rules),
      block_sizes_(std::move(block_sizes)),
      sizes_(each_once(block_sizes_)),
      index_(rules, block_sizes_.size()),
      told_index_(rules, block_sizes_.size()),
      told_(block_sizes_.size(), 0) {
  if (rules.in_flight) in_flight_.emplace(block_sizes_.size());
}

PromptBlocks RouterKnowledge::blocks_of(const Request& request, const Progress& progress) const {
  const std::int32_t size = rules_.block_tokens;
  const std::int32_t whole = std::min(request.prompt_tokens, rules_.most_tokens) / size;
  const std::int32_t shared = std::min(whole, public_blocks(progress, size));
  if (shared <= 0) return {{}, whole};
  const std::span<const std::uint64_t> known(block_hashes(request, progress, size, shared));
  return {known.first(static_cast<std::size_t>(shared)), whole - shared};
}

// --- questions

void RouterKnowledge::ask(const Request& request, const Progress& progress, Picoseconds now) {
  const bool sends = rules_.kind == RouterIndex::Kind::sent;
  if (sends || in_flight_) prompt_ = blocks_of(request, progress);
  if (hears()) return find_told(request, progress, now);
  if (!sends) return;
  const std::span<const std::int32_t> found = index_.match(prompt_.hashes, now);
  holders_.assign(found.begin(), found.end());
}

std::int32_t RouterKnowledge::sent_tokens(std::int32_t replica) const {
  return hears() ? 0 : index_.matched(replica) * rules_.block_tokens;
}

std::int32_t RouterKnowledge::told_tokens(std::int32_t replica) const {
  return told_[static_cast<std::size_t>(replica)];
}

/// As a look into the caches would find it: all but the last token of the prompt, in blocks of each
/// cache.
void RouterKnowledge::find_told(const Request& request, const Progress& progress, Picoseconds now) {
  told_index_.hear(now);
  for (const std::int32_t replica : holders_) told_[static_cast<std::size_t>(replica)] = 0;
  holders_.clear();
  for (const std::int32_t size : sizes_) {
    const std::int32_t blocks =
        std::min((request.prompt_tokens - 1) / size, public_blocks(progress, size));
    if (blocks <= 0) continue;
    const std::span<const std::uint64_t> known(block_hashes(request, progress, size, blocks));
    for (const std::int32_t replica :
         told_index_.match(known.first(static_cast<std::size_t>(blocks)), now)) {
      if (block_sizes_[static_cast<std::size_t>(replica)] != size) continue;
      told_[static_cast<std::size_t>(replica)] = told_index_.matched(replica) * size;
      holders_.push_back(replica);
    }
  }
  if (sizes_.size() > 1) std::sort(holders_.begin(), holders_.end());
}

// --- what happens to requests

void RouterKnowledge::send(const Request& request, const Progress& progress, std::int32_t slot,
                           std::int32_t replica, std::int32_t tokens, Picoseconds now) {
  if (hears() && told_index_.speculates()) speculate(request, progress, replica, now);
  const bool sends = rules_.kind == RouterIndex::Kind::sent;
  if (!sends && !in_flight_) return;
  const PromptBlocks blocks = blocks_of(request, progress);
  if (sends) index_.add(replica, blocks.hashes, blocks.others, now);
  if (in_flight_) in_flight_->send(slot, replica, blocks, tokens);
}

/// All whole blocks of the prompt, in blocks of that cache.
void RouterKnowledge::speculate(const Request& request, const Progress& progress,
                                std::int32_t replica, Picoseconds now) {
  const std::int32_t size = block_sizes_[static_cast<std::size_t>(replica)];
  const std::int32_t blocks = std::min(request.prompt_tokens / size, public_blocks(progress, size));
  if (blocks <= 0) return;
  const std::span<const std::uint64_t> known(block_hashes(request, progress, size, blocks));
  told_index_.speculate(replica, known.first(static_cast<std::size_t>(blocks)), now);
}

void RouterKnowledge::end(const Request& request, const Progress& progress, std::int32_t slot,
                          std::int32_t replica) {
  if (in_flight_) in_flight_->end(slot, replica, blocks_of(request, progress));
}

}  // namespace rooflua
