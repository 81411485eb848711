#pragma once
// Rows of one file of ours, from the tables that are written to it. Private to the importers.

#include <cstddef>
#include <vector>

#include "cost/tables/importers.h"

namespace rooflua {

struct MergedRow {
  const KernelTable* table;
  const KernelRow* row;
};

/// Compares the shapes of rows of one op, whose tables number words differently. The axis along
/// which rows are read comes last.
class ShapeOrder {
 public:
  explicit ShapeOrder(Op op);
  /// Below, at or above 0.
  int compare(const MergedRow& a, const MergedRow& b) const;
  /// The same without the axis.
  int compare_series(const MergedRow& a, const MergedRow& b) const;
  /// Without the axis and the number of requests.
  int compare_without_batch(const MergedRow& a, const MergedRow& b) const;
  double axis(const MergedRow& row) const { return row.row->shape[axis_]; }
  double batch(const MergedRow& row) const { return row.row->shape[batch_]; }
  bool has_batch() const { return batch_ != max_axes && batch_ != axis_; }

 private:
  struct Column {
    std::size_t place;
    bool is_word, is_kv;
  };
  int compare_column(const Column& column, const MergedRow& a, const MergedRow& b) const;
  std::vector<Column> columns_;  // the axis last
  std::size_t axis_ = 0, batch_ = max_axes;
};

/// In the order of shapes. Of several kernels that were measured for a shape the fastest stays:
/// engines choose.
std::vector<MergedRow> fastest_rows(const std::vector<const KernelTable*>& tables,
                                    const NotWritten& not_written);

/// Leaves out the rows that follow from their neighbours within `tolerance` (docs/DATA.md), and
/// those that stand alone.
void thin(std::vector<MergedRow>& rows, double tolerance, const NotWritten& not_written);

}  // namespace rooflua
