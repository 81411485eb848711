#pragma once
// The cells of a table file by column, for scripts that read tables of other projects.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

/// The cells of one column as numbers of a list of words: a column has few of them.
struct WordsOfColumn {
  std::vector<std::int32_t> codes;  // a row -> its place in `texts`
  std::vector<std::string_view> texts;
};

/// A file of a header and rows. Reading stops at the first row that has fewer cells than the
/// header.
class Cells {
 public:
  /// @throws Error naming the file if it cannot be read, or is empty
  explicit Cells(const std::filesystem::path& path);

  const std::vector<std::string_view>& header() const { return header_; }
  int header_line() const { return header_line_; }
  /// The line of each row in the file, from 1.
  const std::vector<std::int32_t>& lines() const { return lines_; }
  struct ShortRow {
    int line;
    std::size_t cells;
  };
  const std::optional<ShortRow>& short_row() const { return short_row_; }

  std::string_view cell(std::size_t row, std::size_t column) const {
    return cells_[row * header_.size() + column];
  }
  /// A column as numbers; NaN where as_number (lines.h) finds none.
  std::vector<double> numbers(std::size_t column) const;
  WordsOfColumn words(std::size_t column) const;

 private:
  std::string text_;
  std::vector<std::string_view> header_, cells_;  // rows * columns, parts of text_
  int header_line_ = 0;
  std::vector<std::int32_t> lines_;
  std::optional<ShortRow> short_row_;
};

/// The names in the first line of a table file; empty if it has no line.
/// @throws Error naming the file if it cannot be read
std::vector<std::string> column_names(const std::filesystem::path& path);

}  // namespace rooflua
