#include "spec/added_hardware.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "spec/catalogue.h"
#include "spec/hardware.h"

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

std::vector<std::string> added_hardware_names() {
  const fs::path folder = added_hardware_folder();
  return folder.empty() ? std::vector<std::string>() : hardware_names_in(folder);
}

std::vector<std::string> all_hardware_names(const fs::path& home) {
  std::vector<std::string> names = hardware_names(home);
  const std::size_t shipped = names.size();
  for (const std::string& name : added_hardware_names()) {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(shipped);
    if (std::find(names.begin(), end, name) == end) names.push_back(name);
  }
  return names;
}

std::optional<fs::path> added_hardware_file(const std::string& name) {
  const std::vector<std::string> names = added_hardware_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return std::nullopt;
  return added_hardware_folder() / name / "hardware.toml";
}

std::optional<fs::path> added_hardware_named(const std::string& name, const fs::path& home) {
  const std::vector<std::string> added = added_hardware_names();
  if (added.empty() || folded(name).empty()) return std::nullopt;
  try {
    const fs::path origin = load_hardware(name, home).origin;
    const bool is_added = std::any_of(added.begin(), added.end(), [&](const std::string& each) {
      return origin == added_hardware_folder() / each / "hardware.toml";
    });
    return is_added ? std::optional(origin) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // it names no GPU, or its file says nothing
  }
}

}  // namespace rooflua
