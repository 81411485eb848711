#pragma once
// The smallest of many counts that change one at a time: a tournament of pairs. A change costs
// O(log count), the question O(1).

#include <cstdint>
#include <vector>

namespace rooflua {

class LeastIndex {
 public:
  /// All counts are 0.
  explicit LeastIndex(std::size_t count = 0);
  std::int32_t value(std::int32_t place) const { return values_[static_cast<std::size_t>(place)]; }
  void add(std::int32_t place, std::int32_t more);
  /// The place of the smallest count, the first of equal ones. @pre there is one
  std::int32_t least() const { return winners_[1]; }

 private:
  std::int32_t winner_of(std::size_t node) const;

  std::vector<std::int32_t> values_;
  std::vector<std::int32_t> winners_;  // of inner nodes from 1; -1: no place below
  std::size_t leaves_ = 1;             // a power of two
};

}  // namespace rooflua
