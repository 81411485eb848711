#pragma once
// Diagnostics on stderr. Results are never written through this.

#include <string_view>

namespace rooflua::log {

void warn(std::string_view message);
void info(std::string_view message);
/// If quiet, only warnings and errors are written from now on.
void set_quiet(bool quiet);

}  // namespace rooflua::log
