#include <cstdlib>

#include "app/commands.h"
#include "base/error.h"

namespace rooflua::app {

namespace {

bool is_home(const std::filesystem::path& folder) {
  return std::filesystem::is_directory(folder / "scripts" / "lib" / "rooflua") &&
         std::filesystem::is_directory(folder / "bench_data");
}

}  // namespace

std::filesystem::path find_home(const std::filesystem::path& program) {
  if (const char* given = std::getenv("ROOFLUA_HOME"); given != nullptr && *given != '\0') {
    if (is_home(given)) return given;
    throw Error("ROOFLUA_HOME",
                std::string(given) + " holds no scripts/lib/rooflua and bench_data");
  }
  std::error_code ignored;
  const auto self = std::filesystem::canonical("/proc/self/exe", ignored);
  const auto beside = (ignored ? program : self).parent_path().parent_path() / "share" / "rooflua";
  if (is_home(beside)) return beside;
  if (is_home(ROOFLUA_SOURCE_DIR)) return ROOFLUA_SOURCE_DIR;
  throw Error(program.string(),
              "cannot find its scripts and data in " + beside.string() +
                  " or " ROOFLUA_SOURCE_DIR
                  "; set ROOFLUA_HOME to the folder that holds scripts/ and bench_data/");
}

}  // namespace rooflua::app
