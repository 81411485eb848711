#pragma once
// Tables of all-reduces: latency over bytes, by ranks and by mode (graph, eager, the library's).
// Named by the declaration of its op.

#include <vector>

#include "cost/lookup/keyed.h"
#include "cost/lookup/row_index.h"

namespace rooflua {

class AllReduceIndex final : public RowIndex {
 public:
  explicit AllReduceIndex(const std::vector<const KernelTable*>& tables);
  bool empty() const override { return index_.empty(); }
  double gap(const Query& query) const override;
  /// Beyond the last bytes of a mode the library's rows answer. Of another number of ranks the
  /// donor is read at as many bytes per link: a ring moves 2 (ranks - 1) / ranks over each.
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const override;

 private:
  /// The rows of the nearest number of ranks, of the same mode if there are some.
  const KeyedIndex::Entry& nearest(const Query& query) const;
  KeyedIndex index_;
};

}  // namespace rooflua
