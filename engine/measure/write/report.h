#pragma once
// What people read: a run on one screen, variants side by side, the difference of
// two results. Human units begin here.

#include <string>
#include <string_view>
#include <vector>

#include "measure/write/result.h"

namespace rooflua {

/// One run. With several replicas or named classes, a table of each.
std::string report(const Summary& summary);

/// All variants of a scenario: the report of one, or a row for each.
std::string report(const Result& result);

/// One row per variant: throughput, p50 and p99 of TTFT and TPOT, mean E2E, goodput, what failed.
/// Columns of one metric share a unit.
std::string comparison(const std::vector<Variant>& variants);

/// What differs between two results, worst first, and a last line that counts.
std::string report(const Comparison& comparison, double tolerance);

}  // namespace rooflua
