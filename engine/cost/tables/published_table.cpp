// Rows of published files.

#include "cost/tables/published_table.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/gzip.h"
#include "cost/tables/described_table.h"
#include "cost/tables/lines.h"
#include "cost/tables/own_columns.h"
#include "cost/tables/published_sums.h"
#include "cost/tables/row_fates.h"

namespace rooflua {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t nowhere = max_cells;

int gpus_of_node(std::string_view gpu) {
  return gpu.starts_with("gb") ? 4 : 8;
}

/// A column of the file, or the value that all its rows have.
struct Cell {
  std::size_t position = nowhere;
  std::optional<std::string> value;
  bool there() const { return position != nowhere || value.has_value(); }
  std::string_view in(const Line& line) const {
    return position == nowhere ? std::string_view(*value) : line.cells[position];
  }
};

/// Reads the rows of one file.
class PublishedReader {
 public:
  PublishedReader(const TableFile& file, const fs::path& path, RowFates* fates, SummedRows& rows,
                  PublishedOrigin& origin, KernelTable& table)
      : file_(file),
        map_(*file.published),
        path_(path),
        fates_(fates),
        rows_(rows),
        origin_(origin),
        table_(table),
        constants_(published_constants(path.parent_path(), plain_name(path))) {
    for (const PublishedFormat& format : map_.formats) {
      if (format.dtype == file.dtype) format_ = format.published;
    }
    for (const OwnColumn& own : own_columns(declaration_of(file.op)))
      places_.emplace_back(own.field->column_name(), own.place);
  }

  void read(std::string_view text, std::size_t part) {
    LineReader lines(text);
    Line line;
    if (!lines.next(line)) throw Error(path_.string(), "the table is empty");
    header_ = line;
    find_columns();
    find_rules();
    part_ = part;
    while (lines.next(line)) {
      if (line.count < header_.count) {
        throw Error(at(path_.string(), line.number),
                    "has " + std::to_string(line.count) + " cells, and the header names " +
                        std::to_string(header_.count) + " columns");
      }
      row(line);
    }
  }

 private:
  struct Bound {  // a column of the map, found in the file
    const PublishedColumn* column;
    Cell cell;
    std::size_t place = 0;
  };
  struct BoundRule {
    const PublishedRule* rule;
    std::vector<Cell> cells;
  };

  Cell cell_of(std::string_view name) const {
    Cell cell;
    for (std::size_t i = 0; i < header_.count; ++i) {
      if (header_.cells[i] == name) cell.position = i;
    }
    if (cell.position != nowhere) return cell;
    for (const auto& [column, value] : constants_) {
      if (column == name && !cell.value) cell.value = value;
    }
    return cell;
  }

  void find_columns() {
    for (const PublishedColumn& column : map_.columns) {
      Bound bound{&column, column.name.empty() ? Cell() : cell_of(column.name)};
      const bool needed = column.required && column.use != PublishedUse::constant &&
                          column.use != PublishedUse::none;
      if (needed && !bound.cell.there()) {
        throw Error(at(path_.string(), header_.number),
                    "no column '" + std::string(column.name) + "' (found: " + found() +
                        "), and constants.csv does not have it");
      }
      for (const auto& [name, place] : places_) {
        if (name == column.field) bound.place = place;
      }
      columns_.push_back(std::move(bound));
    }
    kernel_ = cell_of("kernel_source");
    kernel_of_format_ = cell_of("kernel_source[" + std::string(format_) + "]");
    if (const Cell device = cell_of("device"); device.value) origin_.device = *device.value;
  }

  std::string found() const {
    std::string text;
    for (std::size_t i = 0; i < header_.count; ++i)
      text += (text.empty() ? "" : ", ") + std::string(header_.cells[i]);
    return text.substr(0, 200);
  }

  void find_rules() {
    for (const PublishedRule& rule : published_rules()) {
      const bool of_file = agrees(rule.files, map_.file) && agrees(rule.engines, file_.publisher) &&
                           agrees(rule.versions, file_.version) && agrees(rule.gpus, file_.gpu);
      const bool asked = file_.all_rows && rule.verdict == PublishedVerdict::wrong;
      if (!of_file || rule.conditions.empty() || asked) continue;
      BoundRule bound{&rule, {}};
      for (const PublishedCondition& each : rule.conditions)
        bound.cells.push_back(cell_of(each.column));
      const bool all = std::all_of(bound.cells.begin(), bound.cells.end(),
                                   [](const Cell& cell) { return cell.there(); });
      if (all) rules_.push_back(std::move(bound));
    }
  }

