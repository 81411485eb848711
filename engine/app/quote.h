#pragma once
// The line of the user's file that a message is about, to be shown under it.

#include <filesystem>
#include <string>
#include <string_view>

namespace rooflua::app {

/// "   12 |   scheduler = require "schedulers.vllm_v1" { max_num_seq = 4 },\n" for a message that
/// begins with "file:12: "; "" where there is no such line. Files are looked for as they are named
/// and below `home`.
std::string quoted_line(std::string_view message, const std::filesystem::path& home);

/// The text with "?" for every byte that is no UTF-8 and every control character but line breaks.
std::string printable(std::string_view text);

/// A message on stderr with the line it is about.
void complain(std::string_view message, const std::filesystem::path& home);

}  // namespace rooflua::app
