#include "base/user/json_documents.h"

#include <algorithm>

#include "base/error.h"

namespace rooflua {

namespace {

constexpr std::string_view separators = " \t\r\n\x1E";

/// Where the document at the front of the text ends; npos where the text ends inside of it.
std::size_t end_of_first(std::string_view text) {
  if (text.front() != '{' && text.front() != '[') {
    const std::size_t end = text.find('\n');
    return end == std::string_view::npos ? text.size() : end;
  }
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

/// The place of an error in a document that does not begin in line 1.
[[noreturn]] void throw_moved(const Error& error, const std::string& name, int line) {
  const std::string& where = error.where();
  std::size_t digits = name.size() + 1;
  int inside = 0;
  while (digits < where.size() && where[digits] >= '0' && where[digits] <= '9')
    inside = 10 * inside + (where[digits++] - '0');
  if (inside == 0) throw Error(at(name, line), error.message());
  throw Error(at(name, line + inside - 1) + where.substr(digits), error.message());
}

}  // namespace

std::vector<JsonDocument> parse_json_documents(std::string_view text, const std::string& name) {
  std::vector<JsonDocument> out;
  int line = 1;
  const auto skip = [&](std::size_t bytes) {
    line += static_cast<int>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bytes), '\n'));
    text.remove_prefix(bytes);
  };
  for (;;) {
    const std::size_t first = text.find_first_not_of(separators);
    if (first == std::string_view::npos) return out;
    skip(first);
    const std::size_t end = end_of_first(text);
    if (end == std::string_view::npos) {
      throw Error(at(name, line),
                  "the document that begins here has no end: the file is cut off, or a bracket or "
                  "quote is missing");
    }
    if (!out.empty() && text.front() == ',') {
      throw Error(at(name, line),
                  "expected the next document, found a comma; documents stand one below the other, "
                  "or in one list [...]");
    }
    try {
      out.push_back({line, parse_json(text.substr(0, end), name, NumberWords::of_python)});
    } catch (const Error& error) {
      throw_moved(error, name, line);
    }
    skip(end);
  }
}

}  // namespace rooflua
