#pragma once
// What can be wrong with a measured table.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

enum class FindingKind {
  // errors
  mfu_disagrees,
  mfu_zero,
  above_peak,
  denominator,
  duplicate_key,
  no_header,
  unreadable,
  not_positive,
  impossible_shape,
  impossible_latency,
  quantiles,
  // notes
  hole,
  non_monotone,
  warm_up,
  copy,
  loose_mfu,
  undocumented,
  above_bandwidth,
  spread,
};
bool is_error(FindingKind kind);
std::string_view name(FindingKind kind);

/// One kind of trouble in one table.
struct Finding {
  FindingKind kind = FindingKind::hole;
  std::string table;
  std::filesystem::path path;
  int count = 0;
  std::vector<int> lines;  // in the file, where they are known
  std::string text;        // what was found, with the first examples
};

}  // namespace rooflua