  static bool holds(const PublishedCondition& condition, std::string_view cell) {
    if (condition.test != PublishedTest::unpadded)
      return agrees(condition.value, cell) == (condition.test == PublishedTest::is);
    const auto value = as_number(cell);
    return value && *value > 16 && static_cast<long long>(*value) % 16 != 0;
  }

  static bool holds(const BoundRule& bound, const Line& line) {
    for (std::size_t i = 0; i < bound.cells.size(); ++i) {
      if (!holds(bound.rule->conditions[i], bound.cells[i].in(line))) return false;
    }
    return true;
  }

  bool is_of_this_table(const Line& line) {
    std::uint8_t passed = 0;
    for (const Bound& bound : columns_) {
      const PublishedColumn& column = *bound.column;
      bool fits = true;
      const std::string_view cell = bound.cell.there() ? bound.cell.in(line) : std::string_view();
      switch (column.use) {
        case PublishedUse::format:
          // Without the column all rows have the first format.
          fits = bound.cell.there() ? cell == format_ : format_ == map_.formats.front().published;
          break;
        case PublishedUse::select:
          fits = agrees(column.words.front().published, cell);
          break;
        case PublishedUse::some:
          fits = as_number(cell).value_or(0) > 0;
          break;
        case PublishedUse::none:
          fits = !bound.cell.there() || as_number(cell).value_or(0) == 0;
          break;
        default:
          continue;
      }
      ++passed;
      if (fits) continue;
      if (fates_ != nullptr) {
        fates_->leave_out(path_, line.number, passed,
                          std::string(column.name) + " is " + std::string(cell) +
                              ": no table of ours has such rows");
      }
      return false;
    }
    return true;
  }

  void leave_out(const Line& line, std::string_view reason) {
    if (fates_ != nullptr) fates_->leave_out(path_, line.number, RowFates::of_a_rule, reason);
  }

  void row(const Line& line) {
    if (!is_of_this_table(line)) return;
    for (const BoundRule& bound : rules_) {
      if (!holds(bound, line)) continue;
      if (bound.rule->verdict != PublishedVerdict::marked) {
        leave_out(line, bound.rule->reason);
        return;
      }
      auto& marks = origin_.marks;
      if (std::find(marks.begin(), marks.end(), bound.rule->reason) == marks.end())
        marks.push_back(bound.rule->reason);
    }
    std::size_t part = part_;
    if (!map_.kernels.empty()) {
      const std::string_view kernel = kernel_.there() ? kernel_.in(line) : std::string_view();
      while (part < map_.kernels.size() && !agrees(map_.kernels[part], kernel)) ++part;
      if (part == map_.kernels.size()) {
        leave_out(line, "kernel " + std::string(kernel) + ": not part of the engine's choice");
        return;
      }
    }
    KernelRow row;
    row.line = line.number;
    for (const Bound& bound : columns_) {
      if (!take(bound, line, row)) return;
    }
    const bool is_part = !map_.kernels.empty() || !file_.plus.empty();
    if (is_part && row.latency_s < 0)
      throw Error(where(line), "a latency below 0: expected the time of a kernel");
    const std::size_t kernel = kernel_number(line);
    if (fates_ != nullptr) fates_->take(path_, line.number);
    rows_.add(row, part, kernel);
  }

  /// The place of the row's kernel among the kernels of the table.
  std::size_t kernel_number(const Line& line) {
    const Cell& cell = kernel_.there() ? kernel_ : kernel_of_format_;
    if (!cell.there()) return 0;
    std::string_view name = cell.in(line);
    name = name.substr(0, name.find(" ("));
    auto& kernels = origin_.kernels;
    if (last_kernel_ < kernels.size() && kernels[last_kernel_] == name) return last_kernel_;
    const auto found = std::find(kernels.begin(), kernels.end(), name);
    last_kernel_ = static_cast<std::size_t>(found - kernels.begin());
    if (found == kernels.end()) kernels.emplace_back(name);
    return last_kernel_;
  }

