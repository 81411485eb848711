#pragma once
// Shows the line of the user's file that an error message names.

#include <filesystem>
#include <string>
#include <string_view>

namespace rooflua::app {

/// "   12 |   scheduler = require "schedulers.vllm_v1" { max_num_seq = 4 },\n" for a message that
/// begins with "file:12: "; "" if there is no such line. The file is tried as named, then below
/// `home`.
std::string quoted_line(std::string_view message, const std::filesystem::path& home);

/// The text with "?" in place of every byte that is not UTF-8 and every control character except
/// line breaks and tabs, and without the middle of very long names.
std::string printable(std::string_view text);

/// Prints a message on stderr, and below it the line of the file that it names.
void complain(std::string_view message, const std::filesystem::path& home);

}  // namespace rooflua::app
