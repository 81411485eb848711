#pragma once
// One measured table: shapes and latencies, with where they stand and how MFU follows from them.
//
// Latency is the measurement. MFU = flop / (latency * peak) is derived, and only means something
// together with how flop were counted and which peak divides.
//
// The shape columns of an op, per rank, are the fields of its declaration that tables have
// (cost/ops/declaration.h). A column of words holds the index into KernelTable::labels.

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "cost/ops/declaration.h"
#include "spec/hardware.h"

namespace rooflua {

struct KernelRow {
  int line = 0;                          // in the file
  Dtype kv_dtype = Dtype::bf16;          // of the KV cache, where the op has one
  std::array<double, max_axes> shape{};  // in the order of KernelTable::axes
  double latency_s = 0;
  double latency_s_p10 = 0, latency_s_p90 = 0;                   // 0 = not recorded
  double listed_mfu = std::numeric_limits<double>::quiet_NaN();  // as printed; NaN = no such column
};

struct KernelTable {
  std::string name;  // "gemm_bf16", "mha/decode/h20/32-8-128.csv"
  std::filesystem::path path;
  std::string source;  // how it was measured, from tables.toml; "" = not said
  Op op = Op::gemm;
  Dtype dtype = Dtype::bf16;  // of the kernel that was timed
  std::string variant;        // how rows are read: "single" GEMMs, the library's ("nccl")
  /// What ran the kernel, as the name of the file ends: an engine ("vllm", "sglang", "trtllm"), a
  /// library ("nccl") or the project that published it. Empty: measured here.
  std::string engine;
  std::vector<std::string> engines;  // further engines that run the same kernel
  /// What a row holds besides its op, so that a step model does not add it again: "quantize" (the
  /// input of a GEMM), "kv_write" (of new tokens in prefill), "launch", "routing", ...
  std::vector<std::string> includes;
  /// Whether lookups use the rows. The rows of other tables are there to be read and compared.
  bool answers = true;
  bool published = false;         // its reader is PublishedTables (published.h)
  std::vector<std::string> axes;  // names of the shape columns
  FlopConvention convention = FlopConvention::none;
  bool header = true;                   // false: the file starts with a data row
  bool decode = false;                  // grouped_gemm, linear_attention: the decode table
  int tp = 1;                           // ranks the heads were divided by (BLIS decode files)
  int mfu_decimals = 0;                 // most decimals printed in the MFU column
  std::vector<std::string> labels;      // words of coded columns
  std::vector<std::string> part_names;  // latencies or MFUs that add up to a row: "up_us", "conv"
  std::vector<double> parts;            // rows.size() * part_names.size(), in the file's units
  std::vector<KernelRow> rows;          // file order

  double part(std::size_t row, std::size_t column) const {
    return parts[row * part_names.size() + column];
  }
};

/// Names of the shape columns of an op.
std::vector<std::string> axis_names(Op op);

/// What a row says of a field that tables have: its number, or the code of its word.
double value_of(const Field& field, const KernelTable& table, const KernelRow& row,
                std::size_t place);

/// Flop of a row under the table's convention; 0 where the op has none.
double flop_of(const KernelTable& table, const KernelRow& row);

/// MFU that follows from latency and a peak; NaN where there is none.
double derived_mfu(const KernelTable& table, const KernelRow& row, FlopPerSecond peak);

/// The peak that the listed MFUs were divided by, flop / (latency * mfu): over the rows whose MFU
/// is printed with at least two significant digits. All 0 where no row says.
struct ImpliedPeak {
  FlopPerSecond min, median, max;
};
ImpliedPeak implied_peak(const KernelTable& table);

/// The question that this row answers (whole-model fields with tp = 1).
Query query_of(const KernelTable& table, const KernelRow& row);

}  // namespace rooflua