  /// False: the row is left out, and its fate is noted.
  bool take(const Bound& bound, const Line& line, KernelRow& row) {
    const PublishedColumn& column = *bound.column;
    double& field = row.shape[bound.place];
    switch (column.use) {
      case PublishedUse::format:
      case PublishedUse::select:
      case PublishedUse::some:
      case PublishedUse::none:
        return true;
      case PublishedUse::constant:
        field = column.words.empty() ? column.scale : label(column.words.front().ours);
        return true;
      case PublishedUse::kv:
        if (bound.cell.there()) row.kv_dtype = require_dtype(bound.cell.in(line), where(line));
        return true;
      case PublishedUse::word:
      case PublishedUse::code: {
        const std::string_view cell =
            bound.cell.there() ? bound.cell.in(line) : std::string_view("*");
        for (const PublishedWord& each : column.words) {
          if (!agrees(each.published, cell)) continue;
          field = column.use == PublishedUse::code ? each.number : label(each.ours);
          return true;
        }
        leave_out(line,
                  std::string(column.name) + " " + std::string(cell) + ": no word of ours for it");
        return false;
      }
      default:
        break;
    }
    if (!bound.cell.there()) {
      field += column.otherwise;
      return true;
    }
    const double value = number(bound, line);
    if (column.use == PublishedUse::latency) {
      row.latency_s += value * column.scale;
    } else {
      field += value * (column.use == PublishedUse::nodes ? gpus_of_node(file_.gpu) : column.scale);
    }
    return true;
  }

  double number(const Bound& bound, const Line& line) const {
    const std::string_view cell = bound.cell.in(line);
    const auto value = as_number(cell);
    const std::string column = "column '" + std::string(bound.column->name) + "': ";
    if (!value)
      throw Error(where(line), column + "expected a number, found '" + std::string(cell) + "'");
    if (*value < 0 && bound.column->use != PublishedUse::latency)
      throw Error(where(line), column + "is negative: '" + std::string(cell) + "'");
    return *value;
  }

  std::string where(const Line& line) const { return at(path_.string(), line.number); }

  double label(std::string_view word) {
    const auto found = std::find(table_.labels.begin(), table_.labels.end(), word);
    const auto index = found - table_.labels.begin();
    if (found == table_.labels.end()) table_.labels.emplace_back(word);
    return static_cast<double>(index);
  }

  const TableFile& file_;
  const PublishedMap& map_;
  const fs::path& path_;
  RowFates* fates_;
  SummedRows& rows_;
  PublishedOrigin& origin_;
  KernelTable& table_;
  std::vector<std::pair<std::string, std::string>> constants_;
  std::vector<std::pair<std::string_view, std::size_t>> places_;
  std::string_view format_;
  Line header_;
  std::vector<Bound> columns_;
  std::vector<BoundRule> rules_;
  Cell kernel_, kernel_of_format_;
  std::size_t last_kernel_ = 0;
  std::size_t part_ = 0;
};

}  // namespace

std::string plain_name(const fs::path& path) {
  return path.extension() == ".gz" ? path.stem().string() : path.filename().string();
}

std::vector<std::pair<std::string, std::string>> published_constants(const fs::path& folder,
                                                                     const std::string& name) {
  std::vector<std::pair<std::string, std::string>> constants;
  if (!fs::is_regular_file(folder / "constants.csv")) return constants;
  const std::string text = read_text(folder / "constants.csv");
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line(text.data() + start, end - start);
    start = end + 1;
    if (!line.starts_with(name + ",")) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    line.remove_prefix(name.size() + 1);
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) continue;
    std::string_view value = line.substr(comma + 1);
    if (value.size() > 1 && value.front() == '"') value = value.substr(1, value.size() - 2);
    constants.emplace_back(line.substr(0, comma), value);
  }
  return constants;
}

KernelTable read_published(const TableFile& file, RowFates* fates) {
  KernelTable table = described_table(file);
  auto origin = std::make_shared<PublishedOrigin>();
  origin->map = file.published;
  origin->publisher = file.publisher;
  origin->version = file.version;
  const PublishedMap& map = *file.published;
  const std::size_t parts = !map.kernels.empty() ? map.kernels.size() : file.plus.empty() ? 1 : 2;
  SummedRows rows(parts, file.path, file.plus, fates);
  PublishedReader(file, file.path, fates, rows, *origin, table).read(read_text(file.path), 0);
  if (!file.plus.empty())
    PublishedReader(file, file.plus, fates, rows, *origin, table).read(read_text(file.plus), 1);
  table.rows = std::move(rows).finish();
  if (map.floors > 0 && !file.all_rows) drop_launch_floor(table, map.floors, file.path, fates);
  table.origin = std::move(origin);
  return table;
}

}  // namespace rooflua
