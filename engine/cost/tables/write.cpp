// Tables of any layout as CSV files of our own.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/csv.h"
#include "base/error.h"
#include "base/log.h"
#include "base/staged_files.h"
#include "cost/tables/importers.h"
#include "cost/tables/merged_rows.h"
#include "cost/tables/own_columns.h"
#include "cost/tables/row_check.h"

namespace rooflua {
namespace {

std::string digits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  char shorter[40];
  std::snprintf(shorter, sizeof shorter, "%.15g", value);
  return std::strtod(shorter, nullptr) == value ? shorter : text;
}

std::string cell(const KernelTable& table, const KernelRow& row, const OwnColumn& column) {
  if (column.field->is_kv()) return std::string(name(row.kv_dtype));
  const double value = row.shape[column.place];
  if (column.field->kind != FieldKind::word) return digits(value);
  if (table.labels.empty()) return "";
  const std::string& word = table.labels[static_cast<std::size_t>(value)];
  if (table.op == Op::all_reduce)
    return word.ends_with("eager") ? "eager" : word == "nccl" ? "nccl" : "graph";
  return csv_cell(word);
}

/// Published latencies have four digits; the rest comes from their conversion.
std::string rounded(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

void write_row(std::ostream& out, const std::string& shape, const MergedRow& each, bool spread) {
  const KernelRow& row = *each.row;
  const double latency_us = row.latency_s * 1e6;
  out << shape << (each.table->published ? rounded(latency_us) : digits(latency_us));
  if (spread) {
    out << ',';
    if (row.latency_s_p10 > 0) out << digits(row.latency_s_p10 * 1e6);
    out << ',';
    if (row.latency_s_p90 > 0) out << digits(row.latency_s_p90 * 1e6);
  }
  out << '\n';
}

std::string shape_of(const MergedRow& row, const std::vector<OwnColumn>& own) {
  std::string shape;
  for (const OwnColumn& column : own) shape += cell(*row.table, *row.row, column) + ',';
  return shape;
}

/// Of a shape that was measured several times, which happens where the files of several ranks hold
/// the same kernel, the first is kept: lookups take it too.
std::vector<MergedRow> first_rows(const std::vector<const KernelTable*>& parts,
                                  const std::string& file) {
  const std::vector<OwnColumn> own = own_columns(declaration_of(parts.front()->op));
  std::set<std::string> seen;
  std::vector<MergedRow> rows;
  int left_out = 0;
  for (const KernelTable* part : parts) {
    for (const KernelRow& row : part->rows) {
      const bool is_new = seen.insert(shape_of({part, &row}, own)).second;
      if (is_new) rows.push_back({part, &row});
      if (!is_new) ++left_out;
    }
  }
  if (left_out > 0) {
    log::warn(file + ": " + std::to_string(left_out) +
              " rows left out: their shapes were measured before, in another file");
  }
  return rows;
}

constexpr std::string_view first_line = "# Written by rooflua data import.\n";

bool is_ours(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return true;
  std::string line;
  std::getline(std::ifstream(path), line);
  return line + "\n" == first_line;
}

std::string files_of(const std::vector<const KernelTable*>& parts) {
  std::string files;
  std::set<std::string> seen;
  for (const KernelTable* part : parts) {
    const std::string file = part->path.filename().string();
    if (seen.insert(file).second) files += " " + file;
  }
  return files;
}

/// Where a table is from, and what its rows contain.
std::string provenance(const std::vector<const KernelTable*>& parts, Layout layout) {
  std::string out = "source = \"" + std::string(name(layout)) + ":" + files_of(parts) + "\"\n";
  std::string includes;
  for (const std::string& each : parts.front()->includes)
    includes += (includes.empty() ? "\"" : ", \"") + each + "\"";
  if (!includes.empty()) out += "includes = [" + includes + "]\n";
  return out;
}

/// @throws Error at the line of a row that no measurement can give
void check_rows(const KernelTable& table) {
  for (const KernelRow& row : table.rows) {
    std::string problem = impossible_shape(table, row);
    if (problem.empty()) problem = impossible_latency(row);
    if (!problem.empty()) throw Error(at(table.path.string(), row.line), problem);
  }
}

}  // namespace

std::vector<WrittenTable> write_tables(const std::vector<const KernelTable*>& tables,
                                       const std::filesystem::path& folder, Layout layout,
                                       const WriteOptions& options) {
  std::map<std::string, std::vector<const KernelTable*>> files;
  for (const KernelTable* table : tables) {
    const OpDeclaration& op = declaration_of(table->op);
    if (op.file.empty() || (!op.imported && !table->published)) continue;
    const std::string dtype(name(table->dtype));
    const std::string own_name = std::string(op.file) + (op.dtype_in_name ? "_" + dtype : "");
    files[table->published ? table->name : own_name].push_back(table);
    check_rows(*table);
  }
  const std::filesystem::path described = folder / "tables.toml";
  if (!is_ours(described)) {
    throw Error(described.string(),
                "is of tables that were measured here; import to another folder");
  }
  std::filesystem::create_directories(folder);
  StagedFiles staged;
  std::vector<WrittenTable> written;
  std::string toml(first_line);
  for (const auto& [file, parts] : files) {
    const bool published = parts.front()->published;
    std::vector<MergedRow> rows =
        published ? fastest_rows(parts, options.not_written) : first_rows(parts, file + ".csv");
    const std::size_t rows_before = rows.size();
    if (options.tolerance > 0) thin(rows, options.tolerance, options.not_written);
    const bool spread = std::any_of(rows.begin(), rows.end(), [](const MergedRow& each) {
      return each.row->latency_s_p10 > 0 || each.row->latency_s_p90 > 0;
    });
    std::ostringstream out;
    const std::vector<OwnColumn> own = own_columns(declaration_of(parts.front()->op));
    for (const OwnColumn& column : own) out << column.field->column_name() << ',';
    out << "latency_us" << (spread ? ",latency_us_p10,latency_us_p90" : "") << '\n';
    for (const MergedRow& row : rows) write_row(out, shape_of(row, own), row, spread);
    toml += "\n[" + file + "]\n";
    toml += published ? options.described.at(file) : provenance(parts, layout);
    if (options.tolerance > 0) {
      toml += "thinning = \"log-log along the axis, whole batches from their neighbours\"\n";
      toml += "tolerance = " + digits(options.tolerance) + "\n";
      toml += "rows_before = " + std::to_string(rows_before) + "\n";
    }
    if (published) toml += "rows = " + std::to_string(rows.size()) + "\n";
    const std::filesystem::path path = folder / (file + ".csv");
    staged.add(path, out.str());
    written.push_back({path, rows.size()});
  }
  if (!files.empty()) staged.add(described, toml);
  staged.publish();
  return written;
}

}  // namespace rooflua
