#pragma once
// A report on the standard output.

#include <string_view>

namespace rooflua::app {

/// Prints a report. For a terminal its tables lose the columns that do not fit, unless `wide`, and
/// it gets colour where the terminal wants it. Elsewhere it is printed as it is.
void print_report(std::string_view text, bool wide);

}  // namespace rooflua::app
