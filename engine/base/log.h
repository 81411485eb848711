#pragma once
// Diagnostics on stderr. Results never go through here.

#include <string_view>

namespace rooflua::log {

void warn(std::string_view message);
void info(std::string_view message);
/// Only warnings and worse from now on.
void set_quiet(bool quiet);

}  // namespace rooflua::log
