#pragma once
// Tables of elementwise kernels: latency over tokens, by kernel and width. Private to the grid
// lookups.

#include <vector>

#include "cost/lookup/keyed.h"
#include "cost/lookup/row_index.h"

namespace rooflua {

class ElementwiseIndex final : public RowIndex {
 public:
  explicit ElementwiseIndex(const std::vector<const KernelTable*>& tables);
  bool empty() const override { return index_.empty(); }
  /// Infinite where only rows of quantisations could stand for another kernel, or the other way
  /// round.
  double gap(const Query& query) const override;
  /// Rows of the kernel asked for (of any, if it has none) at the width nearest to it, where they
  /// move as many bytes: the time of such a kernel beside its traffic does not grow with its width.
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const override;

 private:
  struct Donor {
    const KeyedIndex::Entry* entry = nullptr;
    double distance = 0;
  };
  Donor nearest(const Query& query) const;
  KeyedIndex index_;
};

}  // namespace rooflua
