#pragma once
// One row of a table that records median, p10 and p90: what about it cannot be, or is doubtful.
// Private to verify.

#include <optional>
#include <string>

#include "cost/quality/finding.h"
#include "cost/tables/kernel_table.h"
#include "spec/hardware.h"

namespace rooflua {

struct RowDoubt {
  std::optional<FindingKind> kind;  // nothing: the row is fine
  std::string text;                 // the figures
};

/// The first that applies: a shape or a latency that cannot be, p10 <= median <= p90 broken, faster
/// than the peak (grouped GEMM; other ops are judged with their MFU), faster than the memory, a
/// wide spread. Of rows without p10 and p90 only the shape and the latency are checked.
/// @param hardware  null: nothing to compare with
RowDoubt doubt_of(const KernelTable& table, const KernelRow& row, const Hardware* hardware);

}  // namespace rooflua
