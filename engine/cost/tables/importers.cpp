#include "cost/tables/importers.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"
#include "base/gzip.h"
#include "base/latest.h"
#include "cost/tables/columns.h"
#include "cost/tables/described_table.h"
#include "cost/tables/lines.h"
#include "cost/tables/published.h"

namespace rooflua {
namespace {

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
      take(columns_[c], position_[c], line, row);
    }
    finish_row(file_, row);
    table_.rows.push_back(row);
  }

  void take(const Column& column, std::size_t place, const Line& line, KernelRow& row) {
    const std::string_view cell = line.cells[place];
    switch (column.meaning) {
      case Meaning::kv_dtype:
        row.kv_dtype = dtype(cell, column, line);
        return;
      case Meaning::label:
        row.shape[column.axis] = label(cell);
        return;
      case Meaning::ignored:
        return;
      default:
        break;
    }
    if (cell.empty() && !column.required) return;
    const double value =
        std::isnan(line.values[place]) ? number(cell, column, line) : line.values[place];
    switch (column.meaning) {
      case Meaning::shape:
        if (value < 0) {
          throw Error(at(file_.path.string(), line.number), "column '" + std::string(column.name) +
                                                                "': is negative: '" +
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
    const std::string word(cell);
    const auto found = std::find(table_.labels.begin(), table_.labels.end(), word);
    const auto index = found - table_.labels.begin();
    if (found == table_.labels.end()) table_.labels.push_back(word);
    return static_cast<double>(index);
  }

  const TableFile& file_;
  KernelTable& table_;
  std::vector<Column> columns_;
  std::vector<std::size_t> position_;
};

KernelTable table_of(const TableFile& file, std::string_view text) {
  KernelTable table = described_table(file);
  TableReader(file, table).read(text);
  return table;
}

struct FileText {
  TableFile file;
  std::string text;
  bool operator==(const FileText&) const = default;
};

constexpr std::size_t most_kept_bytes = std::size_t{16}
                                        << 20;  // of texts; rows take four times that

}  // namespace

KernelTable read_table(const TableFile& file) {
  if (file.published) return published_tables().read(file);
  return table_of(file, read_text(file.path));
}

std::shared_ptr<const KernelTable> kept_table(const TableFile& file) {
  if (file.published) return std::make_shared<const KernelTable>(published_tables().read(file));
  thread_local Latest<FileText, KernelTable> latest(most_kept_bytes);
  const FileText now{file, read_text(file.path)};
  return latest.of(now, now.text.size(), [&] {
    return std::make_shared<const KernelTable>(table_of(now.file, now.text));
  });
}

}  // namespace rooflua
