#include "spec/added_hardware.h"

#include <algorithm>
#include <cstdlib>

namespace rooflua {

namespace fs = std::filesystem;

namespace {

/// The value of a variable of the environment; empty where it is not set.
fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

}  // namespace

fs::path added_hardware_folder() {
  if (const fs::path stated = variable("ROOFLUA_GPUS"); !stated.empty()) return stated;
  fs::path data = variable("XDG_DATA_HOME");
  if (data.empty() && !variable("HOME").empty()) data = variable("HOME") / ".local" / "share";
  return data.empty() ? data : data / "rooflua" / "gpus";
}

std::vector<std::string> hardware_names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (fs::exists(entry.path() / "hardware.toml"))
      names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> added_hardware_names() {
  const fs::path folder = added_hardware_folder();
  return folder.empty() ? std::vector<std::string>() : hardware_names_in(folder);
}

std::optional<fs::path> added_hardware_file(const std::string& name) {
  const std::vector<std::string> names = added_hardware_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return std::nullopt;
  return added_hardware_folder() / name / "hardware.toml";
}

}  // namespace rooflua
