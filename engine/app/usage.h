#pragma once
// What is said of a command line that cannot be understood, and of one without words.

#include <string>

#include "app/command_line.h"

namespace rooflua::app {

/// @throws Error if the first word is no command: the error suggests commands with a similar name
void check_command(const Command& app, int argc, char** argv);

/// Prints what is wrong and which command says more, or the help that was asked for. @return the
/// exit status
int refuse(const Command& app, const Misread& problem);

/// What `rooflua` alone prints: commands to begin with, each of which runs as it stands.
std::string first_steps(const Command& app);

}  // namespace rooflua::app
