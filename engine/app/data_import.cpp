// `rooflua data import`: tables of other projects in our layout, and what was not taken.

#include <cstdio>

#include "app/commands.h"
#include "base/error.h"
#include "cost/tables/importers.h"
#include "script/vm/vm.h"

namespace rooflua::app {
namespace {

namespace fs = std::filesystem;

std::vector<const KernelTable*> pointers_to(const std::vector<KernelTable>& tables) {
  std::vector<const KernelTable*> pointers;
  for (const KernelTable& table : tables) pointers.push_back(&table);
  return pointers;
}

void print_written(const std::vector<WrittenTable>& written) {
  for (const WrittenTable& table : written)
    std::printf("%s  %zu rows\n", table.path.c_str(), table.rows);
}

/// Published tables: scripts read them, and say what they did with each file and row.
int import_published(const DataArguments& arguments, const fs::path& to, const fs::path& home) {
  script::VmOptions options;
  options.home = home;
  options.trusted = true;  // of the program's own scripts
  script::Vm vm(options);
  Json given = Json::object();
  given["folder"] = arguments.path;
  given["gpu"] = arguments.gpu;
  given["to"] = to.string();
  given["engine_version"] = arguments.engine_version;
  given["all_rows"] = arguments.all_rows;
  given["tolerance"] = arguments.thin_percent / 100;
  std::fputs(vm.call("rooflua.tables.import", "run", {given}).text().c_str(), stdout);
  return 0;
}

}  // namespace

int data_import(const DataArguments& arguments, const fs::path& home) {
  const Layout layout = layout_of(arguments);
  if (!fs::is_directory(arguments.path))
    throw Error(arguments.path, "there is no such folder of tables");
  const fs::path to = fs::path(arguments.to) / arguments.gpu;
  if (layout == Layout::aic) return import_published(arguments, to, home);
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
      write_tables(pointers_to(tables), to, layout, {.tolerance = arguments.thin_percent / 100});
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
