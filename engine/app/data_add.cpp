// `rooflua data add`: a folder that was measured becomes a GPU with a name.

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "base/error.h"
#include "base/json_text.h"
#include "cost/quality/folder_check.h"
#include "script/vm/vm.h"
#include "spec/added_hardware.h"
#include "spec/catalogue.h"

namespace rooflua::app {
namespace {

namespace fs = std::filesystem;

/// The name of the GPU. @throws Error for one that cannot be a folder's or that a shipped GPU has
std::string name_of(const DataArguments& arguments, const fs::path& home) {
  const std::string name =
      arguments.name.empty()
          ? (fs::absolute(arguments.path) / "").lexically_normal().parent_path().filename().string()
          : arguments.name;
  const bool plain =
      !name.empty() && name.front() != '.' &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
          std::string::npos;
  if (!plain) {
    throw Error("--name", "'" + name + "' is no name of a GPU: letters, digits, '-', '_' and '.'");
  }
  for (const std::string& shipped : hardware_names(home)) {
    const Hardware gpu = load_hardware(shipped, home);
    bool taken = folded(shipped) == folded(name);
    for (const std::string& alias : gpu.aliases) taken = taken || folded(alias) == folded(name);
    if (taken) {
      throw Error("--name", "'" + name + "' means the shipped " + shipped +
                                "; give the folder another name, as --name " + shipped + "-own");
    }
  }
  return name;
}

/// Where folders of GPUs are found. @throws Error where the environment names no place
fs::path place_of(const DataArguments& arguments) {
  const fs::path place = arguments.to.empty() ? added_hardware_folder() : fs::path(arguments.to);
  if (place.empty()) throw Error("--to", "neither ROOFLUA_GPUS nor HOME is set: name a folder");
  return fs::absolute(place);
}

/// Aliases that a shipped GPU or another added one has: the name would mean two GPUs.
void check_aliases(const FolderReport& report, const std::string& name, const fs::path& home) {
  if (!report.hardware) return;
  std::vector<CatalogueEntry> entries{{name, report.hardware->aliases, report.hardware->origin}};
  for (const std::string& each : hardware_names(home))
    entries.push_back({each, load_hardware(each, home).aliases, each});
  for (const std::string& each : added_hardware_names())
    if (each != name) entries.push_back({each, load_hardware(each, home).aliases, each});
  try {
    check_claims("hardware", entries);
  } catch (const Error& problem) {
    throw Error(report.hardware->origin + ": aliases", problem.message());
  }
}

std::string bytes_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool same_content(const fs::path& a, const fs::path& b) {
  const auto files = [](const fs::path& folder) {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      out[fs::relative(entry.path(), folder).string()] = bytes_of_file(entry.path());
    }
    return out;
  };
  return files(a) == files(b);
}

/// A folder beside the GPUs that no GPU has and that is not there: ".replaced/a100-1".
fs::path set_aside_as(const fs::path& place, const std::string& name) {
  for (int i = 1;; ++i) {
    const fs::path path = place / ".replaced" / (name + "-" + std::to_string(i));
    if (!fs::exists(path)) return path;
  }
}

struct Installed {
  fs::path path, before;  // before: where the older folder is now; empty: there was none
  bool was_there = false;
};

/// Copies the whole folder, which appears whole or not at all.
Installed install(const DataArguments& arguments, const fs::path& place, const std::string& name) {
  Installed out{place / name, {}};
  std::error_code same;
  const bool there = fs::exists(out.path);
  if (there &&
      (fs::equivalent(arguments.path, out.path, same) || same_content(arguments.path, out.path))) {
    out.was_there = true;
    return out;
  }
  if (there && !arguments.replace) {
    throw Error(out.path.string(),
                "is there already, with other content: --replace puts it aside, "
                "--name gives the new one another name");
  }
  const fs::path staged = place / (".adding-" + name + "-" + std::to_string(getpid()));
  try {
    fs::create_directories(place);
    fs::remove_all(staged);
    fs::copy(arguments.path, staged, fs::copy_options::recursive);
    if (there) {
      out.before = set_aside_as(place, name);
      fs::create_directories(out.before.parent_path());
      fs::rename(out.path, out.before);
    }
    fs::rename(staged, out.path);
  } catch (const fs::filesystem_error& problem) {
    std::error_code ignored;
    fs::remove_all(staged, ignored);
    if (!out.before.empty() && !fs::exists(out.path)) fs::rename(out.before, out.path, ignored);
    throw Error(place.string(), "cannot be written: " + problem.code().message());
  }
  return out;
}

Json problems_json(const FolderReport& report) {
  Json out = Json::array();
  for (const FolderProblem& each : report.problems) {
    Json one = Json::object();
    one["level"] = each.is_error ? "error" : "note";
    one["kind"] = each.kind;
    one["file"] = each.file.string();
    if (each.line > 0) one["line"] = each.line;
    one["message"] = each.text;
    if (!each.advice.empty()) one["advice"] = each.advice;
    out.push_back(std::move(one));
  }
  return out;
}

Json tables_json(const FolderReport& report) {
  Json out = Json::array();
  for (const TableReport& each : report.tables) {
    Json one = Json::object();
    one["table"] = each.name;
    one["rows"] = each.rows;
    one["grid"] = each.grid;
    out.push_back(std::move(one));
  }
  return out;
}

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

void print_installed(const Installed& installed, const std::string& name, bool found) {
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
  return vm.call("rooflua.tables.worth", "of", {given});
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
  Json document = Json::object();
  document["schema"] = 1;
  document["folder"] = arguments.path;
  document["tables"] = tables_json(report);
  document["errors"] = report.errors();
  document["notes"] = report.notes();
  document["problems"] = problems_json(report);
  if (right) {
    const std::string name = name_of(arguments, home);
    const fs::path place = place_of(arguments);
    check_aliases(report, name, home);
    document["name"] = name;
    Json worth;
    if (!arguments.scenario.empty()) worth = worth_for(arguments, home);
    if (!arguments.dry_run) {
      const Installed installed = install(arguments, place, name);
      document["installed"] = installed.path.string();
      if (!installed.before.empty()) document["set_aside"] = installed.before.string();
      const fs::path known = added_hardware_folder();
      std::error_code ignored;
      const bool found = !known.empty() && fs::equivalent(place, known, ignored);
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

}  // namespace rooflua::app
