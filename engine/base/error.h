#pragma once
// Three kinds of failure: a mistake of the user (Error), a defect of the program (ROOFLUA_ASSERT),
// and an expected refusal such as a full cache (a value: bool, optional). See docs/STYLE.md.

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

/// A mistake of the user. `where` is a file:line, a key path ("deployment.tp") or both. `what` says
/// what was found and what would be right. what() returns "where: what".
class Error : public std::runtime_error {
 public:
  Error(std::string where, std::string message);
  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }

 private:
  std::string where_;
  std::string message_;
};

/// What an exception says to the user: its own words, that memory has run out, or the path that the
/// system refuses and why.
std::string message_of(const std::exception& problem);

/// "file:line"
std::string at(std::string_view file, int line);

/// "a, b, c"
std::string joined(std::span<const std::string> words, std::string_view between);

/// The letters by which two words differ: taken out, put in or replaced (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Known names close to a misspelt one, best first: edit distance <= 2 (or a third of the length),
/// or one contains the other. At most three.
std::vector<std::string> suggestions(std::string_view found, std::span<const std::string> known);

/// "unknown parameter 'max_num_seq'; did you mean 'max_num_seqs'? (known: a, b, c)"; of more than
/// two dozen names the number, where a suggestion is made.
std::string unknown_name(std::string_view kind, std::string_view found,
                         std::span<const std::string> known);

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace rooflua

/// Reports a defect of the program: throws std::logic_error. Active in every build, because a wrong
/// number is worse than no number.
#define ROOFLUA_ASSERT(expression) \
  ((expression) ? void(0) : ::rooflua::assertion_failed(#expression, __FILE__, __LINE__))
