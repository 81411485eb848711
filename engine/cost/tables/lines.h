#pragma once
// Lines and cells of a kernel table. Private to the importers.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace rooflua {

inline constexpr std::size_t max_cells = 24;

struct Line {
  int number = 0;
  std::array<std::string_view, max_cells> cells;
  std::array<double, max_cells> values;  // of cells that are digits and at most one point; else NaN
  std::size_t count = 0;
};

/// Kernel tables hold no quotes and no commas inside cells. One loop cuts a line and reads its
/// numbers: a file of a hundred thousand rows must not be felt at start-up.
class LineReader {
 public:
  explicit LineReader(std::string_view text);
  /// The next line that is not blank.
  bool next(Line& line);

 private:
  std::string_view rest_;
  int number_ = 0;
};

/// Nothing if the text is no number, or one that is not measured: 0, or 1e-100 to 1e100.
std::optional<double> as_number(std::string_view text);

}  // namespace rooflua
