#pragma once
// Reads comma-separated rows one at a time without copying the cells, for files of 100,000 rows and
// more. The dialect is that of base/csv.h (quotes, CRLF, byte-order mark, blank lines).

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

class CsvScanner {
 public:
  /// @param text  the whole file; must outlive the scanner
  /// @param name  stands for the file in messages
  CsvScanner(std::string_view text, std::string name);

  /// The next row that is not blank; false at the end.
  /// @throws Error "name:line: ..." if a quote is not closed or is followed by text
  bool next();

  /// Cells of that row, trimmed; valid until the next call.
  const std::vector<std::string_view>& cells() const { return cells_; }
  int line() const { return line_; }  // 1-based, where the row starts
  const std::string& name() const { return name_; }

 private:
  std::string_view quoted();

  std::string_view text_;
  std::string name_;
  std::size_t position_ = 0;
  int line_ = 0, next_line_ = 1;
  std::vector<std::string_view> cells_;
  std::deque<std::string> unquoted_;  // cells with doubled quotes, which need a copy
};

}  // namespace rooflua
