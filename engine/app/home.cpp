#include "script/vm/home.h"

#include "app/commands.h"
#include "base/error.h"

namespace rooflua::app {

using script::is_home;

std::filesystem::path find_home(const std::filesystem::path& program) {
  if (auto stated = script::stated_home(); !stated.empty()) return stated;
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
