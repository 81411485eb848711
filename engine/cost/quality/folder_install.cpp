#include "cost/quality/folder_install.h"

#include <unistd.h>

#include <fstream>
#include <map>

#include "base/error.h"
#include "spec/added_hardware.h"
#include "spec/catalogue.h"

namespace rooflua {
namespace {

namespace fs = std::filesystem;

/// The name of the GPU. @throws Error for one that cannot be a folder's or that a shipped GPU has
/// It is the one asked for, else that of hardware.toml, which is the folder's where it states none.
std::string checked_name(const FolderAsked& asked, const FolderReport& report,
                         const fs::path& home) {
  const fs::path folder = (fs::absolute(asked.folder) / "").lexically_normal().parent_path();
  const std::string stated = report.hardware ? report.hardware->name : "";
  const bool is_path = stated.empty() || stated == "." || stated == "..";  // of a relative folder
  const std::string name = !asked.name.empty() ? asked.name
                           : is_path           ? folder.filename().string()
                                               : stated;
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
fs::path place_of(const FolderAsked& asked) {
  const fs::path place = asked.to.empty() ? added_hardware_folder() : asked.to;
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

}  // namespace

std::string name_of_added(const FolderAsked& asked, const FolderReport& report,
                          const fs::path& home) {
  const std::string name = checked_name(asked, report, home);
  place_of(asked);
  check_aliases(report, name, home);
  return name;
}

FolderInstalled install_folder(const FolderAsked& asked, const std::string& name) {
  const fs::path place = place_of(asked);
  FolderInstalled out{place / name, {}};
  std::error_code same;
  const bool there = fs::exists(out.path);
  if (there &&
      (fs::equivalent(asked.folder, out.path, same) || same_content(asked.folder, out.path))) {
    out.was_there = true;
    return out;
  }
  if (there && !asked.replace) {
    throw Error(out.path.string(),
                "is there already, with other content: --replace puts it aside, "
                "--name gives the new one another name");
  }
  const fs::path staged = place / (".adding-" + name + "-" + std::to_string(getpid()));
  try {
    fs::create_directories(place);
    fs::remove_all(staged);
    fs::copy(asked.folder, staged, fs::copy_options::recursive);
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

Json folder_json(const fs::path& folder, const FolderReport& report) {
  Json out = Json::object();
  out["folder"] = folder.string();
  out["tables"] = tables_json(report);
  out["errors"] = report.errors();
  out["notes"] = report.notes();
  out["problems"] = problems_json(report);
  return out;
}

}  // namespace rooflua
