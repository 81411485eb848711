#include "base/csv.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace rooflua {

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

/// Reads the text once, row by row.
class Reader {
 public:
  Reader(std::string_view text, const std::filesystem::path& name) : text_(text), name_(name) {}

  bool next(CsvRow& row) {
    while (position_ < text_.size()) {
      row = {line_, {}};
      read_cells(row.cells);
      if (row.cells.size() > 1 || !row.cells.front().empty()) return true;  // not a blank line
    }
    return false;
  }

 private:
  void read_cells(std::vector<std::string>& cells) {
    for (;;) {
      std::size_t start = position_;
      while (start < text_.size() && (text_[start] == ' ' || text_[start] == '\t')) ++start;
      if (start < text_.size() && text_[start] == '"') {
        position_ = start;
        cells.push_back(read_quoted());
      } else {
        const std::size_t end = text_.find_first_of(",\n", position_);
        const std::size_t stop = end == std::string_view::npos ? text_.size() : end;
        cells.emplace_back(trim(text_.substr(position_, stop - position_)));
        position_ = stop;
      }
      if (position_ >= text_.size()) return;
      const char separator = text_[position_++];
      if (separator == '\n') {
        ++line_;
        return;
      }
    }
  }

  std::string read_quoted() {
    const int opened = line_;
    std::string out;
    for (++position_; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (c == '"') {
        if (position_ + 1 < text_.size() && text_[position_ + 1] == '"') {
          out += '"';
          ++position_;
          continue;
        }
        ++position_;
        while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\r'))
          ++position_;
        if (position_ < text_.size() && text_[position_] != ',' && text_[position_] != '\n') {
          throw Error(at(name_.string(), line_), "text after a closing quote; expected a comma");
        }
        return out;
      }
      if (c == '\n') ++line_;
      out += c;
    }
    throw Error(at(name_.string(), opened), "a quote is opened here and never closed");
  }

  std::string_view text_;
  const std::filesystem::path& name_;
  std::size_t position_ = 0;
  int line_ = 1;
};

bool all_numbers(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) {
    if (!parse_number(cell)) return false;
  }
  return true;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::size_t> CsvFile::column(std::string_view name) const {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i] == name) return i;
  }
  return std::nullopt;
}

std::size_t CsvFile::require(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  throw Error(at(path.string(), 1), unknown_name("column, wanted", name, header));
}

const std::string& CsvFile::text(const CsvRow& row, std::size_t column) const {
  if (column < row.cells.size()) return row.cells[column];
  throw Error(at(path.string(), row.line),
              "the row has " + std::to_string(row.cells.size()) + " columns, expected " +
                  std::to_string(header.empty() ? column + 1 : header.size()));
}

double CsvFile::number(const CsvRow& row, std::size_t column) const {
  const std::string& cell = text(row, column);
  if (const auto value = parse_number(cell)) return *value;
  const std::string name = column < header.size() ? header[column] : std::to_string(column + 1);
  throw Error(at(path.string(), row.line),
              "column '" + name + "': expected a number, found '" + cell + "'");
}

std::int64_t CsvFile::integer(const CsvRow& row, std::size_t column) const {
  const double value = number(row, column);
  if (value == std::floor(value) && std::abs(value) < 9007199254740992.0) {
    return static_cast<std::int64_t>(value);
  }
  const std::string name = column < header.size() ? header[column] : std::to_string(column + 1);
  throw Error(at(path.string(), row.line),
              "column '" + name + "': expected a whole number, found '" + text(row, column) + "'");
}

CsvFile parse_csv(std::string_view text, const std::filesystem::path& name, LongRows long_rows) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  CsvFile file;
  file.path = name;
  Reader reader(text, name);
  CsvRow row;
  bool first = true;
  while (reader.next(row)) {
    if (first && !all_numbers(row.cells)) {
      file.header = row.cells;
    } else {
      if (long_rows == LongRows::refused && !file.header.empty() &&
          row.cells.size() > file.header.size()) {
        throw Error(at(name.string(), row.line), "the row has " + std::to_string(row.cells.size()) +
                                                     " columns, the header " +
                                                     std::to_string(file.header.size()));
      }
      file.rows.push_back(row);
    }
    first = false;
  }
  return file;
}

CsvFile read_csv(const std::filesystem::path& path, LongRows long_rows) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path.string(), "cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad() || std::filesystem::is_directory(path))
    throw Error(path.string(), "cannot be read: it is a folder");
  return parse_csv(text.str(), path, long_rows);
}

std::vector<std::string> read_csv_header(const std::filesystem::path& path) {
  constexpr std::size_t most = std::size_t{1} << 20;
  constexpr std::string_view blank = " \t\r\n\xEF\xBB\xBF";  // or a byte-order mark
  if (std::filesystem::is_directory(path)) throw Error(path.string(), "is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path.string(), "cannot be read");
  std::string text;
  std::int64_t quotes = 0;
  // A quoted name may hold a line break: its record ends where the quotes are closed.
  for (char c = 0; in.get(c);) {
    text += c;
    if (text.size() > most) throw Error(path.string(), "the first record is longer than 1 MiB");
    if (c == '"') ++quotes;
    const bool is_blank = text.find_first_not_of(blank) == std::string::npos;
    if (c == '\n' && quotes % 2 == 0 && !is_blank) break;
  }
  return parse_csv(text, path).header;
}

std::string csv_cell(std::string_view text) {
  constexpr std::string_view formula = "=+-@\t\r";
  const bool is_formula = !text.empty() && formula.find(text.front()) != std::string_view::npos &&
                          !parse_number(text);
  const std::string plain = (is_formula ? "'" : "") + std::string(text);
  if (plain.find_first_of(",\"\n\r") == std::string::npos) return plain;
  std::string out = "\"";
  for (const char c : plain) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace rooflua
