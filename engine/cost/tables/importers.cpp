#include "cost/tables/importers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <span>

#include "base/error.h"
#include "cost/tables/columns.h"

namespace rooflua {
namespace {

constexpr std::size_t max_cells = 24;

struct Line {
  int number = 0;
  std::array<std::string_view, max_cells> cells;
  std::size_t count = 0;
};

/// Kernel tables hold no quotes and no commas inside cells, so lines are cut with memchr: a file of
/// a hundred thousand rows must not be felt at start-up.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {
    if (rest_.substr(0, 3) == "\xEF\xBB\xBF") rest_.remove_prefix(3);
  }

  /// The next line that is not blank.
  bool next(Line& line) {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      std::string_view text = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++number_;
      if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
      if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
      line.number = number_;
      cut(text, line);
      return true;
    }
    return false;
  }

 private:
  static std::string_view trimmed(std::string_view cell) {
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '"')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '"')) cell.remove_suffix(1);
    return cell;
  }
  static void cut(std::string_view text, Line& line) {
    line.count = 0;
    while (line.count < max_cells) {
      const std::size_t comma = text.find(',');
      line.cells[line.count++] = trimmed(text.substr(0, comma));
      if (comma == std::string_view::npos) return;
      text.remove_prefix(comma + 1);
    }
  }

  std::string_view rest_;
  int number_ = 0;
};

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw Error(path.string(), "cannot read the table");
  std::string text(static_cast<std::size_t>(in.tellg()), '\0');
  in.seekg(0);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

std::optional<double> as_number(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  // Nothing was measured as that; products of such numbers are 0 or infinite.
  constexpr double least = 1e-100, most = 1e100;
  if (value != 0 && !(std::abs(value) >= least && std::abs(value) <= most)) return std::nullopt;
  return value;
}

int decimals(std::string_view text) {
  const std::size_t point = text.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

/// Reads the rows of one file into one table.
class TableReader {
 public:
  TableReader(const TableFile& file, KernelTable& table)
      : file_(file), table_(table), columns_(columns_of(file)) {}

  void read(std::string_view text) {
    LineReader lines(text);
    Line line;
    if (!lines.next(line)) throw Error(file_.path.string(), "the table is empty");
    table_.header = find_columns(line);
    if (!table_.header) row(line);
    table_.rows.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    while (lines.next(line)) row(line);
  }

 private:
  /// Positions by the header's names; by the usual order where the first line is data.
  bool find_columns(const Line& line) {
    const auto cells = std::span(line.cells.data(), line.count);
    const bool data = line.count > 1 && as_number(cells.back()).has_value();
    position_.assign(columns_.size(), max_cells);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      if (data) {
        position_[c] = c;
        continue;
      }
      const auto found = std::find(cells.begin(), cells.end(), column.name);
      if (found != cells.end()) {
        position_[c] = static_cast<std::size_t>(found - cells.begin());
      } else if (column.required) {
        throw Error(at(file_.path.string(), line.number),
                    "no column '" + std::string(column.name) +
                        "' (found: " + joined(cells).substr(0, 200) + ")");
      }
    }
    for (const Column& column : columns_) {
      if (column.meaning == Meaning::part) table_.part_names.emplace_back(column.name);
    }
    return !data;
  }

  static std::string joined(std::span<const std::string_view> cells) {
    std::string text;
    for (const std::string_view cell : cells)
      text += (text.empty() ? "" : ", ") + std::string(cell);
    return text;
  }

  void row(const Line& line) {
    KernelRow row;
    row.line = line.number;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (position_[c] == max_cells) continue;
      if (position_[c] >= line.count) {
        throw Error(at(file_.path.string(), line.number),
                    "column '" + std::string(columns_[c].name) + "' is missing in this row");
      }
      if (!take(columns_[c], line.cells[position_[c]], line, row)) return;
    }
    finish_row(file_, row);
    table_.rows.push_back(row);
  }

  /// False: the row belongs to another table of the same file.
  bool take(const Column& column, std::string_view cell, const Line& line, KernelRow& row) {
    switch (column.meaning) {
      case Meaning::only:
        return cell == file_.only.at(column.axis);
      case Meaning::label_prefix:
        label_prefix_ = cell;
        return true;
      case Meaning::kv_dtype:
        row.kv_dtype = dtype(cell, column, line);
        return true;
      case Meaning::label:
        row.shape[column.axis] = label(cell);
        return true;
      case Meaning::ignored:
        return true;
      default:
        break;
    }
    if (cell.empty() && !column.required) return true;
    const double value = number(cell, column, line);
    switch (column.meaning) {
      case Meaning::shape:
        if (value < 0) {
          throw Error(at(file_.path.string(), line.number),
                      "column '" + std::string(column.name) + "': is negative: '" +
                          std::string(cell) + "'");
        }
        row.shape[column.axis] += value * column.scale;
        break;
      case Meaning::latency:
        row.latency_s += value * column.scale;
        break;
      case Meaning::latency_p10:
        row.latency_s_p10 = value * column.scale;
        break;
      case Meaning::latency_p90:
        row.latency_s_p90 = value * column.scale;
        break;
      case Meaning::listed_mfu:
        row.listed_mfu = value;
        table_.mfu_decimals = std::max(table_.mfu_decimals, decimals(cell));
        break;
      case Meaning::part:
        table_.parts.push_back(value);
        row.latency_s += value * column.scale;
        break;
      default:
        break;
    }
    return true;
  }

  double number(std::string_view cell, const Column& column, const Line& line) const {
    if (const auto value = as_number(cell)) return *value;
    throw Error(at(file_.path.string(), line.number), "column '" + std::string(column.name) +
                                                          "': expected a number, found '" +
                                                          std::string(cell) + "'");
  }

  Dtype dtype(std::string_view cell, const Column& column, const Line& line) const {
    if (cell == name(Dtype::bf16)) return Dtype::bf16;  // nearly every row: no copy of the text
    if (const auto value = parse_dtype(cell)) return *value;
    throw Error(
        at(file_.path.string(), line.number),
        "column '" + std::string(column.name) + "': unknown dtype '" + std::string(cell) + "'");
  }

  double label(std::string_view cell) {
    std::string word(cell);
    if (!label_prefix_.empty()) word = std::string(label_prefix_) + "/" + word;
    const auto found = std::find(table_.labels.begin(), table_.labels.end(), word);
    const auto index = found - table_.labels.begin();
    if (found == table_.labels.end()) table_.labels.push_back(std::move(word));
    return static_cast<double>(index);
  }

  const TableFile& file_;
  KernelTable& table_;
  std::vector<Column> columns_;
  std::vector<std::size_t> position_;
  std::string_view label_prefix_;
};

}  // namespace

KernelTable read_table(const TableFile& file) {
  KernelTable table;
  table.name = file.name;
  table.path = file.path;
  table.op = file.op;
  table.dtype = file.dtype;
  table.variant = file.variant;
  table.axes = axis_names(file.op);
  table.decode = file.decode;
  table.tp = file.tp;
  table.convention = file.convention.value_or(declaration_of(file.op).convention);
  table.source = file.source;
  table.engine = file.engine;
  table.engines = file.engines;
  table.includes = file.includes;
  if (file.form == TableForm::aic_nccl) table.labels = {"nccl"};
  TableReader(file, table).read(read_whole(file.path));
  return table;
}

}  // namespace rooflua
