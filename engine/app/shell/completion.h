#pragma once
// Completion of the program's command line in bash, zsh and fish. The scripts of the shells know
// nothing of commands: they ask `rooflua __complete WORDS`, so that they never grow old.

#include <filesystem>
#include <string>
#include <vector>

#include "app/command_line.h"

namespace rooflua::app {

/// The script that a shell reads. @param shell  bash, zsh or fish
/// @throws Error for another shell
std::string completion_script(const std::string& shell);

/// What may stand in place of the last word, one line each: the word, and after a tab what it is.
/// The line ":files" stands for names of files. A word that ends with "=" is not complete.
///
/// @param words  the words after the program's name up to the cursor, the last may be ""
/// @return "" where nothing can be said, whatever the reason
std::string completions(const Command& app, const std::vector<std::string>& words,
                        const std::filesystem::path& home);

}  // namespace rooflua::app
