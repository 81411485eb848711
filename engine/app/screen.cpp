#include "app/screen.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/terminal.h"
#include "measure/write/fitted.h"

namespace rooflua::app {

void print_report(std::string_view text, bool wide) {
  const int columns = wide ? 0 : terminal_columns(STDOUT_FILENO);
  std::string shown = fitted(text, columns, "--wide");
  if (wants_colour(STDOUT_FILENO)) shown = painted(shown);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

}  // namespace rooflua::app
