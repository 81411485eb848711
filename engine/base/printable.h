#pragma once
// Texts of users in messages, reports and documents: whatever they hold, a terminal is not
// controlled, a document stays valid, and two runs print the same.

#include <cstddef>
#include <string>
#include <string_view>

namespace rooflua {

/// Whether the text is UTF-8 without control characters; line breaks and tabs count as such.
bool is_plain(std::string_view text);

/// Where the first byte is that is not UTF-8; npos where there is none.
std::size_t first_not_utf8(std::string_view text);

/// The text with "\x1b" for control characters (but not for line breaks and tabs) and for bytes
/// that are not UTF-8.
std::string printable(std::string_view text);

/// The text with U+FFFD for every byte that is not UTF-8.
std::string valid_utf8(std::string_view text);

/// The text with "..." for the middle of a name of more than 300 bytes, so that a message stays
/// readable. Spaces, line breaks and "/" end a name: a part of a path has at most 255 bytes.
std::string with_short_names(std::string_view text);

/// "a table" for "a table: 0x7fa415661cc8", as Lua writes tables and functions.
std::string without_addresses(std::string text);

}  // namespace rooflua
