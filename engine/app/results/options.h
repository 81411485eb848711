#pragma once
// The options of `rooflua results`.

#include "app/command_line.h"

namespace rooflua::app {

/// Adds the command.
void add_results(const Command& app);

}  // namespace rooflua::app
