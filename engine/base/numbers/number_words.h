#pragma once
// Words of Python for numbers: NaN, Infinity and -Infinity. Used by json.cpp only.
//
// The library for JSON does not read them. So a text of the same length stands for each of them
// while it reads, and places in messages stay right. No document holds such a text: where one has
// the character DEL, the words are left as they are.

#include <optional>
#include <string>
#include <string_view>

namespace rooflua {

/// Whether the text may hold such words, and marks can stand for them.
bool needs_marks(std::string_view text);

/// The text with marks for the words outside of its quotes.
std::string with_marks(std::string_view text);

/// The number for which a text stands as a mark; nothing where it is none.
std::optional<double> marked_number(std::string_view text);

}  // namespace rooflua
