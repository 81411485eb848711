#pragma once
// Tables of all-reduces: latency over bytes, by ranks and by mode (graph, eager, the library's).
// Private to the grid lookups.

#include <vector>

#include "cost/lookup/keyed.h"

namespace rooflua {

class AllReduceIndex {
 public:
  explicit AllReduceIndex(const std::vector<const KernelTable*>& tables);
  bool empty() const { return index_.empty(); }
  /// Beyond the last bytes of a mode the library's rows answer. Of another number of ranks the
  /// donor is read at as many bytes per link: a ring moves 2 (ranks - 1) / ranks over each.
  Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const;

 private:
  KeyedIndex index_;
};

}  // namespace rooflua
