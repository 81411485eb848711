#pragma once
// What is wrong with measured tables. Latency is the measurement; a table contradicts itself where
// its MFU column does not follow from its latencies.
//
//   errors  rows that disagree with their MFU column by more than 3 % (beyond what printing rounds
//           away), MFU of 0 or above 1, a denominator that is not the GPU's peak, repeated keys,
//           no header, a table that cannot be read, a shape or a latency that cannot be, p10 and
//           p90 on the wrong side
//   notes   holes in the grid, latencies that fall where work grows, a slow first row (warm-up),
//           copies of another table, MFUs that count padded or random tokens (grouped GEMM),
//           a table of ours that tables.toml says too little of, rows of ours faster than memory
//           (they were timed in the cache), rows with a wide spread

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/database/mfu_database.h"
#include "cost/quality/finding.h"
#include "cost/tables/kernel_table.h"
#include "spec/hardware.h"

namespace rooflua {

struct TableReport {
  std::string name;
  std::filesystem::path path;
  int rows = 0;
  std::string grid;    // "m 14 (8..32768), k x n 8"
  ImpliedPeak peak;    // 0 where nothing tells
  std::string source;  // how it was measured, where tables.toml says
};

struct VerifyReport {
  std::vector<TableReport> tables;
  std::vector<Finding> findings;

  int errors() const;
  int notes() const;
  /// For people: per table what it is, then what is wrong with it, then the counts.
  std::string text() const;
};

/// @param hardware  the GPU the tables are of; empty: only what a table says of itself is checked
VerifyReport verify(const std::vector<const KernelTable*>& tables,
                    const std::optional<Hardware>& hardware);
VerifyReport verify(const MfuDatabase& database);

/// A folder of any layout (found out from what is in it), of one GPU or several, or of several such
/// folders.
/// @param home  where bench_data/<gpu>/hardware.toml are, to know the GPUs' peaks
/// @throws Error if the path is not there or holds no tables
VerifyReport verify(const std::filesystem::path& path, const std::filesystem::path& home);

/// What layout a folder has, by its files; nothing if it has none.
std::optional<Layout> detect_layout(const std::filesystem::path& path);
/// The GPUs a folder has tables of, as the folder names them; {""} where it names none.
std::vector<std::string> gpus_in(const std::filesystem::path& path, Layout layout);

}  // namespace rooflua
