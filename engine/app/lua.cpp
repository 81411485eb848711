#include "app/commands.h"
#include "base/error.h"
#include "script/vm/vm.h"

namespace rooflua::app {

int lua(const std::vector<std::string>& arguments, const std::filesystem::path& home) {
  if (arguments.empty()) throw Misused("lua", "expected a file: rooflua lua FILE [ARGS]");
  if (!std::filesystem::is_regular_file(arguments.front())) {
    throw Error(arguments.front(), "there is no such file");
  }
  script::Vm vm({.home = home, .trusted = true});
  return vm.run_file(arguments.front(), {arguments.begin() + 1, arguments.end()});
}

}  // namespace rooflua::app
