// `rooflua data import`: tables of other projects in our layout, and what was not taken.

#include <algorithm>
#include <cstdio>
#include <map>

#include "app/commands.h"
#include "base/error.h"
#include "base/gzip.h"
#include "cost/tables/importers.h"
#include "cost/tables/published_folder.h"
#include "cost/tables/published_table.h"
#include "cost/tables/row_fates.h"

namespace rooflua::app {
namespace {

namespace fs = std::filesystem;

std::size_t rows_of(const fs::path& path) {
  if (path.extension() == ".parquet") return 0;
  const std::string text = read_text(path);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, lines - 1));
}

std::vector<const KernelTable*> pointers_to(const std::vector<KernelTable>& tables) {
  std::vector<const KernelTable*> pointers;
  for (const KernelTable& table : tables) pointers.push_back(&table);
  return pointers;
}

void print_written(const std::vector<WrittenTable>& written) {
  for (const WrittenTable& table : written)
    std::printf("%s  %zu rows\n", table.path.c_str(), table.rows);
}

/// What is not in the tables: whole files, then rows, each with the reason.
void print_left_out(const PublishedFolder& folder, const RowFates& fates) {
  std::size_t rows = 0;
  if (!folder.left_out.empty()) std::printf("\nFiles that were not taken:\n");
  for (const FileLeftOut& file : folder.left_out) {
    const std::size_t count = rows_of(file.path);
    std::printf("  %s  %zu rows: %s\n", file.path.filename().c_str(), count, file.reason.c_str());
    rows += count;
  }
  const std::vector<RowFates::Count> counts = fates.left_out();
  if (!counts.empty()) std::printf("\nRows that were not taken:\n");
  std::size_t of_files = 0;
  for (const RowFates::Count& each : counts) {
    std::printf("  %s  %zu rows: %s\n", each.file.c_str(), each.rows, each.reason.c_str());
    of_files += each.rows;
  }
  std::printf(
      "\nTaken: %zu rows (%zu of them averaged with another row of the same shape and kernel). Not "
      "taken: %zu rows of these files, %zu rows in %zu whole files.\n",
      fates.taken(), fates.averaged(), of_files, rows, folder.left_out.size());
}

int import_published(const DataArguments& arguments, const fs::path& to) {
  const PublishedFolder folder = published_folder(arguments.path, arguments.gpu,
                                                  {arguments.engine_version, arguments.all_rows});
  if (folder.tables.empty()) {
    std::vector<std::string> known = published_gpus(arguments.path);
    throw Error(arguments.path, unknown_name("GPU", arguments.gpu, known));
  }
  RowFates fates;
  std::vector<KernelTable> tables;
  for (const TableFile& file : folder.tables) {
    tables.push_back(read_published(file, &fates));
    if (tables.back().rows.empty()) tables.pop_back();
  }
  const WriteOptions options{arguments.thin_percent / 100, &fates};
  const auto written = write_tables(pointers_to(tables), to, Layout::aic, options);
  print_written(written);
  std::printf("%zu files written to %s\n", written.size() + 1, to.c_str());
  print_left_out(folder, fates);
  return 0;
}

}  // namespace

int data_import(const DataArguments& arguments, const fs::path&) {
  const Layout layout = layout_of(arguments);
  if (!fs::is_directory(arguments.path))
    throw Error(arguments.path, "there is no such folder of tables");
  const fs::path to = fs::path(arguments.to) / arguments.gpu;
  if (layout == Layout::aic) return import_published(arguments, to);
  if (!arguments.engine_version.empty() || arguments.all_rows) {
    throw Error(arguments.engine_version.empty() ? "--all-rows" : "--engine-version",
                "only tables of layout aic have it");
  }
  std::vector<KernelTable> tables;
  for (const TableFile& file : list_tables(arguments.path, layout, arguments.gpu))
    tables.push_back(read_table(file));
  if (tables.empty()) {
    throw Error(arguments.path,
                "has no tables of '" + arguments.gpu + "' in layout " + arguments.layout);
  }
  const auto written =
      write_tables(pointers_to(tables), to, layout, {arguments.thin_percent / 100, nullptr});
  print_written(written);
  std::printf("%zu tables read, %zu files written to %s\n", tables.size(), written.size(),
              to.c_str());
  if (written.size() < tables.size()) {
    std::printf(
        "Several tables of one op share a file; linear attention and pairs of grouped GEMMs have "
        "no form in our layout and stay in %s\n",
        arguments.path.c_str());
  }
  return 0;
}

}  // namespace rooflua::app
