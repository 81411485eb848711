#pragma once
// Every check of one table, for verify().

#include <optional>
#include <string>
#include <vector>

#include "cost/quality/finding.h"
#include "cost/tables/kernel_table.h"
#include "spec/hardware.h"

namespace rooflua {

/// Adds what is wrong with the table.
void check_table(const KernelTable& table, const std::optional<Hardware>& hardware,
                 std::vector<Finding>& findings);

/// A finding of one case.
Finding single(FindingKind kind, const KernelTable& table, std::string text);

/// "m 14 (8..32768), k 3 (1024..4096)"
std::string grid_of(const KernelTable& table);
/// "989 TFLOP/s"
std::string tflop(FlopPerSecond peak);

}  // namespace rooflua
