#pragma once
// --python-path: where the Python package lies.

#include <CLI/CLI.hpp>

namespace rooflua::app {

/// Adds the option, which prints the folder for PYTHONPATH and ends the program with status 0.
/// @param program  as in find_home()
void add_python_path(CLI::App& app, const char* program);

}  // namespace rooflua::app
