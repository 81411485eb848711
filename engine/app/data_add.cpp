// `rooflua data add`: a folder that was measured becomes a GPU with a name; `data family`: constants of
// the kernel model that are fitted to its rows (scripts/lib/rooflua/family).

#include <cstdio>

#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "base/error.h"
#include "base/json_text.h"
#include "cost/quality/folder_install.h"
#include "script/vm/vm.h"
#include "spec/added_hardware.h"

namespace rooflua::app {
namespace {

namespace fs = std::filesystem;

void print_checked(const FolderReport& report) {
  for (const FolderProblem& each : report.problems) {
    std::printf("%s\n", printable((each.is_error ? "error: " : "note: ") + each.message()).c_str());
  }
  int rows = 0;
  for (const TableReport& each : report.tables) {
    rows += each.rows;
    std::printf("  %-28s %6d rows  %s\n", each.name.c_str(), each.rows, each.grid.c_str());
  }
  std::printf("%zu tables, %d rows, %d errors, %d notes\n", report.tables.size(), rows,
              report.errors(), report.notes());
}

void print_installed(const FolderInstalled& installed, const std::string& name, bool found) {
  if (installed.was_there) {
    std::printf("%s has it already\n", installed.path.c_str());
    return;
  }
  if (!installed.before.empty())
    std::printf("the older folder is now %s\n", installed.before.c_str());
  const std::string as = found ? name : installed.path.string();
  std::printf("added as %s: --hardware %s, in a scenario hardware = \"%s\"\n",
              installed.path.c_str(), as.c_str(), as.c_str());
}

/// What the scenario would still model on this GPU. @throws LuaError for a mistake in the scenario
Json worth_for(const DataArguments& arguments, const fs::path& home) {
  script::Vm vm({.home = home, .print_to_stderr = true});
  Json given = Json::object();
  given["scenario"] = arguments.scenario;
  given["folder"] = fs::absolute(arguments.path).string();
  given["set"] = texts_json(arguments.set);
  return vm.call("rooflua.program.worth", "of", {given});
}

}  // namespace

int data_add(const DataArguments& arguments, const fs::path& home) {
  if (!arguments.set.empty() && arguments.scenario.empty())
    throw Misused("--set", "belongs to the scenario of --for");
  if (arguments.dry_run && arguments.replace)
    throw Misused("--replace", "has no effect with --dry-run, which writes nothing");
  check_folder(arguments.json);
  const FolderReport report = rooflua::check_folder(fs::path(arguments.path), home);
  const bool right = report.errors() == 0, alone = arguments.json == "-";
  if (!alone) print_checked(report);
  const Json checked = folder_json(arguments.path, report);
  Json document = Json::object();
  document["schema"] = 1;
  for (const auto& [key, value] : checked.members()) document[key] = value;
  if (right) {
    const FolderAsked asked{arguments.path, arguments.name, arguments.to, arguments.replace};
    const std::string name = name_of_added(asked, report, home);
    document["name"] = name;
    Json worth;
    if (!arguments.scenario.empty()) worth = worth_for(arguments, home);
    if (!arguments.dry_run) {
      const FolderInstalled installed = install_folder(asked, name);
      document["installed"] = installed.path.string();
      if (!installed.before.empty()) document["set_aside"] = installed.before.string();
      const fs::path known = added_hardware_folder();
      std::error_code ignored;
      const bool found =
          !known.empty() && fs::equivalent(installed.path.parent_path(), known, ignored);
      if (!alone) print_installed(installed, name, found);
    }
    if (!arguments.scenario.empty()) {
      if (!alone) print_report(text_of(worth, "text"), false);
      document["scenario"] = *worth.find("scenario");
      document["measure"] = *worth.find("measure");
    }
  } else if (!alone) {
    std::printf("not added: correct the errors first\n");
  }
  if (!arguments.json.empty()) write_document(document, arguments.json);
  return right ? 0 : 1;
}

int data_family(const DataArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.json}, {});
  script::Vm vm({.home = home, .print_to_stderr = arguments.json == "-"});
  Json given = Json::object();
  given["folder"] = std::filesystem::absolute(arguments.path).string();
  given["write"] = arguments.write;
  const Json found = vm.call("rooflua.family.command", "run", {given});
  if (const Json* file = found.find("file"))
    write_text(text_of(*file, "text"), text_of(*file, "path"));
  if (arguments.json != "-") print_report(text_of(found, "text"), false);
  if (!arguments.json.empty()) write_document(*found.find("document"), arguments.json);
  return 0;
}

}  // namespace rooflua::app
