#pragma once
// What is said of a command line that cannot be understood.

#include <CLI/CLI.hpp>

namespace rooflua::app {

/// @throws Error if the first word is no command: the error suggests commands with a similar name
void check_command(const CLI::App& app, int argc, char** argv);

/// Prints what is wrong, or the help that was asked for. @return the exit status
int refuse(const CLI::App& app, const CLI::ParseError& problem);

}  // namespace rooflua::app
