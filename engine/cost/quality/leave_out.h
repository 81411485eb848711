#pragma once
// How well a lookup predicts rows that were taken away: what an answer between rows is worth.

#include <optional>
#include <string>
#include <vector>

#include "cost/lookup/lenders.h"
#include "cost/lookup/user_lookup.h"
#include "cost/price/estimate.h"
#include "cost/tables/kernel_table.h"
#include "spec/hardware.h"

namespace rooflua {

/// What is taken away before a row is asked for: that row; or with it all rows of its shape (of a
/// GEMM its k and n, of attention its heads and KV dtype, of experts all but the tokens), so that
/// others must stand in for it.
enum class Leave { row, shape };

/// A row and what the others say of it.
struct LeftOut {
  int row = 0;  // in KernelTable::rows
  double measured_s = 0, predicted_s = 0;
  double distance = 0;  // Estimate::distance: doublings to the nearest row that is left
  Evidence evidence = Evidence::assumed;

  /// Signed: predicted / measured - 1.
  double error() const { return predicted_s / measured_s - 1; }
};

/// At most `most_rows` of a table's questions (cost/quality/questions.h), spread evenly over it.
/// Rows with a twin are passed over: the twin would answer. Where a question is about two rows,
/// both are taken away.
/// @param lookup   a named strategy, or the name of `own`
/// @param lenders  whose rows count as those of another engine than the first one
/// @param own      a lookup that is written elsewhere; makes a new one, because a lookup may
///                 remember the tables that it has seen. Empty for a named strategy
/// @throws Error for a lookup of another name
std::vector<LeftOut> leave_out(const KernelTable& table, const std::string& lookup,
                               const std::optional<Hardware>& hardware, Leave leave, int most_rows,
                               const Lenders& lenders = {},
                               const std::function<UserLookup()>& own = {});

/// The same as one figure each.
struct LeaveOneOut {
  std::string table;
  int rows = 0;     // predicted
  double mape = 0;  // mean |predicted / measured - 1| of latency
  double median = 0;
  double mape_inside = 0;  // of rows whose prediction was interpolated
  int rows_inside = 0;
};
LeaveOneOut summary(const KernelTable& table, const std::vector<LeftOut>& rows);

}  // namespace rooflua
