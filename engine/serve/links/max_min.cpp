#include "serve/links/max_min.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"

namespace rooflua {

/// The rate at which the next ones stop: at their own limit, or else at a wire that is full.
double MaxMin::next_level(std::span<const Share> shares, bool& of_wire) const {
  double level = std::numeric_limits<double>::infinity();
  for (const std::int32_t i : rising_)
    level = std::min(level, shares[static_cast<std::size_t>(i)].most);
  of_wire = false;
  for (const std::int32_t wire : wires_) {
    const auto w = static_cast<std::size_t>(wire);
    if (open_[w] == 0) continue;
    const double fair = left_[w] / open_[w];
    if (fair >= level) continue;
    level = fair;
    of_wire = true;
  }
  return level;
}

bool MaxMin::stops_at(const Share& share, double level, bool of_wire) const {
  if (!of_wire) return share.most <= level;
  return std::any_of(share.path.begin(), share.path.end(), [&](std::int32_t wire) {
    const auto w = static_cast<std::size_t>(wire);
    return left_[w] / open_[w] <= level;
  });
}

void MaxMin::find(std::span<Share> shares, std::span<const double> capacity) {
  wires_.clear();
  rising_.clear();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    rising_.push_back(static_cast<std::int32_t>(i));
    for (const std::int32_t wire : shares[i].path) {
      const auto w = static_cast<std::size_t>(wire);
      if (open_[w]++ > 0) continue;
      wires_.push_back(wire);
      left_[w] = capacity[w];
    }
  }
  while (!rising_.empty()) {
    bool of_wire = false;
    const double level = next_level(shares, of_wire);
    ROOFLUA_ASSERT(level < std::numeric_limits<double>::infinity());
    still_rising_.clear();
    stopping_.clear();
    for (const std::int32_t i : rising_) {
      const bool stops = stops_at(shares[static_cast<std::size_t>(i)], level, of_wire);
      (stops ? stopping_ : still_rising_).push_back(i);
    }
    for (const std::int32_t i : stopping_) {
      Share& share = shares[static_cast<std::size_t>(i)];
      share.rate = level;
      for (const std::int32_t wire : share.path) {
        const auto w = static_cast<std::size_t>(wire);
        left_[w] -= level;
        --open_[w];
      }
    }
    rising_.swap(still_rising_);
  }
}

}  // namespace rooflua
