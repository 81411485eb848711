#pragma once
// The manual page rooflua(1), from the commands and options of the program.

#include <string>

#include "app/command_line.h"

namespace rooflua::app {

/// The page in the macros of man(7).
std::string manual_page(const Command& app);

}  // namespace rooflua::app
