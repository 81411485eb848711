#pragma once
// Comma-separated rows that know their file and line. Reads quotes, CRLF, a byte-order mark and
// blank lines; every complaint names file:line and the column.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

struct CsvRow {
  int line = 0;  // 1-based line in the file where the row starts
  std::vector<std::string> cells;
};

/// A whole file: a header and its rows. A file whose first line is all numbers has no header
/// (`header` empty): some public tables have none, and a reader must check for it.
struct CsvFile {
  std::filesystem::path path;
  std::vector<std::string> header;
  std::vector<CsvRow> rows;

  /// Column index by name; nothing if there is none.
  std::optional<std::size_t> column(std::string_view name) const;
  /// As column(), but throws an Error that names the file, the column and the known ones.
  std::size_t require(std::string_view name) const;

  /// A finite number. @throws Error "file:line: column 'm': expected a number, found 'x'"
  double number(const CsvRow& row, std::size_t column) const;
  /// A whole number (also written 16.0). @throws Error as number() does
  std::int64_t integer(const CsvRow& row, std::size_t column) const;
  const std::string& text(const CsvRow& row, std::size_t column) const;
};

/// What becomes of a row that is longer than the header: the file is refused, or the row is kept
/// with all its cells, for a reader that refuses single rows.
enum class LongRows { refused, kept };

/// @throws Error if the file cannot be read, a quote is not closed, or a row is longer than the
/// header and long rows are refused
CsvFile read_csv(const std::filesystem::path& path, LongRows long_rows = LongRows::refused);

/// The same from memory; `name` stands for the file in messages.
CsvFile parse_csv(std::string_view text, const std::filesystem::path& name,
                  LongRows long_rows = LongRows::refused);

/// The header alone, without reading the rows; empty where the file has none.
/// @throws Error if the file cannot be read, or its first record is no CSV
std::vector<std::string> read_csv_header(const std::filesystem::path& path);

/// Strict decimal parse of the whole text (no spaces left over, no hex, no inf or nan); nothing if
/// it is not a number.
std::optional<double> parse_number(std::string_view text);

/// One cell as CSV text: quoted if it holds a comma, a quote or a line break. A text that a
/// spreadsheet would compute (it begins with =, +, -, @ and is no number) gets ' in front.
std::string csv_cell(std::string_view text);

}  // namespace rooflua
