#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace rooflua {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

int terminal_columns(int descriptor) {
  winsize size{};
  if (isatty(descriptor) != 1 || ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool wants_colour(int descriptor) {
  const std::string_view terminal = environment("TERM");
  return isatty(descriptor) == 1 && !terminal.empty() && terminal != "dumb" &&
         environment("NO_COLOR").empty();
}

}  // namespace rooflua
