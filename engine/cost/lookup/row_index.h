#pragma once
// What the indexes over measured rows have in common. Private to the grid lookups.

#include <memory>
#include <type_traits>
#include <vector>

#include "cost/lookup/grid.h"

namespace rooflua {

/// Rows of one kernel (one op, number format and engine), arranged so that questions find theirs.
class RowIndex {
 public:
  virtual ~RowIndex() = default;
  virtual bool empty() const = 0;
  /// How far the rows that answer are from the shape asked for, in doublings, whatever the place on
  /// their axes. 0: this very shape was measured, or the grid surrounds it.
  virtual double gap(const Query& query) const = 0;
  virtual Reading at(const Query& query, Strategy strategy, RowsUsed* trace) const = 0;
};

/// What a declaration names as the index of its op.
template <class Index>
std::unique_ptr<RowIndex> index_over(Op op, const std::vector<const KernelTable*>& tables) {
  if constexpr (std::is_constructible_v<Index, Op, const std::vector<const KernelTable*>&>) {
    return std::make_unique<Index>(op, tables);
  } else {
    return std::make_unique<Index>(tables);
  }
}

/// The index that the op's declaration names. @param tables  of one op; they must outlive the index
std::unique_ptr<RowIndex> row_index(Op op, const std::vector<const KernelTable*>& tables);

}  // namespace rooflua
