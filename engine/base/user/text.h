#pragma once
// The text of a file that a user hands in, whatever wrote it: a benchmark's result, a trace, a CSV.
//
//     read      UTF-8 with or without byte-order mark; UTF-16 and UTF-32 of either byte order, with
//               a mark or told by their zero bytes; each of them packed with gzip, whatever the
//               file is called
//     refused   every other packing and binary format by its name, pointers of Git LFS and of
//               git-annex, pages of the web, text in another encoding, bytes of zero
//
// A refusal is one line that says what the file is and how to go on.

#include <filesystem>
#include <string>

namespace rooflua {

/// The text of the file in UTF-8, without a byte-order mark.
/// @throws Error naming the file, and the line where there is one
std::string read_user_text(const std::filesystem::path& path);

/// The same of bytes in memory; `name` stands for the file in messages.
std::string user_text(std::string bytes, const std::string& name);

/// "; did you mean 'chat.lua'?" for a file that does not exist; "" if no name in its folder is
/// close.
std::string files_like(const std::filesystem::path& path);

}  // namespace rooflua
