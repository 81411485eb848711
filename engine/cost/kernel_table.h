#pragma once
// One measured table: shapes and latencies, with where they stand and how MFU follows from them.

#include <array>
#include <string>
#include <vector>

#include "base/units.h"
#include "cost/estimate.h"

namespace rooflua {

/// How a table's MFU column counts work.
enum class FlopConvention { gemm_2mkn, attention_full, attention_causal_half, none };

struct KernelRow {
  int line = 0;                    // in the file
  std::array<double, 8> shape{};   // in the order of KernelTable::axes
  double latency_s = 0;
  double latency_s_p10 = 0, latency_s_p90 = 0;  // 0 = not recorded
  double listed_mfu = 0;           // as printed in the file; NaN = no such column
  double mfu = 0;                  // derived; NaN = the op has none
};

struct KernelTable {
  std::string name;                  // "gemm_bf16", "mha/decode/h20/32-8-128.csv"
  std::string path;
  Op op = Op::gemm;
  Dtype dtype = Dtype::bf16;         // of the kernel that was timed
  std::vector<std::string> axes;     // names of the shape columns
  FlopConvention convention = FlopConvention::none;
  FlopPerSecond denominator;         // the peak the listed MFU was divided by; 0 = unknown
  bool header = true;                // false: the file starts with a data row
  std::vector<KernelRow> rows;       // file order
};

}  // namespace rooflua
