#pragma once
// Three kinds of trouble: the user was wrong (Error), we were wrong (ROOFLUA_ASSERT), and the
// world said no (a value: bool, optional). See docs/STYLE.md.

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

/// The user was wrong. `where` is a file:line, a key path ("deployment.tp") or both; `what` says
/// what was found and what would be right. what() reads "where: what".
class Error : public std::runtime_error {
 public:
  Error(std::string where, std::string message);
  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }

 private:
  std::string where_;
  std::string message_;
};

/// "file:line"
std::string at(std::string_view file, int line);

/// Known names close to a misspelt one, best first: edit distance <= 2 (or a third of the length),
/// or one contains the other. At most three.
std::vector<std::string> suggestions(std::string_view found, std::span<const std::string> known);

/// "unknown parameter 'max_num_seq'; did you mean 'max_num_seqs'? (known: a, b, c)"
std::string unknown_name(std::string_view kind, std::string_view found,
                         std::span<const std::string> known);

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace rooflua

/// We were wrong. On in every build: a wrong number is worse than no number. Throws
/// std::logic_error.
#define ROOFLUA_ASSERT(expression) \
  ((expression) ? void(0) : ::rooflua::assertion_failed(#expression, __FILE__, __LINE__))
