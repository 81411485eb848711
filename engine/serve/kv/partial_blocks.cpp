#include "serve/kv/partial_blocks.h"

#include <algorithm>
#include <utility>

namespace rooflua {

namespace {

/// A place for one more: a spare one, or at the end.
template <class Item>
std::int32_t place_for(std::vector<Item>& items, std::vector<std::int32_t>& spare, Item item) {
  if (spare.empty()) {
    items.push_back(item);
    return static_cast<std::int32_t>(items.size()) - 1;
  }
  const std::int32_t place = spare.back();
  spare.pop_back();
  items[static_cast<std::size_t>(place)] = item;
  return place;
}

std::uint64_t node_of(std::uint64_t before, const BlockRun& run) {
  return hash_after(before, {run.begin, 0});
}

}  // namespace

void PartialBlocks::count(std::uint64_t node, std::int32_t tokens) {
  const std::int32_t first = nodes_.find(node);
  for (std::int32_t at = first; at >= 0; at = lengths_[static_cast<std::size_t>(at)].next) {
    Length& length = lengths_[static_cast<std::size_t>(at)];
    if (length.tokens == tokens) return void(++length.blocks);
  }
  nodes_.set(node, place_for(lengths_, spare_lengths_, {tokens, 1, first}));
}

void PartialBlocks::discount(const Part& part) {
  std::int32_t before = -1, at = nodes_.find(part.node);
  while (lengths_[static_cast<std::size_t>(at)].tokens != part.tokens)
    before = std::exchange(at, lengths_[static_cast<std::size_t>(at)].next);
  const Length& length = lengths_[static_cast<std::size_t>(at)];
  if (--lengths_[static_cast<std::size_t>(at)].blocks > 0) return;
  if (before >= 0) {
    lengths_[static_cast<std::size_t>(before)].next = length.next;
  } else if (length.next >= 0) {
    nodes_.set(part.node, length.next);
  } else {
    nodes_.erase(part.node);
  }
  spare_lengths_.push_back(at);
}

void PartialBlocks::add(std::uint64_t hash, std::uint64_t parent,
                        const std::vector<BlockRun>& runs) {
  if (blocks_.find(hash) >= 0) return;
  std::int32_t first = -1;
  std::uint64_t before = parent;
  for (const BlockRun& run : runs) {
    const std::uint64_t at = node_of(before, run);
    count(at, run.tokens);
    first = place_for(parts_, spare_parts_, {at, run.tokens, first});
    before = hash_after(before, run);
  }
  blocks_.set(hash, first);
}

void PartialBlocks::erase(std::uint64_t hash) {
  std::int32_t at = blocks_.find(hash);
  if (at < 0) return;
  blocks_.erase(hash);
  while (at >= 0) {
    const Part part = parts_[static_cast<std::size_t>(at)];
    discount(part);
    spare_parts_.push_back(at);
    at = part.next;
  }
}

std::int32_t PartialBlocks::common(std::uint64_t parent, const std::vector<BlockRun>& runs) const {
  std::int32_t tokens = 0;
  std::uint64_t before = parent;
  for (const BlockRun& run : runs) {
    std::int32_t most = 0;
    bool goes_on = false;
    for (std::int32_t at = nodes_.find(node_of(before, run)); at >= 0;) {
      const Length& length = lengths_[static_cast<std::size_t>(at)];
      most = std::max(most, std::min(length.tokens, run.tokens));
      goes_on = goes_on || length.tokens == run.tokens;
      at = length.next;
    }
    tokens += most;
    if (!goes_on) return tokens;
    before = hash_after(before, run);
  }
  return tokens;
}

}  // namespace rooflua
