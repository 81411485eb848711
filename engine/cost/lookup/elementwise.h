#pragma once
// Tables of elementwise kernels: latency over tokens, by kernel and width. Private to the grid
// lookups.

#include <vector>

#include "cost/lookup/keyed.h"

namespace rooflua {

class ElementwiseIndex {
 public:
  explicit ElementwiseIndex(const std::vector<const KernelTable*>& tables);
  bool empty() const { return index_.empty(); }
  /// Rows of the kernel asked for (of any, if it has none) at the width nearest to it, where they
  /// move as many bytes: the time of such a kernel beside its traffic does not grow with its width.
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const;

 private:
  KeyedIndex index_;
};

}  // namespace rooflua
