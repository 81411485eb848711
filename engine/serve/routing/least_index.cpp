#include "serve/routing/least_index.h"

#include <algorithm>
#include <bit>

namespace rooflua {

LeastIndex::LeastIndex(std::size_t count)
    : values_(count, 0), leaves_(std::max<std::size_t>(2, std::bit_ceil(count))) {
  winners_.assign(leaves_, -1);
  for (std::size_t node = leaves_ - 1; node > 0; --node) winners_[node] = winner_of(node);
}

/// The better one of the two places below a node.
std::int32_t LeastIndex::winner_of(std::size_t node) const {
  const auto below = [this](std::size_t child) {
    if (child < leaves_) return winners_[child];
    const std::size_t place = child - leaves_;
    return place < values_.size() ? static_cast<std::int32_t>(place) : -1;
  };
  const std::int32_t left = below(2 * node), right = below(2 * node + 1);
  if (right < 0) return left;
  return value(right) < value(left) ? right : left;
}

void LeastIndex::add(std::int32_t place, std::int32_t more) {
  values_[static_cast<std::size_t>(place)] += more;
  if (values_.size() == 1) return;
  for (std::size_t node = (leaves_ + static_cast<std::size_t>(place)) / 2; node > 0; node /= 2)
    winners_[node] = winner_of(node);
}

}  // namespace rooflua
