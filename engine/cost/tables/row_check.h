#pragma once
// What no measurement can say: shapes and latencies that a row of a kernel table cannot have.

#include <string>

#include "cost/tables/kernel_table.h"

namespace rooflua {

/// Shapes are whole numbers from 1 (context tokens and the width of a convolution: from 0) to
/// 2^53. Routed experts of several ranks may have fractions: the tokens of all ranks are divided
/// by the ranks.
/// @return "m -2: expected a whole number, at least 1"; empty if the shape is possible
std::string impossible_shape(const KernelTable& table, const KernelRow& row);

/// The latency of one kernel, and its p10 and p90 where they are recorded, are within 1 ns and
/// 1,000 s.
/// @return "a latency of -3 us; expected ..."; empty if the latency is possible
std::string impossible_latency(const KernelRow& row);

}  // namespace rooflua
