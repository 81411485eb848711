#pragma once
// The manual page rooflua(1), from the commands and options of the program.

#include <CLI/CLI.hpp>
#include <string>

namespace rooflua::app {

/// The page in the macros of man(7).
std::string manual_page(const CLI::App& app);

}  // namespace rooflua::app
