#pragma once
// What the InferSim policies find once for all questions of one shape: the file, and its rows in an
// order in which they are found fast. Private to those policies.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cost/lookup/infersim_series.h"
#include "cost/lookup/lookup.h"

namespace rooflua::infersim {

/// The reference's // and int(): counts are whole, other numbers are cut.
inline int count(double value) {
  return static_cast<int>(value);
}
inline std::int64_t whole(double value) {
  return static_cast<std::int64_t>(value);
}
inline double floored(double value) {
  return static_cast<double>(whole(value));
}
inline int ranks_of(const Query& query) {
  return std::max(1, count(query.tp));
}

/// The reference drops the first line even where it is a row.
inline int first_row(const KernelTable& table) {
  return table.header ? 0 : 1;
}
inline int rows(const KernelTable& table) {
  return static_cast<int>(table.rows.size()) - first_row(table);
}
inline const KernelRow& at_row(const KernelTable& table, int row) {
  return table.rows[static_cast<std::size_t>(row + first_row(table))];
}

/// The reference's tables know two formats of KV caches.
inline Dtype kv_of(const Query& query) {
  return query.kv_dtype == Dtype::fp8 ? Dtype::fp8 : Dtype::bf16;
}

struct Plan {
  const KernelTable* table = nullptr;
  double otherwise = std::numeric_limits<double>::quiet_NaN();  // where no row fits
  double peak_flop_per_s = 0;
  bool exact_shape = true;
  bool has_rows = false;  // of the KV dtype, where it counts
  LastUpTo last_up_to;
  BeforeFirstLarger before, before_context;
  Nearest nearest;
  NearestOfTwo nearest_of_two;
  std::vector<double> rounded;  // MFU of each row, as the reference returns it
};

/// Makes plans. The context must outlive it.
class Planner {
 public:
  explicit Planner(const LookupContext& context);

  /// What the reference answers where it has no row; NaN where it knows no such GPU.
  double default_mfu() const { return default_mfu_; }

  /// Rows of the one (K, N) that is nearest among those that hold this GEMM.
  Plan gemm(const Query& query) const;
  Plan prefill(const Query& query) const;
  Plan decode(const Query& query) const;
  Plan grouped(const Query& query) const;
  /// @throws LookupError if there is no table of the shape
  Plan linear(const Query& query) const;

 private:
  const KernelTable* file(const std::string& folder, const std::string& file_name) const;
  Plan over(const Query& query, const KernelTable* table) const;

  const LookupContext& context_;
  double default_mfu_;
};

}  // namespace rooflua::infersim
