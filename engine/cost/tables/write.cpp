// Tables of any layout as CSV files of our own.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/csv.h"
#include "base/error.h"
#include "base/log.h"
#include "cost/tables/importers.h"
#include "cost/tables/own_columns.h"

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

/// Writes the rows of a table of ours. Of a shape that was measured several times, which happens
/// where the files of several ranks hold the same kernel, the first is kept: lookups take it too.
/// @param seen  shapes that the file has already
/// @return how many rows were left out
int write_rows(std::ostream& out, const KernelTable& table, const std::vector<OwnColumn>& own,
               std::set<std::string>& seen) {
  int left_out = 0;
  for (const KernelRow& row : table.rows) {
    std::string shape;
    for (const OwnColumn& column : own) shape += cell(table, row, column) + ',';
    if (!seen.insert(shape).second) {
      ++left_out;
      continue;
    }
    out << shape << digits(row.latency_s * 1e6) << ',';
    if (row.latency_s_p10 > 0) out << digits(row.latency_s_p10 * 1e6);
    out << ',';
    if (row.latency_s_p90 > 0) out << digits(row.latency_s_p90 * 1e6);
    out << '\n';
  }
  return left_out;
}

constexpr std::string_view first_line = "# Written by rooflua data import.\n";

bool is_ours(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return true;
  std::string line;
  std::getline(std::ifstream(path), line);
  return line + "\n" == first_line;
}

/// Where each table is from, and what its rows contain.
std::string provenance(const std::map<std::string, std::vector<const KernelTable*>>& files,
                       Layout layout) {
  std::string out(first_line);
  for (const auto& [file, parts] : files) {
    out += "\n[" + std::filesystem::path(file).stem().string() + "]\nsource = \"" +
           std::string(name(layout)) + ":";
    for (const KernelTable* part : parts) out += " " + part->path.filename().string();
    out += "\"\n";
    if (parts.front()->quantizes) out += "includes = \"quantize\"\n";
  }
  return out;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw Error(path.string(), "cannot write the table");
}

}  // namespace

std::vector<std::filesystem::path> write_tables(const std::vector<const KernelTable*>& tables,
                                                const std::filesystem::path& folder,
                                                Layout layout) {
  std::map<std::string, std::vector<const KernelTable*>> files;
  for (const KernelTable* table : tables) {
    const OpDeclaration& op = declaration_of(table->op);
    if (op.file.empty() || !op.imported || table->variant == "nccl") continue;
    const std::string dtype =
        table->variant.empty() ? std::string(name(table->dtype)) : table->variant;
    files[std::string(op.file) + (op.dtype_in_name ? "_" + dtype : "") + ".csv"].push_back(table);
  }
  const std::filesystem::path described = folder / "tables.toml";
  if (!is_ours(described)) {
    throw Error(described.string(),
                "is of tables that were measured here; import to another folder");
  }
  std::filesystem::create_directories(folder);
  std::vector<std::filesystem::path> written;
  for (const auto& [file, parts] : files) {
    std::ostringstream out;
    const std::vector<OwnColumn> own = own_columns(declaration_of(parts.front()->op));
    for (const OwnColumn& column : own) out << column.field->column_name() << ',';
    out << "latency_us,latency_us_p10,latency_us_p90\n";
    std::set<std::string> seen;
    int left_out = 0;
    for (const KernelTable* part : parts) left_out += write_rows(out, *part, own, seen);
    if (left_out > 0) {
      log::warn(file + ": " + std::to_string(left_out) +
                " rows left out: their shapes were measured before, in another file");
    }
    write_text(folder / file, out.str());
    written.push_back(folder / file);
  }
  if (!files.empty()) write_text(described, provenance(files, layout));
  return written;
}

}  // namespace rooflua
