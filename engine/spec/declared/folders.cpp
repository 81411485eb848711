// Files of kinds of layers in folders: file_of() and names_in().

#include <algorithm>

#include "spec/declared/read_kind.h"

namespace rooflua::declared {

namespace fs = std::filesystem;

fs::path file_of(const Folders& folders, std::string_view of, const std::string& name) {
  if (name.empty() || name.find_first_of("/\\.") != std::string::npos) return {};
  for (const fs::path& each : folders) {
    const fs::path file = each / of / (name + ".lua");
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file;
  }
  return {};
}

std::vector<std::string> names_in(const Folders& folders, std::string_view of) {
  std::vector<std::string> names;
  for (const fs::path& each : folders) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(each / of, ignored))
      if (entry.path().extension() == ".lua") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace rooflua::declared
