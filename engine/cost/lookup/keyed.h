#pragma once
// Tables whose shape is a key and whose only axis is tokens, batch or bytes. Private to the grid
// lookups.

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "cost/lookup/grid.h"

namespace rooflua {

/// Doublings between two values of a key; 0 is a small value, not none.
inline double key_gap(double a, double b) {
  return std::abs(std::log2((a + 1e-9) / (b + 1e-9)));
}

/// Series by key. Keys are compared as numbers; which key stands for one that was not measured is
/// for the index above to say.
class KeyedIndex {
 public:
  using Key = std::array<double, max_axes>;
  struct Entry {
    Key key{};
    Series series;
  };

  void add(const Key& key, const Point& point);
  /// Of two kernels for the same point the faster stays: engines choose.
  void finish();
  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const Key& key) const;

 private:
  std::vector<Entry> entries_;
  std::map<Key, std::size_t> of_;
};

}  // namespace rooflua
