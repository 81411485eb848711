#include "script/vm/home.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"

namespace rooflua::script {

namespace fs = std::filesystem;

bool is_home(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "scripts" / "lib" / "rooflua", ignored) &&
         fs::is_directory(folder / "bench_data", ignored);
}

fs::path stated_home() {
  const char* given = std::getenv("ROOFLUA_HOME");
  if (given == nullptr || *given == '\0') return {};
  if (is_home(given)) return given;
  throw Error("ROOFLUA_HOME", std::string(given) + " holds no scripts/lib/rooflua and bench_data");
}

fs::path home_of(const void* address, const fs::path& source_tree) {
  if (const fs::path stated = stated_home(); !stated.empty()) return stated;
  Dl_info self{};
  if (dladdr(address, &self) != 0 && self.dli_fname != nullptr) {
    std::error_code ignored;
    const fs::path file = fs::canonical(self.dli_fname, ignored);
    for (fs::path folder = file.parent_path(); folder != folder.parent_path();
         folder = folder.parent_path()) {
      if (is_home(folder / "share" / "rooflua")) return folder / "share" / "rooflua";
    }
  }
  if (is_home(source_tree)) return source_tree;
  throw Error(
      "rooflua",
      "cannot find scripts/ and bench_data/; set ROOFLUA_HOME to the folder that holds them");
}

}  // namespace rooflua::script
