#pragma once
// The answer to a question (cost/ops/query.h) to the kernel tables.

#include <cstdint>
#include <limits>

#include "cost/ops/query.h"
#include "cost/price/evidence.h"
#include "cost/price/roofline.h"

namespace rooflua {

/// The answer. `latency_s` > 0 (NaN only where a lookup answers with a constant MFU and no peak is
/// known). What it rests on in words: MfuDatabase::describe.
struct Estimate {
  double latency_s = 0;
  double mfu = std::numeric_limits<double>::quiet_NaN();  // NaN: the op has none
  double distance = 0;  // 0 = a measured point; else how far from the nearest row used, in
                        // doublings summed over the axes
  Evidence evidence = Evidence::assumed;
  std::int32_t rows = 0;           // how many rows it rests on
  std::int32_t selected_row = -1;  // 0-based data row of a policy that picks one; -1 = a default
  // Filled in by MfuDatabase: the work behind it, by the convention of the op's tables, and what
  // bounds that work on this GPU.
  double flop = 0, bytes = 0;
  Bound bound = Bound::compute;
  // Only from the InferSim policies. linear_attention: what the reference returns, to the last bit.
  double latency_us = std::numeric_limits<double>::quiet_NaN();
  // grouped_gemm: mfu is the larger of the two
  double mfu_up = std::numeric_limits<double>::quiet_NaN();
  double mfu_down = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace rooflua
