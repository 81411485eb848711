#pragma once
// `rooflua trace`: a profiler's trace against the prices of its steps.

#include "app/command_line.h"

namespace rooflua::app {

void add_trace(const Command& app);

}  // namespace rooflua::app
