#pragma once
// Columns of tables with a row per run: metrics by name, and those that a scenario declares.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record/summary.h"
#include "measure/write/table.h"

namespace rooflua {

struct RunColumn {
  enum class Kind { number, time, share, count };
  std::string label;  // "TTFT p50"
  Kind kind = Kind::number;
  std::string metric;  // the name that was wanted; of an own metric its name
  std::function<double(const Summary&)> value;  // NaN where a run has none
  TimeUnit unit{"s", 1};                        // of times: one for all runs

  /// "TTFT p50 ms"
  std::string title() const;
  std::string cell(const Summary& run) const;
};

/// A column that a table asks for.
struct WantedColumn {
  std::string_view metric;      // "ttft_s_p50"
  std::string_view label = {};  // "" = that of the metric's declaration
};

enum class Empty { keep, drop };

/// The wanted columns that say something of these runs, and after them what the scenario's own
/// metrics gave. Counts that are 0 in every run are left out, as is goodput where no run has any;
/// other columns without a number in any run are kept or dropped as `empty` says.
std::vector<RunColumn> run_columns(const std::vector<WantedColumn>& wanted,
                                   const std::vector<const Summary*>& runs, Empty empty);

/// The name of every number that a run may have: "completed", "ttft_s_p50", ...
const std::vector<std::string>& run_column_names();

}  // namespace rooflua
