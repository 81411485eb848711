#pragma once
// Which rows of a table are near a shape, for lookups that blend them.

#include <vector>

#include "cost/tables/kernel_table.h"

namespace rooflua {

struct NearRow {
  int row = 0;  // in KernelTable::rows
  /// Doublings between the shapes, Euclidean over the axes that are numbers:
  /// sqrt( sum of ( log(wanted / measured) / log 2 )^2 ). A value below 0.5 counts as 0.5, so that
  /// no context and a context of one token are one doubling apart.
  double distance = 0;
};

/// The logarithms of all rows are kept, so that a question costs two additions and a multiplication
/// for each axis of each row.
class NearRows {
 public:
  /// @param table  must outlive the index
  explicit NearRows(const KernelTable& table);

  /// At most `count` rows with a latency, nearest first, ties in file order. Rows of another format
  /// of the KV cache, where the op has one, and of another word than the query's are left out.
  std::vector<NearRow> near(const Query& query, std::size_t count) const;

 private:
  bool fits(const Query& query, std::size_t row) const;
  double distance(const std::vector<double>& wanted, std::size_t row) const;

  const KernelTable& table_;
  bool has_kv_dtype_ = false;
  std::vector<const Field*> axes_;  // that are numbers of a question; of a shared axis the first
  std::vector<const Field*> words_;
  std::vector<std::size_t> axis_places_, word_places_;
  std::vector<std::vector<double>> doublings_;  // by axis, then by row
};

}  // namespace rooflua
